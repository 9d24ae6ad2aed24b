#include "client/transport.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <zmq.hpp>

#include "proto/bundle.h"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace shortq::detail {
namespace {

// How long a goodbye may take to leave when a socket closes.
constexpr int kLingerMs = 200;
constexpr int kReconnectMs = 100;
constexpr std::size_t kFramesUsual = 8;  // Of a message: a small result's header, schema, batch.
constexpr const char* kMonitorEndpoint = "inproc://monitor";

Buffer as_buffer(zmq::message_t message) {
    auto owner = std::make_shared<const zmq::message_t>(std::move(message));
    const std::span bytes(static_cast<const std::byte*>(owner->data()), owner->size());
    return {bytes, std::move(owner)};
}

// ZeroMQ hands a frame from the thread that made it to its IO thread, which frees it. It is not
// instrumented, so ThreadSanitizer has to be told of that edge; elsewhere these do nothing.
#if defined(__SANITIZE_THREAD__)
void handed_over(void* owner) noexcept { __tsan_release(owner); }
void taken_over(void* owner) noexcept { __tsan_acquire(owner); }
#else
void handed_over(void* /*owner*/) noexcept {}
void taken_over(void* /*owner*/) noexcept {}
#endif

void release_owner(void* /*data*/, void* hint) noexcept {
    taken_over(hint);
    const std::unique_ptr<std::shared_ptr<const void>> owner(
        static_cast<std::shared_ptr<const void>*>(hint));
}

// A signal to a thread that serves the socket may interrupt what is done with it. Then again.
template <class Do>
auto retried(const Do& action) {
    for (;;) try {
            return action();
        } catch (const zmq::error_t& error) {
            if (error.num() != EINTR) throw;
        }
}

// Where much is done with sockets, and seldom.
class SignalsBlocked {
public:
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_{};
};

// A large buffer is not copied: the frame keeps it alive until ZeroMQ has sent it.
zmq::message_t as_message(const Buffer& buffer) {
    constexpr std::size_t kCopyBelowBytes = 4096;
    const auto& bytes = buffer.bytes;
    if (bytes.size() < kCopyBelowBytes || !buffer.owner) return {bytes.data(), bytes.size()};
    auto owner = std::make_unique<std::shared_ptr<const void>>(buffer.owner);
    // ZeroMQ's signature takes a pointer to mutable bytes, but it does not write to them.
    auto* begin = const_cast<std::byte*>(bytes.data());
    zmq::message_t message(begin, bytes.size(), &release_owner, owner.get());
    handed_over(owner.release());  // The frame frees it.
    return message;
}

// Only for an address like tcp://[::1]:5001: ZeroMQ takes the first address of a name, and with
// this on that is localhost's ::1, where a primary does not listen unless told to.
void allow_ipv6(zmq::socket_t& dealer, const std::string& endpoint) {
    dealer.set(zmq::sockopt::ipv6, endpoint.find('[') != std::string::npos);
}

}  // namespace

// Both are waited for by their descriptors (ZMQ_FD): a round of zmq_poll costs a dozen system
// calls. A descriptor tells of a change only once, and whatever is done with its socket may swallow
// that; so it is remembered whether the last thing done was to find nothing.
class Transport::Sockets {
public:
    zmq::context_t context{1};
    zmq::socket_t dealer;
    zmq::socket_t monitor;
    int dealer_descriptor = -1;
    int monitor_descriptor = -1;
    bool dealer_drained = true;
    bool monitor_drained = true;
    proto::BundleWriter bundle;
    std::shared_ptr<const void> unpacking;  // A bundle that is taken apart.
    proto::BundleReader unpacker;
    std::vector<std::span<const std::byte>> parts;  // Reused.
    unsigned opened = 0;
    bool monitored = false;
    std::string server_key;
    std::string public_key;  // Of a pair that lasts as long as this: it identifies nobody.
    std::string secret_key;

    void make_keys() {
        constexpr std::size_t kTextBytes = 41;
        std::array<char, kTextBytes> open{};
        std::array<char, kTextBytes> secret{};
        if (zmq_curve_keypair(open.data(), secret.data()) != 0) throw zmq::error_t();
        public_key = open.data();
        secret_key = secret.data();
    }

    void encrypt() {
        if (server_key.empty()) return;
        if (public_key.empty()) make_keys();
        dealer.set(zmq::sockopt::curve_serverkey, server_key);
        dealer.set(zmq::sockopt::curve_publickey, public_key);
        dealer.set(zmq::sockopt::curve_secretkey, secret_key);
    }

    void open(const std::string& endpoint) {
        close();
        dealer = zmq::socket_t(context, zmq::socket_type::dealer);
        dealer.set(zmq::sockopt::linger, kLingerMs);
        dealer.set(zmq::sockopt::reconnect_ivl, kReconnectMs);
        dealer.set(zmq::sockopt::sndhwm, 0);  // Bounded by the server's limit of open requests.
        dealer.set(zmq::sockopt::tcp_keepalive, 1);
        allow_ipv6(dealer, endpoint);
        encrypt();
        const auto address = kMonitorEndpoint + std::to_string(++opened);
        const int events = ZMQ_EVENT_DISCONNECTED | ZMQ_EVENT_CONNECT_RETRIED |
                           ZMQ_EVENT_MONITOR_STOPPED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                           ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
        monitor = zmq::socket_t(context, zmq::socket_type::pair);
        monitor.set(zmq::sockopt::linger, 0);
        if (zmq_socket_monitor(dealer.handle(), address.c_str(), events) != 0) throw zmq::error_t();
        monitored = true;
        monitor.connect(address);
        dealer.connect(endpoint);
        dealer_descriptor = dealer.get(zmq::sockopt::fd);
        monitor_descriptor = monitor.get(zmq::sockopt::fd);
        dealer_drained = false;
        monitor_drained = false;
    }

    void send(const std::vector<Buffer>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto more =
                i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
            auto message = as_message(frames[i]);
            // Without a high-water mark this cannot block.
            static_cast<void>(
                retried([&] { return dealer.send(message, more | zmq::send_flags::dontwait); }));
        }
        dealer_drained = false;
    }

    void unpack(Buffer body) {
        unpacker = proto::BundleReader(body.bytes);
        unpacking = std::move(body.owner);
    }

    // The next message in one copy of its own: who keeps it does not keep the others. What is
    // malformed becomes a message without a header, and the session counts it.
    std::vector<Buffer> next_of_bundle() {
        if (unpacker.done() || !unpacker.next(parts)) return {Buffer{}};
        constexpr std::size_t kAlignment = 8;  // Of the columns' values.
        const auto room = [](std::size_t size) {
            return (size + kAlignment - 1) / kAlignment * kAlignment;
        };
        std::size_t size = 0;
        for (const auto part : parts) size += room(part.size());
        const auto copy = std::make_shared<std::vector<std::byte>>(size);
        std::vector<Buffer> frames;
        frames.reserve(parts.size());
        auto rest = std::span(*copy);
        for (const auto part : parts) {
            std::ranges::copy(part, rest.begin());
            frames.push_back({rest.first(part.size()), copy});
            rest = rest.subspan(room(part.size()));
        }
        return frames;
    }

    void close() {
        unpacker = {};
        unpacking.reset();
        bundle.clear();
        // Only if somebody listens: it waits for room to say its last word.
        if (std::exchange(monitored, false)) zmq_socket_monitor(dealer.handle(), nullptr, 0);
        monitor.close();
        dealer.close();
    }
};

Transport::Transport(std::string server_key) : sockets_(std::make_unique<Sockets>()) {
    sockets_->server_key = std::move(server_key);
}
Transport::~Transport() { sockets_->close(); }

Result<void> Transport::check(const std::string& endpoint) {
    try {
        zmq::context_t context;
        zmq::socket_t dealer(context, zmq::socket_type::dealer);
        dealer.set(zmq::sockopt::linger, 0);
        allow_ipv6(dealer, endpoint);
        dealer.connect(endpoint);
        return {};
    } catch (const zmq::error_t& error) {
        // No fault of the endpoint's.
        if (error.num() == EMFILE || error.num() == ENFILE || error.num() == ENOMEM)
            return fail(ErrorCode::kConnection, std::string("cannot connect: ") + error.what());
        return fail(ErrorCode::kBadRequest, "malformed endpoint \"" + endpoint + "\" (" +
                                                error.what() +
                                                "); it should look like tcp://127.0.0.1:5001");
    }
}

void Transport::open(const std::string& endpoint) {
    const SignalsBlocked blocked;
    flush();
    sockets_->open(endpoint);
}

void Transport::send(const std::vector<Buffer>& frames, bool bundled) {
    auto& bundle = sockets_->bundle;
    std::size_t bytes = 0;
    for (const auto& frame : frames) bytes += frame.bytes.size();
    if (!bundled || !proto::BundleWriter::is_small(bytes, frames.size())) {
        flush();
        return sockets_->send(frames);
    }
    if (!bundle.has_room(bytes, frames.size())) flush();
    bundle.begin(frames.size());
    for (const auto& frame : frames) bundle.frame(frame.bytes);
}

void Transport::flush() {
    auto& bundle = sockets_->bundle;
    if (bundle.empty()) return;
    bundle.frames_to_send(sockets_->parts);
    std::vector<Buffer> frames;
    for (const auto part : sockets_->parts) frames.push_back({part, nullptr});
    sockets_->send(frames);
    bundle.clear();
}

std::optional<std::vector<Buffer>> Transport::receive() {
    if (!sockets_->unpacker.done()) return sockets_->next_of_bundle();
    if (sockets_->dealer_drained) return std::nullopt;
    std::vector<Buffer> frames;
    frames.reserve(kFramesUsual);
    for (bool more = true; more;) {
        zmq::message_t message;
        if (!retried([&] { return sockets_->dealer.recv(message, zmq::recv_flags::dontwait); })) {
            sockets_->dealer_drained = true;
            return std::nullopt;
        }
        more = message.more();
        frames.push_back(as_buffer(std::move(message)));
    }
    if (frames.size() != 2 || !proto::is_bundle(frames.front().bytes)) return frames;
    sockets_->unpack(std::move(frames[1]));
    return sockets_->next_of_bundle();
}

Transport::Changes Transport::changes() {
    Changes changes;
    if (std::exchange(sockets_->monitor_drained, true)) return changes;
    zmq::message_t event;
    const auto take = [&](zmq::message_t& frame) {
        return retried(
            [&] { return sockets_->monitor.recv(frame, zmq::recv_flags::dontwait).has_value(); });
    };
    while (take(event)) {
        std::uint16_t kind = 0;
        if (event.size() >= sizeof kind) std::memcpy(&kind, event.data(), sizeof kind);
        zmq::message_t address;
        if (event.more() && !take(address)) break;
        changes.disconnected |= kind == ZMQ_EVENT_DISCONNECTED;
        changes.refused |= kind == ZMQ_EVENT_CONNECT_RETRIED;
        const bool mismatch =
            kind == ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL || kind == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
        if (mismatch) changes.handshake = Handshake::kMismatch;
        if (kind == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL && changes.handshake == Handshake::kFine)
            changes.handshake = Handshake::kClosed;
    }
    return changes;
}

bool Transport::wait(int wake_descriptor, std::chrono::milliseconds longest) {
    if (!sockets_->dealer_drained || !sockets_->monitor_drained) return false;
    std::array<pollfd, 3> ready{{{wake_descriptor, POLLIN, 0},
                                 {sockets_->dealer_descriptor, POLLIN, 0},
                                 {sockets_->monitor_descriptor, POLLIN, 0}}};
    const auto timeout = static_cast<int>(std::min<std::int64_t>(longest.count(), INT_MAX));
    if (::poll(ready.data(), ready.size(), timeout) < 0) {
        if (errno == EINTR) return false;  // A signal: the caller looks around and waits again.
        throw std::system_error(errno, std::generic_category(), "poll");
    }
    sockets_->dealer_drained = ready[1].revents == 0;
    sockets_->monitor_drained = ready[2].revents == 0;
    return ready[0].revents != 0;
}

}  // namespace shortq::detail
