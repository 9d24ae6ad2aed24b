// tests/end-to-end/kdb/kdb_client.h: a kdb+ client of our own, which says what it likes and sees
// every byte that comes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/kdb/message.h"
#include "proto/kdb/object.h"
#include "tests/patience.h"
#include "worker/engine/unique_fd.h"

namespace shortq::test {

struct KdbReply {
    kdb::Kind kind{};
    kdb::Object object;
    bool compressed = false;
    std::size_t bytes = 0;  // As they came.
};

// Threads: one. Nothing here throws but std::runtime_error when what is waited for does not come.
class KdbClient {
public:
    explicit KdbClient(std::uint16_t port);
    // Connects and says hello; throws if it is not let in.
    KdbClient(std::uint16_t port, std::string_view greeting);

    // The answer to the handshake; none: it closed the connection. `more_follows`: the greeting has
    // requests behind it, whose replies may come with the answer.
    [[nodiscard]] std::optional<std::uint8_t> greet(std::string_view greeting,
                                                    bool more_follows = false);

    void send(std::string_view bytes) const;
    void send(std::span<const std::byte> bytes) const;
    void deferred(std::string_view text) const;
    void sync(std::string_view text) const;
    // The list (text; arguments...).
    void deferred(std::string_view text, std::vector<kdb::Object> arguments) const;
    // Sends no more, as a client that closes.
    void end_of_requests() const;
    void reset();  // Gone without a goodbye, as a process that was killed.

    // The next message. Throws when the connection ends or nothing comes.
    [[nodiscard]] KdbReply receive();
    // Whether the other side ends it before it says something more.
    [[nodiscard]] bool is_ended(std::chrono::milliseconds patience = kPatience);
    // Whether nothing at all comes for so long.
    [[nodiscard]] bool is_silent(std::chrono::milliseconds duration) const;

    // A text that says what the reply is: a cell of one row, "error: ...", "nothing".
    [[nodiscard]] std::string text();

private:
    // False: nothing came in time.
    [[nodiscard]] bool wait(std::chrono::milliseconds patience) const;
    // None: it ended.
    [[nodiscard]] std::optional<std::size_t> read(std::span<std::byte> into);

    UniqueFd socket_;
    std::vector<std::byte> input_;
    std::size_t used_ = 0;
    kdb::MessageReader messages_{kdb::kMessageBytesMax};
};

// The parts of a table. Throws if it is none, or has no such column.
[[nodiscard]] std::vector<std::string> column_names(const kdb::Object& table);
[[nodiscard]] const kdb::Object& column(const kdb::Object& table, std::size_t index);
// The first cell of a table of one row, numbers and symbols as text; an error's text.
[[nodiscard]] std::string text_of_reply(const kdb::Object& object);
// The port of the kdb+ door, from the server's log.
[[nodiscard]] std::uint16_t kdb_port(const std::string& log);

}  // namespace shortq::test
