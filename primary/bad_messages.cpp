#include "primary/bad_messages.h"

#include <spdlog/spdlog.h>

#include <bit>

namespace shortq::primary {

void BadMessages::add(std::string_view what) {
    ++count_;
    const auto level = std::has_single_bit(count_) ? spdlog::level::warn : spdlog::level::debug;
    spdlog::log(level, "bad message from {} ({} so far): {}", from_, count_, what);
}

void BadMessages::add_expected(std::string_view what) {
    ++count_;
    spdlog::debug("bad message from {} ({} so far): {}", from_, count_, what);
}

}  // namespace shortq::primary
