// primary/machine.cpp: asks the C library and the kernel.
#include "primary/machine.h"

#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "primary/cgroup.h"

namespace shortq::primary {
std::uint64_t machine_memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return 0;
    const auto physical =
        static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
    return std::min(physical, cgroup_memory_bytes("/").value_or(physical));
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return number;
}

void raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace shortq::primary
