// tests/fuzz/fuzz.h: what a fuzz target is, and the list of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::fuzz {

using Input = std::span<const std::byte>;

// Feeds one input to some code that reads bytes from outside. Any input is legal: a crash, a
// sanitizer's report, an exception or a failed SHORTQ_FUZZ_CHECK is a bug.
struct Target {
    std::string_view name;  // Also of its folder in corpus/.
    std::string_view about;
    std::size_t bytes_max = 0;  // Of an input: longer ones find nothing more, slowly.
    void (*run)(Input input) = nullptr;
    // Inputs made by our own encoders, for a corpus to begin with.
    std::vector<std::string> (*seeds)() = nullptr;
};

// One list per file of targets.
[[nodiscard]] std::vector<Target> proto_targets();
[[nodiscard]] std::vector<Target> kdb_targets();
[[nodiscard]] std::vector<Target> client_targets();
[[nodiscard]] std::vector<Target> door_targets();
[[nodiscard]] std::vector<Target> process_targets();
[[nodiscard]] std::vector<Target> option_targets();
[[nodiscard]] std::vector<Target> sql_targets();
[[nodiscard]] std::vector<Target> prompt_targets();

[[nodiscard]] const std::vector<Target>& targets();
// nullptr: there is none of that name.
[[nodiscard]] const Target* find_target(std::string_view name);

// Runs a target on a copy of `input` that ends where its memory ends, so that a sanitizer sees one
// byte too far.
inline void feed(const Target& target, Input input) {
    const auto copy = std::make_unique<std::byte[]>(input.size());
    std::copy(input.begin(), input.end(), copy.get());
    target.run({copy.get(), input.size()});
}

[[nodiscard]] inline Input bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}
[[nodiscard]] inline std::string_view text_of(Input bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace shortq::fuzz

// Something that must hold whatever the input is.
#define SHORTQ_FUZZ_CHECK(condition)                                                     \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "fuzz: %s:%d: does not hold: %s\n", __FILE__, __LINE__, \
                         #condition);                                                    \
            std::abort();                                                                \
        }                                                                                \
    } while (false)
