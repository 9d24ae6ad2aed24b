// primary/kdb/connection_input.cpp: class KdbConnection, what the client sends.
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "primary/auth/authenticator.h"
#include "primary/kdb/connection.h"

namespace shortq::primary {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::size_t kReadAtOnce = std::size_t{1} << 20;  // Before others have their turn.
constexpr std::size_t kMessageSlack = 64;      // Heads of messages and vectors beside the text.
constexpr std::size_t kRepliesAhead = 10'000;  // Who does not read them is not heard either.
constexpr std::uint8_t kCapabilityMax = 3;

zmq::message_t frame_of(std::span<const std::byte> bytes) { return {bytes.data(), bytes.size()}; }

}  // namespace

KdbConnection::KdbConnection(const Shared& shared, KdbConnectionId id, tcp::socket socket,
                             const boost::asio::ip::address& peer)
    : shared_(shared),
      id_(id),
      socket_(std::move(socket)),
      address_(peer.to_string()),
      local_(peer.is_loopback()),
      messages_(shared.options.query_bytes_max + kMessageSlack),
      spill_file_(shared.options.spill_folder) {}

void KdbConnection::begin() { wait_for_input(); }

// Between reads it costs no buffer.
void KdbConnection::wait_for_input() {
    if (waits_for_input_ || !may_read()) return;
    waits_for_input_ = true;
    socket_.async_wait(tcp::socket::wait_read,
                       [self = shared_from_this()](const error_code& error) {
                           self->waits_for_input_ = false;
                           if (!error) self->read();
                       });
}

bool KdbConnection::may_read() const {
    switch (state_) {
        case State::kGreeting:
        case State::kDiscarding:
            return true;
        case State::kOpen:
            return !blocked_ || finished() < kRepliesAhead;
        case State::kChecking:
        case State::kClosed:
            return false;
    }
    return false;
}

void KdbConnection::read() {
    const auto buffer = shared_.read_buffer;
    for (std::size_t taken = 0; taken < kReadAtOnce && may_read();) {
        error_code error;
        const auto count =
            socket_.read_some(boost::asio::buffer(buffer.data(), buffer.size()), error);
        if (error == boost::asio::error::would_block) break;
        if (error == boost::asio::error::interrupted) continue;
        // A client that sends no more has closed: q has no half-open connections.
        if (error) return close();
        take(buffer.first(count));
        taken += count;
        if (count < buffer.size()) break;
    }
    wait_for_input();
}

void KdbConnection::take(std::span<const std::byte> input) {
    if (state_ == State::kGreeting) take_greeting(input);
    if (state_ == State::kChecking) early_.assign(input.begin(), input.end());
    if (state_ == State::kOpen) take_messages(input);
}

// ---- The handshake

void KdbConnection::take_greeting(std::span<const std::byte>& input) {
    const auto handshake = greeting_.read(input);
    if (!handshake) return close();
    if (*handshake) let_in(**handshake);
}

// A refusal is a close without a word. The answer to a check may come from another thread.
void KdbConnection::let_in(const kdb::Handshake& handshake) {
    user_ = handshake.user;
    capability_ = handshake.capability;
    if (shared_.options.authenticator == nullptr) return welcome();
    state_ = State::kChecking;
    auto done = [weak = weak_from_this(),
                 executor = socket_.get_executor()](auth::Verdict verdict) {
        boost::asio::post(executor, [weak, verdict] {
            const auto self = weak.lock();
            if (!self || self->state_ != State::kChecking) return;
            if (verdict != auth::Verdict::kAccepted) return self->close();
            self->welcome();
            self->take(std::exchange(self->early_, {}));
            self->wait_for_input();
        });
    };
    shared_.options.authenticator->check(
        {handshake.user, auth::Secret(handshake.password), address_, std::move(done)});
}

void KdbConnection::welcome() {
    const auto answer = static_cast<std::byte>(std::min(capability_, kCapabilityMax));
    error_code error;
    // A segment of its own, into an empty send buffer: it cannot be cut short.
    socket_.write_some(boost::asio::buffer(&answer, 1), error);
    if (error) return close();
    state_ = State::kOpen;
    introduced_ = true;
    shared_.say(KdbArrived{id_, user_, address_});
}

// ---- Messages

void KdbConnection::take_messages(std::span<const std::byte>& input) {
    while (state_ == State::kOpen && !input.empty()) {
        const auto message = messages_.read(input);
        if (!message) return refuse_and_end(message.error());
        if (*message) take_message(**message);
    }
}

void KdbConnection::take_message(const kdb::Message& message) {
    if (message.kind == kdb::Kind::kResponse) return;  // Nobody has asked.
    const auto line = message.kind == kdb::Kind::kSync ? kSyncLine : kDeferredLine;
    const auto query = kdb::read_query(message.body, message.order);
    if (!query) return refuse(line, query.error().code, query.error().message);
    if (!*query) {  // An error object. Who sends it sync waits for something all the same.
        if (line == kSyncLine)
            refuse(line, ErrorCode::kBadRequest, "an error (kdb+ type -128) is not a query");
        return;
    }
    if ((*query)->is_blank()) return answer(line, {});
    ask(line, **query);
}

void KdbConnection::ask(Line line, const kdb::Query& query) {
    KdbAsked asked{.connection = id_, .id = ++last_id_, .mode = {}, .text = {}, .parameters = {}};
    const bool sync = line == kSyncLine && shared_.options.sync == KdbSync::kPrimary;
    asked.mode = sync ? proto::Mode::kSync : proto::Mode::kDeferred;
    asked.text = frame_of(std::as_bytes(std::span(query.text)));
    if (!query.parameters.empty())
        asked.parameters = frame_of(proto::encode_parameters(query.parameters));
    lines_[line].expect(asked.id);
    waiting_.emplace(asked.id, Waiting{line, std::nullopt, std::nullopt});
    shared_.say(std::move(asked));
}

// A request that goes nowhere has its turn among the replies all the same.
void KdbConnection::answer(Line line, Finished reply) {
    const auto id = ++last_id_;
    lines_[line].expect(id);
    waiting_.emplace(id, Waiting{line, std::nullopt, std::nullopt});
    end_request(id, std::move(reply));
}

void KdbConnection::refuse(Line line, ErrorCode code, std::string_view message) {
    answer(line, {std::nullopt, kdb_error_text(code, message)});
}

// Where the next message begins is not known. What was asked before is answered, and what still
// comes is read and thrown away: to close in the face of data would take the error with it.
void KdbConnection::refuse_and_end(const Error& error) {
    const auto& header = messages_.header();
    const bool sync = header && header->kind == kdb::Kind::kSync;
    state_ = State::kDiscarding;
    since_ = Clock::now();
    const auto line = sync ? kSyncLine : kDeferredLine;
    if (error.code != ErrorCode::kTooLarge || !header)
        return refuse(line, error.code, error.message);
    // The reader's limit has room for heads, which the operator knows nothing of.
    refuse(line, error.code,
           fmt::format("a message of {} bytes{}; text and parameters may have {} "
                       "(--max-query-bytes)",
                       header->bytes, header->compressed ? ", compressed" : "",
                       shared_.options.query_bytes_max));
}

}  // namespace shortq::primary
