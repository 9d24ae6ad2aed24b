// primary/auth/users.h: the users file: who exists, and the hash of each one's password.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "proto/error.h"

namespace shortq::auth {

// Name to hash; never empty once it was read.
using Users = std::map<std::string, std::string, std::less<>>;

// Lines of NAME:HASH as `shortq-cli --hash-password` prints them, "#" comments, blank lines.
// Errors: kBadRequest; `where` is "FILE:LINE", and no message repeats what the line says, for it
//         may be a password that somebody forgot to hash.
[[nodiscard]] Result<Users> parse_users(std::string_view text, const std::string& file);

// Errors: as parse_users() and read_private_file().
[[nodiscard]] Result<Users> read_users(const std::filesystem::path& path);

// What is wrong with a name; empty: nothing. A name fits the hello, has no colon (the kdb+
// handshake's separator) and nothing that would look odd in a log.
[[nodiscard]] std::string problem_of_name(std::string_view name);

}  // namespace shortq::auth
