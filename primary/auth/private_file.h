// primary/auth/private_file.h: files that are nobody else's business: hashes, secret keys.
#pragma once

#include <filesystem>
#include <string>

#include "proto/error.h"

namespace shortq::auth {

// The whole file. Its group may read it, so that it can belong to root and be read by a service.
// Errors: kBadRequest: it cannot be read, is no ordinary file or larger than a MiB; or others may
//         read or change it, and then the message says what to do. `where` is the file's name.
[[nodiscard]] Result<std::string> read_private_file(const std::filesystem::path& path);

// Makes the file, readable by its owner alone. Errors: kBadRequest: it exists, or cannot be made.
[[nodiscard]] Result<void> write_new_file(const std::filesystem::path& path,
                                          const std::string& text, bool is_private);

}  // namespace shortq::auth
