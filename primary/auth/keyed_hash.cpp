#include "primary/auth/keyed_hash.h"

#include <sodium.h>

#include <cstdint>
#include <stdexcept>

namespace shortq::auth {

KeyedHash::KeyedHash() {
    if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
    randombytes_buf(key_.data(), key_.size());
}

KeyedHash::~KeyedHash() { sodium_memzero(key_.data(), key_.size()); }

Digest KeyedHash::operator()(std::initializer_list<std::string_view> texts) const {
    Digest digest{};
    crypto_generichash_state state;
    crypto_generichash_init(&state, key_.data(), key_.size(), digest.size());
    for (const auto text : texts) {
        std::array<unsigned char, sizeof(std::uint64_t)> size{};
        for (std::size_t i = 0; i < size.size(); ++i)
            size[i] = static_cast<unsigned char>(std::uint64_t{text.size()} >> (8 * i));
        crypto_generichash_update(&state, size.data(), size.size());
        crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(text.data()),
                                  text.size());
    }
    crypto_generichash_final(&state, digest.data(), digest.size());
    sodium_memzero(&state, sizeof state);
    return digest;
}

bool equal(const Digest& a, const Digest& b) noexcept {
    return sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace shortq::auth
