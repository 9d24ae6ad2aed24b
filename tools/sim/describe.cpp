// tools/sim/describe.cpp: the two sinks of the fields.
#include "tools/sim/describe.h"

#include <fmt/format.h>

#include "tools/sim/fields.h"

namespace shortq::sim {

namespace {

struct Text {
    std::string line;
    void begin(const char* kind) { line += kind; }
    // As slot and life, the way they are read from a snapshot or a debugger.
    void id(char letter, std::uint64_t value) {
        if (value == 0) {
            line += " none";
        } else {
            line += fmt::format(" {}{}.{}", letter, value & 0xffffffffU, value >> 32);
        }
    }
    void field(const char* name, std::uint64_t value) {
        line += fmt::format(" {}={}", name, value);
    }
};

// FNV-1a over words in place of bytes, folded so that high bits reach the low ones.
struct Hash {
    std::uint64_t value;
    void add(std::uint64_t word) {
        value = (value ^ word) * 0x100000001b3ULL;
        value ^= value >> 32;
    }
    void begin(const char*) {}  // Its index is in already.
    void id(char, std::uint64_t id) { add(id); }
    void field(const char*, std::uint64_t field) { add(field); }
};

template <class Sink, class Variant>
Sink poured(Sink sink, const Variant& what) {
    Fields<Sink> fields(sink);
    std::visit(fields, what);
    return sink;
}

}  // namespace

std::string describe(const core::Event& event) { return poured(Text{}, event).line; }
std::string describe(const core::Action& action) { return poured(Text{}, action).line; }

std::uint64_t hash_of(std::uint64_t hash, core::Time now, const core::Event& event) {
    Hash sink{hash};
    sink.add(static_cast<std::uint64_t>(now.count()));
    sink.add(event.index());
    return poured(sink, event).value;
}
std::uint64_t hash_of(std::uint64_t hash, const core::Action& action) {
    Hash sink{hash};
    sink.add(action.index());
    return poured(sink, action).value;
}

}  // namespace shortq::sim
