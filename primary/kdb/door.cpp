#include "primary/kdb/door.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <unordered_map>
#include <utility>

#include "primary/kdb/connection.h"
#include "primary/overloaded.h"

namespace shortq::primary {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::seconds kLook{1};
constexpr std::chrono::seconds kLinger{1};
constexpr std::chrono::milliseconds kAcceptAgain{100};  // When there are no descriptors left.
constexpr std::size_t kReadBufferBytes = std::size_t{256} << 10;

Buffer as_buffer(zmq::message_t& message) {
    auto owner = std::make_shared<const zmq::message_t>(std::move(message));
    const std::span bytes(static_cast<const std::byte*>(owner->data()), owner->size());
    return {bytes, std::move(owner)};
}

tcp::endpoint endpoint_of(const KdbDoorOptions& options) {
    error_code error;
    auto text = options.address;
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    const auto address = asio::ip::make_address(text, error);
    if (error) throw std::runtime_error(fmt::format("{} is no address", options.address));
    return {address, options.port};
}

}  // namespace

// The door's thread.
class KdbDoor::Loop {
public:
    Loop(KdbDoorOptions options, KdbListener listener)
        : options_(std::move(options)), say_(std::move(listener)), acceptor_(io_) {
        listen();
        accept();
        look_at_clock();
        thread_ = std::thread([this] { io_.run(); });
    }
    ~Loop() {
        stop();
        encoders_.join();
    }
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    [[nodiscard]] tcp::endpoint endpoint() const { return acceptor_.local_endpoint(); }

    // From the dispatch thread. Many in a row wake this thread once.
    struct Piece {
        proto::Reply header;
        std::vector<Buffer> bodies;
    };
    struct ErrorText {
        std::uint64_t id = 0;
        std::string text;
    };
    struct Close {};
    struct Order {
        KdbConnectionId connection{};
        std::variant<Piece, ErrorText, Close> what;
    };
    void order(Order order) {
        bool first = false;
        {
            const std::scoped_lock lock(mutex_);
            first = orders_.empty();
            orders_.push_back(std::move(order));
        }
        if (first) asio::post(io_, [this] { carry_out(); });
    }

    void stop() {
        if (!thread_.joinable()) return;
        asio::post(io_, [this] { leave(); });
        thread_.join();
    }

private:
    void listen();
    void accept();
    void note_failure(const error_code& why);
    void welcome(tcp::socket socket);
    void look_at_clock();
    void carry_out();
    void leave();
    void end_if_empty() {
        if (leaving_ && connections_.empty()) io_.stop();
    }

    KdbDoorOptions options_;
    KdbListener say_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    asio::steady_timer accept_again_{io_};
    // When it last could not; none: it can. The log is told of the change, not of each try.
    std::optional<KdbConnection::Clock::time_point> accept_failed_;
    asio::steady_timer look_{io_};
    asio::steady_timer linger_{io_};
    std::vector<std::byte> read_buffer_{kReadBufferBytes};
    asio::thread_pool encoders_{1};
    KdbConnection::Shared shared_{options_, say_, read_buffer_, encoders_,
                                  [this](KdbConnectionId id) {
                                      // Later: it may be in the middle of something.
                                      asio::post(io_, [this, id] {
                                          connections_.erase(id);
                                          end_if_empty();
                                      });
                                  }};
    std::unordered_map<KdbConnectionId, std::shared_ptr<KdbConnection>> connections_;
    std::uint64_t last_connection_ = 0;
    bool leaving_ = false;

    std::mutex mutex_;  // Guards orders_.
    std::vector<Order> orders_;
    std::thread thread_;
};

void KdbDoor::Loop::listen() try {
    const auto endpoint = endpoint_of(options_);
    acceptor_.open(endpoint.protocol());
    acceptor_.set_option(tcp::acceptor::reuse_address(true));
    acceptor_.bind(endpoint);
    acceptor_.listen();
    acceptor_.non_blocking(true);
} catch (const std::exception& error) {
    const auto* const system = dynamic_cast<const boost::system::system_error*>(&error);
    const auto why = system != nullptr ? system->code().message() : error.what();
    throw std::runtime_error(
        fmt::format("cannot listen for kdb+ clients on {}:{}: {}; choose "
                    "another --kdb-port or --kdb-listen",
                    options_.address, options_.port, why));
}

void KdbDoor::Loop::accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
        if (leaving_) return;
        if (!error) {
            welcome(std::move(socket));
            return accept();
        }
        note_failure(error);
        accept_again_.expires_after(kAcceptAgain);
        accept_again_.async_wait([this](const error_code& stopped) {
            if (!stopped) accept();
        });
    });
}

void KdbDoor::Loop::note_failure(const error_code& why) {
    if (!accept_failed_) {
        spdlog::warn("kdb+ door: cannot accept connections, who comes has to wait: {}",
                     why.message());
    }
    accept_failed_ = KdbConnection::Clock::now();
}

void KdbDoor::Loop::welcome(tcp::socket socket) {
    error_code error;
    const auto peer = socket.remote_endpoint(error);
    if (error) return;  // Gone already.
    socket.non_blocking(true, error);
    socket.set_option(tcp::no_delay(true), error);
    socket.set_option(asio::socket_base::keep_alive(true), error);
    const KdbConnectionId id{++last_connection_};
    const auto connection =
        std::make_shared<KdbConnection>(shared_, id, std::move(socket), peer.address());
    connections_.emplace(id, connection);
    connection->begin();
}

void KdbDoor::Loop::look_at_clock() {
    look_.expires_after(kLook);
    look_.async_wait([this](const error_code& stopped) {
        if (stopped) return;
        const auto now = KdbConnection::Clock::now();
        for (const auto& [id, connection] : connections_) connection->look_at_clock(now);
        if (accept_failed_ && now - *accept_failed_ > kLook) {  // Many tries ago.
            accept_failed_.reset();
            spdlog::info("kdb+ door: connections are accepted again");
        }
        look_at_clock();
    });
}

void KdbDoor::Loop::carry_out() {
    std::vector<Order> orders;
    {
        const std::scoped_lock lock(mutex_);
        orders.swap(orders_);
    }
    for (auto& order : orders) {
        const auto found = connections_.find(order.connection);
        if (found == connections_.end()) continue;
        auto& connection = *found->second;
        std::visit(
            Overloaded{
                [&](Piece& piece) { connection.take_reply(piece.header, piece.bodies); },
                [&](ErrorText& error) { connection.take_error(error.id, std::move(error.text)); },
                [&](const Close&) { connection.close(); },
            },
            order.what);
    }
}

void KdbDoor::Loop::leave() {
    carry_out();
    leaving_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    accept_again_.cancel();
    for (const auto& [id, connection] : connections_) connection->finish();
    linger_.expires_after(kLinger);
    linger_.async_wait([this](const error_code& stopped) {
        if (stopped) return;
        for (const auto& [id, connection] : connections_) connection->close();
    });
    end_if_empty();
}

// ---- For the dispatch thread

KdbDoor::KdbDoor(KdbDoorOptions options, KdbListener listener)
    : loop_(std::make_unique<Loop>(std::move(options), std::move(listener))) {
    const auto endpoint = loop_->endpoint();
    const auto address = endpoint.address().to_string();
    endpoint_ = endpoint.address().is_v6() ? fmt::format("[{}]:{}", address, endpoint.port())
                                           : fmt::format("{}:{}", address, endpoint.port());
}

KdbDoor::~KdbDoor() = default;

void KdbDoor::send(KdbConnectionId connection, const proto::Reply& reply,
                   std::span<zmq::message_t> bodies) {
    std::vector<Buffer> buffers;
    buffers.reserve(bodies.size());
    for (auto& body : bodies) buffers.push_back(as_buffer(body));
    loop_->order({connection, Loop::Piece{reply, std::move(buffers)}});
}

void KdbDoor::send(KdbConnectionId connection, std::uint64_t id, std::string error_text) {
    loop_->order({connection, Loop::ErrorText{id, std::move(error_text)}});
}

void KdbDoor::close(KdbConnectionId connection) { loop_->order({connection, Loop::Close{}}); }

void KdbDoor::stop() { loop_->stop(); }

}  // namespace shortq::primary
