#include "worker/wear.h"

#include <sys/stat.h>

#include <fstream>
#include <string>
#include <utility>

namespace shortq::worker {
namespace {

constexpr std::chrono::seconds kMemoryInterval{10};  // Reading it walks the whole page table.

// When an entry was last made in the folder, or removed from it.
std::optional<timespec> change_of(const std::filesystem::path& folder) {
    struct stat facts {};
    if (folder.empty() || ::stat(folder.c_str(), &facts) != 0) return std::nullopt;
    return facts.st_mtim;
}

}  // namespace

Wear::Wear(std::filesystem::path spill_folder, std::uint64_t private_bytes_max)
    : spill_folder_(std::move(spill_folder)),
      changed_(change_of(spill_folder_)),
      private_bytes_max_(private_bytes_max) {}

bool Wear::spilled() const {
    const auto now = change_of(spill_folder_);
    return changed_ && now &&
           (now->tv_sec != changed_->tv_sec || now->tv_nsec != changed_->tv_nsec);
}

std::optional<std::string_view> Wear::sign(Clock::time_point now) {
    if (told_) return std::nullopt;
    if (spilled()) {
        told_ = true;
        return "a query has spilled to disk";
    }
    if (private_bytes_max_ == 0 || now < next_look_) return std::nullopt;
    next_look_ = now + kMemoryInterval;
    if (private_bytes() <= private_bytes_max_) return std::nullopt;
    told_ = true;
    return "its private memory has passed its share";
}

std::uint64_t private_bytes() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    std::uint64_t kilobytes = 0;
    for (std::string name; rollup >> name;) {
        std::uint64_t value = 0;
        if ((name == "Private_Clean:" || name == "Private_Dirty:") && rollup >> value) {
            kilobytes += value;
        }
    }
    return kilobytes * 1024;
}

}  // namespace shortq::worker
