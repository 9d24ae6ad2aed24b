#include "primary/curve_keys.h"

#include <fmt/format.h>
#include <zmq.h>

#include <algorithm>
#include <array>

#include "primary/auth/private_file.h"
#include "primary/auth/secret.h"

namespace shortq::primary {
namespace {

constexpr std::size_t kKeyChars = 40;  // zmq_curve_keypair(3).
using KeyText = std::array<char, kKeyChars + 1>;

std::string with_ending(const std::filesystem::path& name, const char* ending) {
    return name.string() + ending;
}

std::string next_steps(const std::string& secret, const std::string& open, const char* key) {
    return fmt::format(
        "{0} is for the server alone:   shortq --curve-keys {0} --users FILE ...\n"
        "{1} is for its clients:        shortq-cli --server-key {1} ...\n"
        "or as text:                    shortq-cli --server-key '{2}' ...\n",
        secret, open, key);
}

bool is_key(const std::string& text) {
    std::array<std::uint8_t, 32> bytes{};
    const bool right = text.size() == kKeyChars && zmq_z85_decode(bytes.data(), text.c_str());
    auth::wipe(bytes.data(), bytes.size());
    return right;
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
    std::string text = fmt::format("# shortq: the server's secret key. Show it to nobody.\n{}\n",
                                   secret_key.data());
    auth::wipe(secret_key.data(), secret_key.size());
    auto written = auth::write_new_file(secret, text, true);
    auth::wipe(text);
    if (written) {
        written = auth::write_new_file(
            open,
            fmt::format("# shortq: the server's public key, for its clients.\n{}\n",
                        open_key.data()),
            false);
    }
    if (!written) return tl::unexpected(written.error());
    return next_steps(secret, open, open_key.data());
}

Result<std::string> read_secret_key(const std::filesystem::path& path) {
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
