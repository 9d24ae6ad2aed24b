// primary/machine.h: what the kernel tells about this machine and this process.
#pragma once

#include <cstdint>

namespace shortq::primary {

// The smaller of the machine's memory and the limit of this process's cgroup; 0: not known.
[[nodiscard]] std::uint64_t machine_memory_bytes();

// A number nobody can guess, from the kernel's random source.
[[nodiscard]] std::uint64_t random_number();

}  // namespace shortq::primary
