// tools/bench/allocations.cpp: `operator new`, replaced for the whole program that has this file.
// It costs one addition more than the usual one.
#include "tools/bench/allocations.h"

#include <cstdlib>
#include <new>

namespace shortq::bench {
namespace {
thread_local constinit std::uint64_t count = 0;
}  // namespace

std::uint64_t allocations() noexcept { return count; }
}  // namespace shortq::bench

void* operator new(std::size_t size) {
    ++shortq::bench::count;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
    ++shortq::bench::count;
    return std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
