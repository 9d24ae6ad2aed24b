// tools/cli/output.h: buffered bytes on their way to a file descriptor.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

namespace shortq::cli {

// After a failed write everything further is dropped; ask error().
class Output {
public:
    explicit Output(int descriptor) : descriptor_(descriptor) {}

    void append(std::string_view text) {
        buffer_ += text;
        settle();
    }
    void flush();

    // To append to without a copy; call settle() now and then.
    [[nodiscard]] std::string& buffer() noexcept { return buffer_; }
    void settle() {
        if (buffer_.size() >= kFlushBytes) flush();
    }

    // The errno of the first failed write; 0: none. EPIPE: the reader has seen enough.
    [[nodiscard]] int error() const noexcept { return error_; }
    [[nodiscard]] bool failed() const noexcept { return error_ != 0 || given_up_; }

    // From any thread: drops everything until resume().
    void give_up() noexcept { given_up_ = true; }
    void resume() noexcept { given_up_ = false; }

private:
    static constexpr std::size_t kFlushBytes = std::size_t{1} << 16;

    int descriptor_;
    int error_ = 0;
    std::atomic<bool> given_up_{false};
    std::string buffer_;
};

}  // namespace shortq::cli
