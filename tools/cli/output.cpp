#include "tools/cli/output.h"

#include <unistd.h>

#include <cerrno>

namespace shortq::cli {

void Output::flush() {
    std::string_view left = buffer_;
    while (!left.empty() && !failed()) {
        const auto written = ::write(descriptor_, left.data(), left.size());
        if (written >= 0) {
            left.remove_prefix(static_cast<std::size_t>(written));
        } else if (errno != EINTR) {
            error_ = errno;
        }
    }
    buffer_.clear();
}

}  // namespace shortq::cli
