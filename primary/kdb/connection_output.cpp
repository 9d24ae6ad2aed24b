// primary/kdb/connection_output.cpp: class KdbConnection, what the client is told.
#include <fmt/format.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <utility>

#include "primary/kdb/connection.h"
#include "proto/kdb/compress.h"
#include "proto/kdb/reply.h"

namespace shortq::primary {
namespace {

using boost::asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint64_t kMemoryMax = std::uint64_t{64} << 20;  // Beyond it, results go to disk.
constexpr std::size_t kWriteAtOnce = std::size_t{256} << 10;
constexpr std::size_t kWriteInTurn = std::size_t{4} << 20;        // Before others have their turn.
constexpr std::size_t kCompressHere = std::size_t{64} << 10;      // Larger ones take a thread.
constexpr std::uint64_t kCompressMax = std::uint64_t{256} << 20;  // What `auto` holds twice.
constexpr std::size_t kKeepBytes = std::size_t{1} << 20;          // Of the write buffer.
constexpr std::chrono::seconds kGreetingMax{10};
constexpr std::chrono::seconds kDiscardingMax{5};  // After the last reply.

std::vector<std::byte> compressed(ResultWriter& writer) {
    std::vector<std::byte> message;
    message.reserve(writer.result().message_bytes());
    while (writer.append_piece(message)) {
    }
    auto smaller = kdb::compress(message);
    return smaller ? std::move(*smaller) : message;
}

}  // namespace

std::string kdb_error_text(ErrorCode code, std::string_view message) {
    if (code == ErrorCode::kQueryError) return std::string(message);
    return fmt::format("{}: {}", name_of(code), message);
}

// ---- Results that come

void KdbConnection::take_reply(const proto::Reply& reply, std::span<const Buffer> bodies) {
    const auto found = waiting_.find(reply.id);
    if (found == waiting_.end()) return;
    auto& waiting = found->second;
    bool complete = reply.last;
    if (!waiting.error) {
        if (!waiting.result) waiting.result.emplace(shared_.options.table);
        auto& result = *waiting.result;
        held_bytes_ -= result.bytes();
        bytes_in_memory_ -= result.bytes_in_memory();
        const auto added = result.add(reply, bodies);
        held_bytes_ += result.bytes();
        bytes_in_memory_ += result.bytes_in_memory();
        complete = added ? *added : reply.last;
        if (!added) {
            give_up(reply.id, waiting, added.error());
        } else {
            hold(reply.id, waiting);
        }
    }
    if (complete) {
        Finished reply_to_send{std::move(waiting.result), std::move(waiting.error)};
        if (reply_to_send.error) reply_to_send.result.reset();
        end_request(reply.id, std::move(reply_to_send));
    }
}

// Results wait in memory, then on disk, and then no more.
void KdbConnection::hold(std::uint64_t id, Waiting& waiting) {
    auto& result = *waiting.result;
    if (held_bytes_ > shared_.options.result_bytes_max) {
        return give_up(id, waiting,
                       {ErrorCode::kTooLarge,
                        fmt::format("results of more than {} bytes wait on this connection "
                                    "(--kdb-max-result-bytes)",
                                    shared_.options.result_bytes_max),
                        {},
                        false});
    }
    if (bytes_in_memory_ <= kMemoryMax) return;
    const auto before = result.bytes_in_memory();
    const auto spilled = result.spill(spill_file_);
    bytes_in_memory_ -= before - result.bytes_in_memory();
    if (!spilled) give_up(id, waiting, spilled.error());
}

void KdbConnection::give_up(std::uint64_t id, Waiting& waiting, const Error& error) {
    held_bytes_ -= waiting.result->bytes();
    bytes_in_memory_ -= waiting.result->bytes_in_memory();
    waiting.result.reset();
    waiting.error = kdb_error_text(error.code, error.message);
    shared_.say(KdbGaveUp{id_, id});
}

void KdbConnection::take_error(std::uint64_t id, std::string text) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    auto& waiting = found->second;
    if (waiting.result) {  // Of an attempt that did not come to its end.
        held_bytes_ -= waiting.result->bytes();
        bytes_in_memory_ -= waiting.result->bytes_in_memory();
    }
    end_request(id, {std::nullopt, waiting.error ? *waiting.error : std::move(text)});
}

void KdbConnection::end_request(std::uint64_t id, Finished reply) {
    const auto found = waiting_.find(id);
    if (found == waiting_.end()) return;
    lines_[found->second.line].finish(id, std::move(reply));
    waiting_.erase(found);
    write_more();
}

// ---- Writing

void KdbConnection::write_more() {
    if (state_ == State::kClosed || blocked_ || encoding_) return;
    for (std::size_t written = 0; written < kWriteInTurn;) {
        if (sent_ == out_.size()) {
            fill();
            if (out_.empty()) {
                if (!encoding_) all_is_sent();
                return;
            }
        }
        const auto before = sent_;
        if (!write_some()) return;
        written += sent_ - before;
    }
    blocked_ = true;  // By its neighbours.
    boost::asio::post(socket_.get_executor(), [self = shared_from_this()] {
        self->blocked_ = false;
        self->write_more();
    });
}

void KdbConnection::fill() {
    out_.clear();
    sent_ = 0;
    if (out_.capacity() > kKeepBytes) out_.shrink_to_fit();
    while (out_.size() < kWriteAtOnce && !encoding_) {
        if (!writer_) {
            if (!begin_next()) return;
        } else if (!writer_->append_piece(out_)) {
            held_bytes_ -= writer_->result().bytes();
            bytes_in_memory_ -= writer_->result().bytes_in_memory();
            writer_.reset();
        }
    }
}

bool KdbConnection::begin_next() {
    if (auto reply = lines_[kSyncLine].take()) {
        begin_reply(std::move(*reply), kdb::Kind::kResponse);
        return true;
    }
    if (auto reply = lines_[kDeferredLine].take()) {
        begin_reply(std::move(*reply), kdb::Kind::kAsync);
        return true;
    }
    return false;
}

void KdbConnection::begin_reply(Finished reply, kdb::Kind kind) {
    if (reply.error) return kdb::append_error(kind, *reply.error, out_);
    if (!reply.result) return kdb::append_nothing(kind, out_);
    const auto bytes = reply.result->message_bytes();
    writer_ = std::make_shared<ResultWriter>(std::move(*reply.result), kind);
    const auto policy = shared_.options.compress;
    const bool wanted = policy == KdbCompress::kAlways ||
                        (policy == KdbCompress::kAuto && !local_ && bytes <= kCompressMax);
    if (wanted && capability_ >= 1 && bytes > kdb::kCompressOverBytes) compress(writer_);
}

// The whole message, in one piece. A large one is not to hold up other connections.
void KdbConnection::compress(std::shared_ptr<ResultWriter> writer) {
    writer_.reset();
    const auto held = writer->result().bytes();
    const auto in_memory = writer->result().bytes_in_memory();
    const auto finish = [this, held, in_memory](const std::vector<std::byte>& message) {
        held_bytes_ -= held;
        bytes_in_memory_ -= in_memory;
        out_.insert(out_.end(), message.begin(), message.end());
    };
    if (writer->result().message_bytes() <= kCompressHere) return finish(compressed(*writer));
    encoding_ = true;
    boost::asio::post(
        shared_.encoders, [self = shared_from_this(), writer = std::move(writer), finish] {
            auto message = std::make_shared<std::vector<std::byte>>(compressed(*writer));
            boost::asio::post(self->socket_.get_executor(), [self, message, finish] {
                self->encoding_ = false;
                finish(*message);
                self->write_more();
            });
        });
}

// False: no more for now.
bool KdbConnection::write_some() {
    error_code error;
    const auto count =
        socket_.write_some(boost::asio::buffer(out_.data() + sent_, out_.size() - sent_), error);
    if (error == boost::asio::error::would_block) {
        blocked_ = true;
        socket_.async_wait(tcp::socket::wait_write,
                           [self = shared_from_this()](const error_code& failed) {
                               self->blocked_ = false;
                               if (failed) return;
                               self->write_more();
                               self->wait_for_input();
                           });
        return false;
    }
    if (error && error != boost::asio::error::interrupted) {
        close();
        return false;
    }
    sent_ += count;
    progress_ = Clock::now();
    return true;
}

void KdbConnection::all_is_sent() {
    if (state_ != State::kDiscarding || !waiting_.empty()) return;
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
}

// ---- Ends

void KdbConnection::look_at_clock(Clock::time_point now) {
    const auto stall = shared_.options.stall;
    const bool stalls = blocked_ && stall.count() > 0 && now - progress_ > stall;
    const bool greets = state_ == State::kGreeting && now - since_ > kGreetingMax;
    const bool lingers = state_ == State::kDiscarding && waiting_.empty() && finished() == 0 &&
                         now - std::max(since_, progress_) > kDiscardingMax;
    if (stalls || greets || lingers) close();
}

void KdbConnection::finish() {
    if (state_ == State::kOpen && (blocked_ || encoding_ || finished() > 0)) {
        // Nobody answers any more: what is not finished now never will be.
        waiting_.clear();
        state_ = State::kDiscarding;
        since_ = Clock::now();
        return wait_for_input();
    }
    discard_input();
    close();
}

// What lies here unread would make the system forget what it has not yet sent.
void KdbConnection::discard_input() {
    error_code error;
    const auto buffer = shared_.read_buffer;
    for (std::size_t count = 1, all = 0; !error && count > 0 && all < kWriteInTurn; all += count)
        count = socket_.read_some(boost::asio::buffer(buffer.data(), buffer.size()), error);
}

void KdbConnection::close() {
    if (state_ == State::kClosed) return;
    state_ = State::kClosed;
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
    waiting_.clear();
    lines_ = {};
    writer_.reset();
    if (std::exchange(introduced_, false)) shared_.say(KdbLeft{id_});
    shared_.ended(id_);
}

}  // namespace shortq::primary
