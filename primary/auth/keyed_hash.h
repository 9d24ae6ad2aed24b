// primary/auth/keyed_hash.h: short hashes under a key that this process makes up and tells nobody,
// so that they say nothing to who reads its memory dump or guesses at them.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>

namespace shortq::auth {

using Digest = std::array<unsigned char, 32>;

// Threads: safe to share.
class KeyedHash {
public:
    KeyedHash();
    KeyedHash(const KeyedHash&) = delete;
    KeyedHash& operator=(const KeyedHash&) = delete;
    ~KeyedHash();

    // Of texts in a row; where one ends and the next begins counts.
    [[nodiscard]] Digest operator()(std::initializer_list<std::string_view> texts) const;

private:
    std::array<unsigned char, 32> key_{};
};

// Takes the same time wherever they differ.
[[nodiscard]] bool equal(const Digest& a, const Digest& b) noexcept;

}  // namespace shortq::auth
