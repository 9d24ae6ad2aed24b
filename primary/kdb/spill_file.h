// primary/kdb/spill_file.h: room on disk for results that have to wait, without a name there.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "proto/error.h"
#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// A file that nobody else can open and that the system removes with its last descriptor. Its
// regions are mapped, so what is in them is read like memory. Threads: one for allocate(); a region
// may end on any.
class SpillFile {
public:
    explicit SpillFile(std::filesystem::path folder) : folder_(std::move(folder)) {}

    // Writable memory that the system may move to disk; its room is given back when the last owner
    // is gone, which may be after this object.
    struct Region {
        std::byte* data = nullptr;
        std::shared_ptr<const void> owner;
    };
    // Pre: bytes > 0. Errors: kInternal naming the folder: no room, no such folder.
    [[nodiscard]] Result<Region> allocate(std::size_t bytes);

private:
    [[nodiscard]] Result<void> open();

    std::filesystem::path folder_;
    std::shared_ptr<const UniqueFd> file_;
    std::size_t end_ = 0;
};

}  // namespace shortq::primary
