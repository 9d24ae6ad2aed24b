#include "primary/auth/secret.h"

#include <sodium.h>

namespace shortq::auth {

Secret& Secret::operator=(Secret&& other) noexcept {
    if (this == &other) return *this;
    wipe(bytes_.data(), bytes_.size());
    bytes_ = std::move(other.bytes_);
    return *this;
}

Secret::~Secret() { wipe(bytes_.data(), bytes_.size()); }

void wipe(void* bytes, std::size_t size) noexcept {
    if (size > 0) sodium_memzero(bytes, size);
}

void wipe(std::string& text) noexcept {
    wipe(text.data(), text.size());
    text.clear();
}

}  // namespace shortq::auth
