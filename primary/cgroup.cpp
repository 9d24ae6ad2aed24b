// primary/cgroup.cpp: finds the folders of this process's cgroups and reads the limits in them.
#include "primary/cgroup.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace shortq::primary {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();
// Version 1 says "none" by the largest number of whole pages, whose size differs; no machine has
// this much.
constexpr std::uint64_t kNoLimitAbove = std::uint64_t{1} << 62;

enum class Version : std::uint8_t { kOne, kTwo };

struct Mount {
    fs::path root;   // The part of the hierarchy that is mounted.
    fs::path point;  // Where.
};

// mountinfo writes blanks in a path as \040.
std::string unescaped(std::string_view text) {
    constexpr std::size_t kDigits = 3;
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto digits = text.substr(std::min(i + 1, text.size()), kDigits);
        const bool escape = text[i] == '\\' && digits.size() == kDigits &&
                            digits.find_first_not_of("01234567") == std::string_view::npos;
        if (escape) {
            out += static_cast<char>(std::stoi(std::string(digits), nullptr, 8));
            i += kDigits;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool lists(const std::string& comma_separated, std::string_view name) {
    std::istringstream in(comma_separated);
    for (std::string one; std::getline(in, one, ',');) {
        if (one == name) return true;
    }
    return false;
}

// The mounts of the hierarchy that limits memory. A line:
// 36 35 0:33 /root /mount/point rw,noatime shared:9 - cgroup cgroup rw,memory
std::vector<Mount> mounts(const fs::path& root, Version version) {
    std::vector<Mount> found;
    std::ifstream in(root / "proc/self/mountinfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
        const auto dash = std::ranges::find(fields, "-");
        if (dash - fields.begin() < 6 || fields.end() - dash < 4) continue;
        const bool fits = version == Version::kTwo
                              ? dash[1] == "cgroup2"
                              : dash[1] == "cgroup" && lists(dash[3], "memory");
        if (fits) found.push_back({unescaped(fields[3]), unescaped(fields[4])});
    }
    return found;
}

// This process's place in the hierarchy. A line: 4:cpu,memory:/place, in version 2: 0::/place.
std::optional<fs::path> place(const fs::path& root, Version version) {
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const auto first = line.find(':');
        const auto second = line.find(':', std::min(first, line.size() - 1) + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const auto controllers = line.substr(first + 1, second - first - 1);
        const bool fits = version == Version::kTwo ? controllers.empty() && line.starts_with("0:")
                                                   : lists(controllers, "memory");
        if (fits) return fs::path(line.substr(second + 1));
    }
    return std::nullopt;
}

// Where `place` is below the mount's own root; nullopt: it is not part of what is mounted.
std::optional<fs::path> below(const Mount& mount, const fs::path& place) {
    auto rest = place.lexically_relative(mount.root);
    if (rest.empty() || *rest.begin() == "..") return std::nullopt;
    return rest == "." ? fs::path() : rest;
}

// A limit file holds a number, or "max".
std::uint64_t limit_in(const fs::path& file) {
    std::ifstream in(file);
    std::uint64_t bytes = 0;
    return in >> bytes && bytes < kNoLimitAbove ? bytes : kUnlimited;
}

// What version 1 says about groups above, those that are not mounted here included.
std::uint64_t hierarchical_limit(const fs::path& folder) {
    std::ifstream in(folder / "memory.stat");
    std::string name;
    for (std::uint64_t value = 0; in >> name >> value;) {
        if (name == "hierarchical_memory_limit" && value < kNoLimitAbove) return value;
    }
    return kUnlimited;
}

std::uint64_t least_limit(const fs::path& point, fs::path rest, Version version) {
    const char* file = version == Version::kTwo ? "memory.max" : "memory.limit_in_bytes";
    auto least = version == Version::kTwo ? kUnlimited : hierarchical_limit(point / rest);
    for (; !rest.empty(); rest = rest.parent_path())
        least = std::min(least, limit_in(point / rest / file));
    return std::min(least, limit_in(point / file));
}

std::uint64_t limit(const fs::path& root, Version version) {
    const auto own = place(root, version);
    if (!own) return kUnlimited;
    const auto all = mounts(root, version);
    for (const auto& mount : all) {
        if (const auto rest = below(mount, *own))
            return least_limit(root / mount.point.relative_path(), *rest, version);
    }
    // A container without a namespace for its cgroups is shown the machine's names, but mounts only
    // its own group: what is mounted is it, or is above it.
    if (all.empty()) return kUnlimited;
    return least_limit(root / all.front().point.relative_path(), {}, version);
}

}  // namespace

std::optional<std::uint64_t> cgroup_memory_bytes(const fs::path& root) {
    const auto least = std::min(limit(root, Version::kOne), limit(root, Version::kTwo));
    return least == kUnlimited ? std::nullopt : std::optional(least);
}

}  // namespace shortq::primary
