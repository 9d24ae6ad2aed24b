// tools/bench/processes.h: processes and their memory, as the kernel tells of them in /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "proto/error.h"

namespace shortq::bench {

// The parent that a /proc/PID/stat names; none: it is no such text.
[[nodiscard]] std::optional<pid_t> parent_in(std::string_view stat);

// The proportional set size that a /proc/PID/smaps_rollup names, in bytes: a page that N processes
// share counts for 1/N in each.
[[nodiscard]] std::optional<std::uint64_t> proportional_bytes_in(std::string_view smaps_rollup);

// The resident memory that is not of files, as a /proc/PID/status names it, in bytes.
[[nodiscard]] std::optional<std::uint64_t> anonymous_bytes_in(std::string_view status);

// Of a process; 0: it has ended.
[[nodiscard]] std::uint64_t anonymous_bytes(pid_t process);

// A process, its children, theirs, and so on, as they are now.
[[nodiscard]] std::vector<pid_t> family_of(pid_t root);

// What all of them use together. One that has ended meanwhile counts nothing. Errors: kInternal if
// the kernel tells of none of them.
[[nodiscard]] Result<std::uint64_t> proportional_bytes(const std::vector<pid_t>& processes);

}  // namespace shortq::bench
