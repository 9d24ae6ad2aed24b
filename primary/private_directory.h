// primary/private_directory.h: a folder of mode 0700 that lives as long as this process, and the
// removal of those that dead primaries left behind.
#pragma once

#include <filesystem>
#include <string>

#include "worker/engine/unique_fd.h"

namespace shortq::primary {

// The folder is marked as in use by a locked file in it: the kernel drops the lock when the process
// ends, however it ends, so a leftover is recognised without guessing from process numbers.
class PrivateDirectory {
public:
    // Makes base/PREFIX-XXXXXX after removing this user's stale base/PREFIX-*.
    // Errors: throws std::system_error naming the path.
    PrivateDirectory(const std::filesystem::path& base, const std::string& prefix);
    ~PrivateDirectory();  // Removes the folder with all that is in it.
    PrivateDirectory(const PrivateDirectory&) = delete;
    PrivateDirectory& operator=(const PrivateDirectory&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

    // Makes the folder and its mark again if they are gone: who tidies up temporary folders does
    // not ask. Cheap if nothing is missing. Errors: throws std::system_error naming the path.
    void renew();

private:
    [[nodiscard]] std::filesystem::path make_locked();
    void lock(const std::filesystem::path& folder);

    std::filesystem::path unfinished_;  // base/PREFIX.XXXXXX: the name of one that is being made.
    std::filesystem::path path_;
    UniqueFd lock_;
};

// Where sockets go: $XDG_RUNTIME_DIR if it can be used and is short enough, else the system's
// temporary folder.
[[nodiscard]] std::filesystem::path socket_base();

// Where queries spill: the system's temporary folder, which TMPDIR may name. No other takes its
// place: it was chosen for its room. Errors: throws std::runtime_error naming what it is set to.
[[nodiscard]] std::filesystem::path spill_base();

}  // namespace shortq::primary
