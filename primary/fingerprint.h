// primary/fingerprint.h: a number that is the same for queries that are alike but for their
// literals.
#pragma once

#include <cstdint>
#include <string_view>

namespace shortq::primary {

// Numbers and quoted strings count as one and the same literal, runs of white space as one space;
// comments and the case of letters count. Only the first kilobytes are looked at, and the length of
// the rest. Never 0. It groups queries to predict their run time and is no proof of anything: two
// different ones may share it.
// Threads: any.
[[nodiscard]] std::uint64_t fingerprint_of(std::string_view text) noexcept;

}  // namespace shortq::primary
