// primary/auth/password_hash.h: passwords as Argon2id hashes, made and checked by libsodium. Slow
// on purpose: tens of milliseconds and 64 MiB of memory for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/error.h"

namespace shortq::auth {

// Longer ones travel through no door: ZeroMQ's PLAIN has a byte for the length.
inline constexpr std::size_t kPasswordBytesMax = 255;

// What a hash costs whoever makes or checks it.
struct HashCost {
    std::uint64_t passes = 2;
    std::size_t memory_bytes = std::size_t{64} << 20;
};
// For tests: what libsodium allows at least.
inline constexpr HashCost kLeastCost{1, 8192};

// "$argon2id$v=19$m=65536,t=2,p=1$...", with a random salt. Errors: kBadRequest for a password
// that is empty or too long; kInternal without the memory.
[[nodiscard]] Result<std::string> hash_password(std::string_view password, HashCost cost = {});

// Takes the time that the hash demands, whatever the password. Without the memory for it: false;
// libsodium does not tell the two apart. Pre: is_password_hash(hash).
[[nodiscard]] bool matches_password(const std::string& hash, std::string_view password);

// Whether it is a whole hash of this kind. Takes no time.
[[nodiscard]] bool is_password_hash(const std::string& text);

}  // namespace shortq::auth
