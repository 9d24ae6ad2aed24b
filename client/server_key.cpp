#include "client/server_key.h"

#include <zmq.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace shortq::detail {
namespace {

bool is_key(const std::string& text) {
    constexpr std::size_t kKeyChars = 40;
    std::array<std::uint8_t, 32> bytes{};
    return text.size() == kKeyChars && zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

// How the server's own file begins.
constexpr std::string_view kSecretMark = "# shortq: the server's secret key";

tl::unexpected<Error> refuse_secret(const std::string& name) {
    std::filesystem::path open(name);
    const auto clients =
        open.extension() == ".secret" ? open.replace_extension(".public").string() : "NAME.public";
    return fail(ErrorCode::kBadRequest,
                "no server key: \"" + name +
                    "\" is the server's secret key; it belongs to the server alone; clients take " +
                    clients);
}

}  // namespace

Result<std::string> find_server_key(const std::string& key_or_file) {
    constexpr int kLinesMax = 100;  // Of a file that is one of ours.
    std::ifstream file(key_or_file);
    std::string line;
    for (int i = 0; i < kLinesMax && std::getline(file, line); ++i) {
        if (line.ends_with('\r')) line.pop_back();
        if (line.starts_with(kSecretMark)) return refuse_secret(key_or_file);
        if (is_key(line)) return line;
    }
    if (is_key(key_or_file)) return key_or_file;
    return fail(ErrorCode::kBadRequest,
                "no server key: \"" + key_or_file +
                    "\" is neither a key of 40 characters nor a file that has one "
                    "(shortq --make-keys makes NAME.public)");
}

}  // namespace shortq::detail
