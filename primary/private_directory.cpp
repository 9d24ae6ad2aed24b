// primary/private_directory.cpp: mkdtemp, flock and the search for leftovers.
#include "primary/private_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <vector>

namespace shortq::primary {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLockName = "lock";

[[noreturn]] void fail_with_errno(const std::string& what, const fs::path& path) {
    throw std::system_error(errno, std::generic_category(), what + " " + path.string());
}

bool is_ours(const fs::path& path) {
    struct stat facts {};
    return lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == geteuid();
}

// A folder without a lock file may be one that is being made at this moment.
bool is_old(const fs::path& path) {
    std::error_code error;
    const auto written = fs::last_write_time(path, error);
    return !error && fs::file_time_type::clock::now() - written > std::chrono::minutes(1);
}

bool is_stale(const fs::path& path) {
    const UniqueFd lock(open((path / kLockName).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (!lock) return is_old(path);
    return flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

void remove_stale(const fs::path& base, const std::string& prefix) {
    std::error_code error;
    std::vector<fs::path> stale;
    for (const auto& entry : fs::directory_iterator(base, error)) {
        const auto& path = entry.path();
        const auto name = path.filename().string();
        const bool finished = name.starts_with(prefix + "-");
        // One that is being made lasts a moment.
        const bool unfinished = name.starts_with(prefix + ".") && is_old(path);
        if ((finished || unfinished) && is_ours(path) && is_stale(path)) stale.push_back(path);
    }
    for (const auto& path : stale) fs::remove_all(path, error);
}

}  // namespace

PrivateDirectory::PrivateDirectory(const fs::path& base, const std::string& prefix)
    : unfinished_(base / (prefix + ".XXXXXX")) {
    remove_stale(base, prefix);
    auto made = make_locked();
    path_ = base / (prefix + "-" + made.extension().string().substr(1));
    if (std::rename(made.c_str(), path_.c_str()) != 0)
        fail_with_errno("cannot make a private folder", path_);
}

// Gets its name once it is locked: whoever looks for leftovers would take it for one before.
fs::path PrivateDirectory::make_locked() {
    std::string name = unfinished_.string();
    if (mkdtemp(name.data()) == nullptr) fail_with_errno("cannot make a private folder", name);
    lock(name);
    return name;
}

void PrivateDirectory::lock(const fs::path& folder) {
    lock_ = UniqueFd(open((folder / kLockName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock_ || flock(lock_.get(), LOCK_EX | LOCK_NB) != 0)
        fail_with_errno("cannot lock a private folder", folder);
}

void PrivateDirectory::renew() {
    if (is_ours(path_) && access((path_ / kLockName).c_str(), F_OK) == 0) return;
    const auto made = make_locked();
    if (std::rename(made.c_str(), path_.c_str()) == 0) return;
    // A folder of somebody else who was faster is none to use.
    const int why = errno;
    std::error_code ignored;
    fs::remove_all(made, ignored);
    errno = why;
    if (!is_ours(path_)) fail_with_errno("cannot make a private folder again", path_);
    lock(path_);
}

PrivateDirectory::~PrivateDirectory() {
    std::error_code error;
    fs::remove_all(path_, error);
}

fs::path socket_base() {
    // sockaddr_un holds 107 bytes; the names that this project appends take fewer than this.
    constexpr std::size_t kNameBytes = 40;
    constexpr std::size_t kSocketPathMax = 107;
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime == '/' && is_ours(runtime) &&
        std::string_view(runtime).size() + kNameBytes <= kSocketPathMax)
        return runtime;
    std::error_code error;
    auto base = fs::temp_directory_path(error);
    if (error || base.string().size() + kNameBytes > kSocketPathMax) base = "/tmp";
    return base;
}

fs::path spill_base() {
    std::error_code error;
    auto base = fs::temp_directory_path(error);
    if (!error) return base;
    const char* named = std::getenv("TMPDIR");
    throw std::runtime_error(fmt::format(
        "TMPDIR is {}: {}; it has to be a folder, in which queries spill",
        named == nullptr ? "not set, and /tmp cannot be used" : named, error.message()));
}

}  // namespace shortq::primary
