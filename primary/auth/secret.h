// primary/auth/secret.h: bytes that leave nothing behind in memory: passwords.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shortq::auth {

// Wiped when it ends or is moved from. Threads: one at a time.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string_view text) : bytes_(text.begin(), text.end()) {}
    Secret(Secret&&) noexcept = default;  // Takes the memory: no copy stays behind.
    Secret& operator=(Secret&& other) noexcept;
    Secret(const Secret&) = delete;
    Secret& operator=(const Secret&) = delete;
    ~Secret();

    [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), bytes_.size()}; }

private:
    std::vector<char> bytes_;
};

// For bytes that others own: a message's frame, a line that was read.
void wipe(void* bytes, std::size_t size) noexcept;
void wipe(std::string& text) noexcept;  // And empties it.

}  // namespace shortq::auth
