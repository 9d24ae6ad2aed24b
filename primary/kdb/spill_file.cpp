#include "primary/kdb/spill_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace shortq::primary {
namespace {

std::size_t page_bytes() {
    static const auto kBytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return kBytes;
}

// Unmaps its part of the file and gives the room back.
class Mapping {
public:
    Mapping(std::shared_ptr<const UniqueFd> file, std::size_t offset, std::size_t bytes)
        : file_(std::move(file)), offset_(offset), bytes_(bytes) {
        data_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_->get(),
                       static_cast<off_t>(offset));
    }
    ~Mapping() {
        if (is_mapped()) ::munmap(data_, bytes_);
        // Where that is not possible, the room comes back when the file is closed.
        static_cast<void>(::fallocate(file_->get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                      static_cast<off_t>(offset_), static_cast<off_t>(bytes_)));
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    [[nodiscard]] bool is_mapped() const { return data_ != MAP_FAILED; }
    [[nodiscard]] std::byte* data() const { return static_cast<std::byte*>(data_); }

private:
    std::shared_ptr<const UniqueFd> file_;
    std::size_t offset_;
    std::size_t bytes_;
    void* data_ = MAP_FAILED;
};

}  // namespace

Result<void> SpillFile::open() {
    if (file_) return {};
    UniqueFd file(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.get() < 0) {  // Not every file system can; then the name goes at once.
        auto name = (folder_ / "result-XXXXXX").string();
        file = UniqueFd(::mkostemp(name.data(), O_CLOEXEC));
        if (file.get() >= 0) ::unlink(name.c_str());
    }
    if (file.get() < 0) {
        return fail(ErrorCode::kInternal,
                    "cannot make a file for a waiting result: " + std::string(strerror(errno)),
                    folder_.string());
    }
    file_ = std::make_shared<const UniqueFd>(std::move(file));
    return {};
}

Result<SpillFile::Region> SpillFile::allocate(std::size_t bytes) {
    if (auto opened = open(); !opened) return tl::unexpected(opened.error());
    const auto rounded = (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
    // Now, as an error: a write to a mapping without room would end the process.
    const int code =
        ::posix_fallocate(file_->get(), static_cast<off_t>(end_), static_cast<off_t>(rounded));
    if (code != 0) {
        return fail(ErrorCode::kInternal,
                    "no room for a waiting result: " + std::string(strerror(code)),
                    folder_.string());
    }
    auto mapping = std::make_shared<const Mapping>(file_, end_, rounded);
    if (!mapping->is_mapped()) {
        return fail(ErrorCode::kInternal,
                    "cannot map a waiting result: " + std::string(strerror(errno)),
                    folder_.string());
    }
    end_ += rounded;
    auto* data = mapping->data();
    return Region{data, std::move(mapping)};
}

}  // namespace shortq::primary
