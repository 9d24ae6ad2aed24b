// client/server_key.h: a server's public key, given as text or as the name of a file.
#pragma once

#include <string>

#include "proto/error.h"

namespace shortq::detail {

// The key's 40 characters (Z85, rfc.zeromq.org/spec/32): those of a line of the file that has this
// name, or else the text itself. The file comes first, for a path can look like a key, while a key
// that is the name of a file with a key in it is against all odds. Errors: kBadRequest:
// neither, or the file is the server's own, with the secret key.
[[nodiscard]] Result<std::string> find_server_key(const std::string& key_or_file);

}  // namespace shortq::detail
