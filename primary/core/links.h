// primary/core/links.h: doubly linked lists whose links live in the items themselves, by slot. No
// allocation, removal in constant time. Private to the core.
#pragma once

#include <cstdint>

namespace shortq::core {

inline constexpr std::uint32_t kNone = 0xffffffff;  // No slot.

struct Links {
    std::uint32_t prev = kNone;
    std::uint32_t next = kNone;
};

struct List {
    std::uint32_t head = kNone;
    std::uint32_t tail = kNone;
    std::uint32_t size = 0;
    [[nodiscard]] bool empty() const { return head == kNone; }
};

// `links_of(slot)` is the Links& of that item for this list. Pre: the item is in no list of these
// links.
// Inserts before `next`; kNone: at the end.
template <class LinksOf>
void list_insert(List& list, std::uint32_t slot, std::uint32_t next, LinksOf links_of) {
    const auto prev = next == kNone ? list.tail : links_of(next).prev;
    links_of(slot) = {.prev = prev, .next = next};
    (prev == kNone ? list.head : links_of(prev).next) = slot;
    (next == kNone ? list.tail : links_of(next).prev) = slot;
    ++list.size;
}

template <class LinksOf>
void list_push_back(List& list, std::uint32_t slot, LinksOf links_of) {
    list_insert(list, slot, kNone, links_of);
}

// Pre: the item is in `list`.
template <class LinksOf>
void list_remove(List& list, std::uint32_t slot, LinksOf links_of) {
    const Links at = links_of(slot);
    (at.prev == kNone ? list.head : links_of(at.prev).next) = at.next;
    (at.next == kNone ? list.tail : links_of(at.next).prev) = at.prev;
    links_of(slot) = {};
    --list.size;
}

}  // namespace shortq::core
