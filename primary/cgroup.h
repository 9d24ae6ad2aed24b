// primary/cgroup.h: the memory that this process's control groups leave it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace shortq::primary {

// The least limit of this process's cgroup and all those above it that can be seen, of version 1,
// version 2 or both (as systemd's "hybrid" set-up mounts them). nullopt: none is set, or the system
// does not tell. `root`: what the paths start from; "/" but in tests.
// Source: cgroups(7), proc(5) on mountinfo, and the kernel's Documentation/admin-guide/cgroup-v1
//         (memory.rst) and cgroup-v2.rst.
[[nodiscard]] std::optional<std::uint64_t> cgroup_memory_bytes(const std::filesystem::path& root);

}  // namespace shortq::primary
