// primary/curve_keys.h: the native door's key pair, as two files of one key each.
#pragma once

#include <filesystem>
#include <string>

#include "proto/error.h"

namespace shortq::primary {

// Writes NAME.secret, for its owner alone, and NAME.public; in a folder the name is "shortq".
// Returns what to do next, for people. Errors: kBadRequest: one of them exists, or cannot be made.
[[nodiscard]] Result<std::string> make_keys(std::filesystem::path name);

// The secret key in a file, 40 characters of Z85 on a line of its own besides "# " comments.
// Errors: kBadRequest: as read_private_file(), or there is no such key in it; or the file says
//         that it is the public one.
[[nodiscard]] Result<std::string> read_secret_key(const std::filesystem::path& path);

}  // namespace shortq::primary
