// tools/bench/kdb_asker.h: a kdb+ client that asks one deferred query after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "proto/error.h"
#include "proto/kdb/message.h"
#include "worker/engine/unique_fd.h"

namespace shortq::bench {

class KdbAsker {
public:
    // Errors: kConnection.
    [[nodiscard]] static Result<KdbAsker> connect(std::uint16_t port);

    // Returns when the reply is read and decoded. Errors: kConnection; kQueryError with its text.
    [[nodiscard]] Result<void> ask(std::string_view text);

private:
    explicit KdbAsker(UniqueFd socket) : socket_(std::move(socket)) {}
    [[nodiscard]] Result<void> send(const std::vector<std::byte>& bytes);
    [[nodiscard]] Result<std::size_t> receive();

    UniqueFd socket_;
    kdb::MessageReader messages_{kdb::kMessageBytesMax};
    std::vector<std::byte> input_ = std::vector<std::byte>(std::size_t{64} << 10);
};

// A TCP port that nobody listens at; somebody may until it is used.
[[nodiscard]] std::uint16_t free_port();

}  // namespace shortq::bench
