// client/server_key.h: a server's public key, given as text or as the name of a file.
#pragma once

#include <string>

#include "proto/error.h"

namespace shortq::detail {

// The key's 40 characters (Z85, rfc.zeromq.org/spec/32). A text that is one is taken for it,
// anything else for a file's name; there it is a line of its own. Errors: kBadRequest.
[[nodiscard]] Result<std::string> find_server_key(const std::string& key_or_file);

}  // namespace shortq::detail
