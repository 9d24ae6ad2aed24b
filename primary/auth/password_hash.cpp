#include "primary/auth/password_hash.h"

#include <fmt/format.h>
#include <sodium.h>

#include <array>
#include <stdexcept>

namespace shortq::auth {
namespace {

// Chooses the fastest implementation for this processor. May be called any number of times.
void start_sodium() {
    if (sodium_init() < 0) throw std::runtime_error("libsodium does not start");
}

}  // namespace

Result<std::string> hash_password(std::string_view password, HashCost cost) {
    if (password.empty()) return fail(ErrorCode::kBadRequest, "an empty password");
    if (password.size() > kPasswordBytesMax) {
        return fail(ErrorCode::kBadRequest,
                    fmt::format("a password has at most {} bytes", kPasswordBytesMax));
    }
    start_sodium();
    std::array<char, crypto_pwhash_STRBYTES> hash{};
    if (crypto_pwhash_str_alg(hash.data(), password.data(), password.size(), cost.passes,
                              cost.memory_bytes, crypto_pwhash_ALG_ARGON2ID13) != 0) {
        return fail(ErrorCode::kInternal,
                    fmt::format("cannot hash: {} bytes of memory are needed", cost.memory_bytes));
    }
    return std::string(hash.data());
}

bool matches_password(const std::string& hash, std::string_view password) {
    start_sodium();
    if (password.empty()) password = "";  // Of which there are bytes to point at.
    return crypto_pwhash_str_verify(hash.c_str(), password.data(), password.size()) == 0;
}

bool is_password_hash(const std::string& text) {
    // libsodium's salts of 16 bytes and hashes of 32, in base64; it accepts shorter ones, too.
    constexpr std::size_t kSaltChars = 22;
    constexpr std::size_t kHashChars = 43;
    start_sodium();
    if (!text.starts_with(crypto_pwhash_argon2id_STRPREFIX) ||
        text.size() >= crypto_pwhash_STRBYTES || text.find('\0') != std::string::npos)
        return false;
    const auto hash = text.rfind('$');
    const auto salt = text.rfind('$', hash - 1);
    return text.size() - hash - 1 == kHashChars && hash - salt - 1 == kSaltChars &&
           crypto_pwhash_str_needs_rehash(text.c_str(), crypto_pwhash_OPSLIMIT_INTERACTIVE,
                                          crypto_pwhash_MEMLIMIT_INTERACTIVE) >= 0;
}

}  // namespace shortq::auth
