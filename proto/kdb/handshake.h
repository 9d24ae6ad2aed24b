// proto/kdb/handshake.h: the first bytes of a connection: who the client is and what it can take.
// Source: code.kx.com/q/basics/ipc, "Handshake".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proto/error.h"

namespace shortq::kdb {

// "user:password", one byte of capability, NUL. Without a colon all of it is the user.
struct Handshake {
    std::string user;
    std::string password;
    // As the client sent it: 3 is q 3.0 and later, 6 large messages; 0: none was sent, which is so
    // if the last byte before the NUL is not a control character.
    std::uint8_t capability = 0;
    bool operator==(const Handshake&) const = default;
};

// Reads a handshake that arrives in pieces. Threads: one.
class HandshakeReader {
public:
    // Takes what it uses from the front of `input`; behind the handshake, a request may follow.
    // Returns nothing while more bytes are needed; `input` is empty then. After a handshake or an
    // error the reader has done its work.
    // Errors: kBadRequest: over kHandshakeBytesMax, control characters in the text (so that a
    //         browser is refused at once), or a user that is not UTF-8. The connection is of no
    //         use.
    [[nodiscard]] Result<std::optional<Handshake>> read(std::span<const std::byte>& input);

private:
    std::string text_;
};

}  // namespace shortq::kdb
