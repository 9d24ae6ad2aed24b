#include "tools/cli/signal_inbox.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace shortq::cli {

SignalInbox::SignalInbox() {
    if (::pipe2(ends_.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        throw std::system_error(errno, std::generic_category(), "pipe");
    }
}

SignalInbox::~SignalInbox() {
    ::close(ends_[0]);
    ::close(ends_[1]);
}

void SignalInbox::put(int signal) noexcept {
    const auto byte = static_cast<unsigned char>(signal);
    // Full: thousands of signals wait, one more says nothing new.
    if (::write(ends_[1], &byte, 1) < 0) return;
}

std::optional<int> SignalInbox::take() noexcept {
    unsigned char byte = 0;
    if (::read(ends_[0], &byte, 1) == 1) return byte;
    return std::nullopt;
}

}  // namespace shortq::cli
