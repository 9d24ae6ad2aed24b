#include "primary/auth/users.h"

#include <fmt/format.h>

#include <algorithm>

#include "primary/auth/password_hash.h"
#include "primary/auth/private_file.h"
#include "proto/limits.h"
#include "proto/utf8.h"

namespace shortq::auth {
namespace {

std::string_view trimmed(std::string_view line) {
    constexpr std::string_view kBlanks = " \t\r";
    const auto first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

// What is wrong with a line; empty: nothing, and it is in `users`.
std::string take_line(std::string_view line, Users& users) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
        return "expected NAME:HASH; shortq-cli --hash-password makes such a line";
    }
    const auto name = line.substr(0, colon);
    if (auto problem = problem_of_name(name); !problem.empty()) return problem;
    std::string hash(line.substr(colon + 1));
    if (!is_password_hash(hash)) {
        return "what follows the name is not an Argon2id hash ($argon2id$...); shortq-cli "
               "--hash-password makes one";
    }
    if (!users.emplace(name, std::move(hash)).second)
        return fmt::format("the user '{}' is there twice", name);
    return {};
}

}  // namespace

std::string problem_of_name(std::string_view name) {
    if (name.empty()) return "the name is empty";
    if (name.size() > proto::kUserBytesMax)
        return fmt::format("the name has more than {} bytes", proto::kUserBytesMax);
    if (!proto::is_utf8(name)) return "the name is not UTF-8";
    const auto is_bad = [](char c) {
        return static_cast<unsigned char>(c) <= ' ' || c == 0x7f || c == ':';
    };
    if (std::ranges::any_of(name, is_bad) || name.front() == '#')
        return "a name has no blank, colon or control character, and does not begin with #";
    return {};
}

Result<Users> parse_users(std::string_view text, const std::string& file) {
    Users users;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trimmed(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.front() == '#') continue;
        if (auto problem = take_line(line, users); !problem.empty()) {
            return fail(ErrorCode::kBadRequest, std::move(problem),
                        fmt::format("{}:{}", file, number));
        }
    }
    if (users.empty()) {
        return fail(ErrorCode::kBadRequest,
                    "has no user; shortq-cli --hash-password makes a line for one", file);
    }
    return users;
}

Result<Users> read_users(const std::filesystem::path& path) {
    const auto text = read_private_file(path);
    if (!text) return tl::unexpected(text.error());
    return parse_users(*text, path.string());
}

}  // namespace shortq::auth
