// worker/engine/prepared_cache.h: statements that were judged and prepared, by their exact text,
// the least recently used dropped first. Not thread-safe.
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "worker/engine/duckdb_handles.h"

namespace shortq::engine {

class PreparedCache {
public:
    static constexpr std::size_t kEntriesMax = 256;
    static constexpr std::size_t kTextBytesMax = 64 * 1024;

    // Takes the statement out, so that one that fails is not used again. Empty: not known.
    [[nodiscard]] Prepared take(std::string_view text) {
        const auto found = by_text_.find(text);
        if (found == by_text_.end()) return {};
        Prepared prepared = std::move(found->second->second);
        const auto entry = found->second;
        by_text_.erase(found);
        entries_.erase(entry);
        return prepared;
    }

    void put(std::string_view text, Prepared prepared) {
        if (text.size() > kTextBytesMax || by_text_.contains(text)) return;
        entries_.emplace_front(std::string(text), std::move(prepared));
        by_text_.emplace(entries_.front().first, entries_.begin());
        if (entries_.size() <= kEntriesMax) return;
        by_text_.erase(entries_.back().first);
        entries_.pop_back();
    }

    [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

private:
    using Entries = std::list<std::pair<std::string, Prepared>>;
    Entries entries_;                                                  // Most recently used first.
    std::unordered_map<std::string_view, Entries::iterator> by_text_;  // Keys live in entries_.
};

}  // namespace shortq::engine
