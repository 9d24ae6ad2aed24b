#include "primary/auth/private_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shortq::auth {
namespace {

constexpr off_t kBytesMax = off_t{1} << 20;

class Descriptor {
public:
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    [[nodiscard]] int get() const { return fd_; }

private:
    int fd_;
};

tl::unexpected<Error> failed(const std::filesystem::path& path, const std::string& what) {
    return fail(ErrorCode::kBadRequest, what, path.string());
}

Result<void> check(const std::filesystem::path& path, const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return failed(path, "not an ordinary file");
    if (status.st_size > kBytesMax) return failed(path, "larger than a MiB");
    constexpr mode_t kForbidden = S_IWGRP | S_IRWXO;
    if ((status.st_mode & kForbidden) != 0) {
        return failed(path,
                      fmt::format("others may read or change it (mode {:03o}); run: chmod 600 {}",
                                  status.st_mode & 0777U, path.string()));
    }
    return {};
}

}  // namespace

Result<std::string> read_private_file(const std::filesystem::path& path) {
    // Without waiting for the other end of a pipe that somebody has put there.
    const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.get() < 0) return failed(path, std::string("cannot read: ") + std::strerror(errno));
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return failed(path, std::strerror(errno));
    if (const auto checked = check(path, status); !checked) return tl::unexpected(checked.error());
    std::string text(static_cast<std::size_t>(kBytesMax) + 1, '\0');
    std::size_t used = 0;
    while (used < text.size()) {
        const auto count = ::read(file.get(), text.data() + used, text.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return failed(path, std::string("cannot read: ") + std::strerror(errno));
        if (count == 0) break;
        used += static_cast<std::size_t>(count);
    }
    text.resize(used);
    return text;
}

Result<void> write_new_file(const std::filesystem::path& path, const std::string& text,
                            bool is_private) {
    const mode_t mode = is_private ? 0600 : 0644;
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0) {
        return failed(path, errno == EEXIST
                                ? std::string("exists already; it is not overwritten")
                                : std::string("cannot be made: ") + std::strerror(errno));
    }
    std::size_t used = 0;
    while (used < text.size()) {
        const auto count = ::write(file.get(), text.data() + used, text.size() - used);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return failed(path, std::string("cannot be written: ") + std::strerror(errno));
        used += static_cast<std::size_t>(count);
    }
    return {};
}

}  // namespace shortq::auth
