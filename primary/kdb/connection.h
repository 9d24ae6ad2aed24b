// primary/kdb/connection.h: one kdb+ client: its handshake, its requests, and its replies in order.
// Private to this folder.
#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "primary/core/in_order.h"
#include "primary/kdb/door_options.h"
#include "primary/kdb/held_result.h"
#include "proto/kdb/handshake.h"
#include "proto/kdb/message.h"
#include "proto/kdb/query.h"

namespace shortq::primary {

// Threads: the door's. What is handed out to others comes back by its executor.
class KdbConnection : public std::enable_shared_from_this<KdbConnection> {
public:
    using Clock = std::chrono::steady_clock;

    // What connections have in common; outlives them.
    struct Shared {
        const KdbDoorOptions& options;
        const KdbListener& say;
        std::span<std::byte> read_buffer;
        boost::asio::thread_pool& encoders;
        std::function<void(KdbConnectionId)> ended;
    };

    KdbConnection(const Shared& shared, KdbConnectionId id, boost::asio::ip::tcp::socket socket,
                  const boost::asio::ip::address& peer);

    void begin();
    // A piece of a result, or the error instead of it. Unknown ids are ignored.
    void take_reply(const proto::Reply& reply, std::span<const Buffer> bodies);
    void take_error(std::uint64_t id, std::string text);
    // Looks at what takes too long.
    void look_at_clock(Clock::time_point now);
    // Ends when what is finished has been sent.
    void finish();
    // Ends now.
    void close();

private:
    enum class State : std::uint8_t {
        kGreeting,    // The handshake is under way.
        kChecking,    // The password is.
        kOpen,        // Requests come and replies go.
        kDiscarding,  // Nothing is read any more; what is finished goes, then the connection.
        kClosed,
    };
    enum Line : std::uint8_t { kDeferredLine, kSyncLine, kLines };
    struct Finished {  // Neither: (::).
        std::optional<HeldResult> result;
        std::optional<std::string> error;
    };
    struct Waiting {
        Line line = kDeferredLine;
        std::optional<HeldResult> result;
        std::optional<std::string> error;  // Of a result that cannot be sent.
    };

    // ---- Reading (connection_input.cpp)
    void wait_for_input();
    void read();
    [[nodiscard]] bool may_read() const;
    void take(std::span<const std::byte> input);
    void take_greeting(std::span<const std::byte>& input);
    void let_in(const kdb::Handshake& handshake);
    void welcome();
    void take_messages(std::span<const std::byte>& input);
    void take_message(const kdb::Message& message);
    void ask(Line line, const kdb::Query& query);
    void answer(Line line, Finished reply);
    void refuse(Line line, ErrorCode code, std::string_view message);
    void refuse_and_end(const Error& error);

    // ---- Replying (connection_output.cpp)
    void hold(std::uint64_t id, Waiting& waiting);
    void give_up(std::uint64_t id, Waiting& waiting, const Error& error);
    void end_request(std::uint64_t id, Finished reply);
    void write_more();
    void fill();
    [[nodiscard]] bool begin_next();
    void begin_reply(Finished reply, kdb::Kind kind);
    void compress(std::shared_ptr<ResultWriter> writer);
    [[nodiscard]] bool write_some();
    void all_is_sent();
    [[nodiscard]] std::size_t finished() const {
        return lines_[kDeferredLine].finished() + lines_[kSyncLine].finished();
    }
    void discard_input();

    const Shared& shared_;
    KdbConnectionId id_;
    boost::asio::ip::tcp::socket socket_;
    std::string address_;
    bool local_;
    State state_ = State::kGreeting;
    bool introduced_ = false;  // The dispatch thread knows it.
    bool waits_for_input_ = false;
    Clock::time_point since_ = Clock::now();     // It is in this state, if that has an end.
    Clock::time_point progress_ = Clock::now();  // Something was sent.

    kdb::HandshakeReader greeting_;
    std::string user_;
    std::uint8_t capability_ = 0;
    std::vector<std::byte> early_;  // Came while the password was checked.
    kdb::MessageReader messages_;
    std::uint64_t last_id_ = 0;

    std::unordered_map<std::uint64_t, Waiting> waiting_;
    std::array<core::InOrder<Finished>, kLines> lines_;
    std::uint64_t held_bytes_ = 0;       // Of results that are complete or still come.
    std::uint64_t bytes_in_memory_ = 0;  // Of these.
    SpillFile spill_file_;

    std::vector<std::byte> out_;
    std::size_t sent_ = 0;  // Of out_.
    std::shared_ptr<ResultWriter> writer_;
    bool encoding_ = false;  // A thread compresses a reply; nothing is sent before it.
    bool blocked_ = false;   // The peer has to read first.
};

}  // namespace shortq::primary
