#include "primary/curve_keys.h"

#include <fmt/format.h>
#include <zmq.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <string_view>

#include "primary/auth/private_file.h"
#include "primary/auth/secret.h"

namespace shortq::primary {
namespace {

constexpr std::size_t kKeyChars = 40;  // zmq_curve_keypair(3).
// How the first lines of the two files begin; clients know the secret one by it.
constexpr std::string_view kPublicMark = "# shortq: the server's public key";
constexpr std::string_view kSecretMark = "# shortq: the server's secret key";
using KeyText = std::array<char, kKeyChars + 1>;

std::string with_ending(const std::filesystem::path& name, const char* ending) {
    return name.string() + ending;
}

std::string next_steps(const std::string& secret, const std::string& open, const char* key) {
    return fmt::format(
        "{0} is for the server alone:   shortq --curve-keys {0} --users FILE ...\n"
        "{1} is for its clients:        shortq-cli --server-key {1} ...\n"
        "{2:<{3}}shortq-cli --server-key '{4}' ...\n",
        secret, open, "or as text:", open.size() + std::strlen(" is for the server alone:   "),
        key);
}

bool is_key(const std::string& text) {
    std::array<std::uint8_t, 32> bytes{};
    const bool right = text.size() == kKeyChars && zmq_z85_decode(bytes.data(), text.c_str());
    auth::wipe(bytes.data(), bytes.size());
    return right;
}

// Whether make_keys() has written it for clients.
bool says_public(const std::filesystem::path& path) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(path, ignored)) return false;  // A pipe may wait.
    std::ifstream file(path);
    std::string line;
    return std::getline(file, line) && line.starts_with(kPublicMark);
}

std::string secret_beside(std::filesystem::path path) {
    return path.extension() == ".public" ? path.replace_extension(".secret").string()
                                         : std::string("NAME.secret");
}

}  // namespace

Result<std::string> make_keys(std::filesystem::path name) {
    std::error_code ignored;
    if (std::filesystem::is_directory(name, ignored)) name /= "shortq";
    const auto secret = with_ending(name, ".secret");
    const auto open = with_ending(name, ".public");
    if (std::filesystem::exists(open, ignored))
        return fail(ErrorCode::kBadRequest, "exists already; it is not overwritten", open);
    KeyText open_key{};
    KeyText secret_key{};
    if (zmq_curve_keypair(open_key.data(), secret_key.data()) != 0)
        return fail(ErrorCode::kInternal, "this ZeroMQ was built without CURVE", "--make-keys");
    std::string text = fmt::format("{}. Show it to nobody.\n{}\n", kSecretMark, secret_key.data());
    auth::wipe(secret_key.data(), secret_key.size());
    auto written = auth::write_new_file(secret, text, true);
    auth::wipe(text);
    if (written) {
        written = auth::write_new_file(
            open, fmt::format("{}, for its clients.\n{}\n", kPublicMark, open_key.data()), false);
    }
    if (!written) return tl::unexpected(written.error());
    return next_steps(secret, open, open_key.data());
}

Result<std::string> read_secret_key(const std::filesystem::path& path) {
    // First: who may read it does not matter then.
    if (says_public(path)) {
        return fail(ErrorCode::kBadRequest,
                    "is the public key, for clients; the secret one is " + secret_beside(path),
                    path.string());
    }
    auto text = auth::read_private_file(path);
    if (!text) return tl::unexpected(text.error());
    std::string key;
    for (std::size_t begin = 0; begin < text->size();) {
        const auto end = std::min(text->find('\n', begin), text->size());
        auto line = text->substr(begin, end - begin);
        if (line.ends_with('\r')) line.pop_back();
        if (key.empty() && is_key(line)) key = line;
        auth::wipe(line);
        begin = end + 1;
    }
    auth::wipe(*text);
    if (!key.empty()) return key;
    return fail(ErrorCode::kBadRequest, "has no key in it; shortq --make-keys makes one",
                path.string());
}

}  // namespace shortq::primary
