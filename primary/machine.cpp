// primary/machine.cpp: reads /proc and the cgroup file system.
#include "primary/machine.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <system_error>

namespace shortq::primary {
namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

// A cgroup limit file holds a number, or "max".
std::uint64_t limit_in(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::uint64_t bytes = 0;
    return in >> bytes ? bytes : kUnlimited;
}

// The tightest limit on the way from this process's cgroup (version 2) up to the root.
std::uint64_t cgroup_memory_bytes() {
    const std::filesystem::path root("/sys/fs/cgroup");
    std::ifstream in("/proc/self/cgroup");
    std::string line;
    std::uint64_t least = limit_in(root / "memory.max");
    while (std::getline(in, line)) {
        if (!line.starts_with("0::/")) continue;
        std::filesystem::path folder = std::filesystem::path(line.substr(4));
        for (; !folder.empty(); folder = folder.parent_path())
            least = std::min(least, limit_in(root / folder / "memory.max"));
    }
    return std::min(least, limit_in(root / "memory" / "memory.limit_in_bytes"));
}

}  // namespace

std::uint64_t machine_memory_bytes() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page_bytes = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page_bytes <= 0) return 0;
    const auto physical =
        static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes);
    return std::min(physical, cgroup_memory_bytes());
}

std::uint64_t random_number() {
    std::uint64_t number = 0;
    if (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number))
        throw std::system_error(errno, std::generic_category(), "getrandom");
    return number;
}

}  // namespace shortq::primary
