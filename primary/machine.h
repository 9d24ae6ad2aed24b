// primary/machine.h: what the kernel tells about this machine and this process.
#pragma once

#include <cstdint>

namespace shortq::primary {

// The smaller of the machine's memory and the limit of this process's cgroup; 0: not known.
[[nodiscard]] std::uint64_t machine_memory_bytes();

// A number nobody can guess, from the kernel's random source.
[[nodiscard]] std::uint64_t random_number();

// As many descriptors as the system lets this process have: each client takes one, and what people
// are given to begin with is often 1024. Workers inherit it.
void raise_descriptor_limit() noexcept;

}  // namespace shortq::primary
