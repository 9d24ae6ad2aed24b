// primary/bad_messages.h: counts what nobody should have sent, and says so in the log without
// filling it: whoever sends garbage may send a lot of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shortq::primary {

// Threads: one.
class BadMessages {
public:
    // `from` says in log lines who sent them: "a client".
    explicit BadMessages(std::string from) : from_(std::move(from)) {}

    // One more. A warning for the first, the second, the fourth, the eighth ...; the others are
    // told at level debug.
    void add(std::string_view what);
    // One more that honest peers send, too: at level debug only.
    void add_expected(std::string_view what);
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

private:
    std::string from_;
    std::uint64_t count_ = 0;
};

}  // namespace shortq::primary
