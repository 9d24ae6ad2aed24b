// worker/fork_channel.cpp: packets of msgpack on a SOCK_SEQPACKET pair, descriptors as ancillary
// data (unix(7), SCM_RIGHTS).
#include "worker/fork_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <msgpack.hpp>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

namespace shortq {
namespace {

constexpr std::size_t kPacketBytesMax = 128 * 1024;
constexpr std::size_t kTextBytesMax = 48 * 1024;  // Of each of an error's two texts.

enum class ReportKind : std::uint8_t {
    kBaseLoaded,
    kBaseFailed,
    kCannotFork,
    kForked,
    kForkFailed
};

// Every report has the same shape: kind, two numbers, two texts.
using Packet = std::tuple<std::uint8_t, std::uint64_t, std::uint64_t, std::string, std::string>;
using OrderPacket = std::tuple<std::uint64_t, std::uint32_t, std::string>;

std::string shortened(const std::string& text) { return text.substr(0, kTextBytesMax); }

Packet packet(ReportKind kind, std::uint64_t first, std::uint64_t second, const std::string& text,
              const std::string& place) {
    return {static_cast<std::uint8_t>(kind), first, second, shortened(text), shortened(place)};
}

Packet packet_of(const BaseLoaded& loaded) {
    return packet(ReportKind::kBaseLoaded, loaded.load_us, loaded.base_bytes, {}, {});
}
Packet packet_of(const BaseFailed& failed) {
    return packet(ReportKind::kBaseFailed, static_cast<std::uint64_t>(failed.error.code), 0,
                  failed.error.message, failed.error.where);
}
Packet packet_of(const CannotFork& cannot) {
    return packet(ReportKind::kCannotFork, 0, 0, cannot.reason, {});
}
Packet packet_of(const Forked& forked) {
    return packet(ReportKind::kForked, forked.worker, static_cast<std::uint64_t>(forked.pid), {},
                  {});
}
Packet packet_of(const ForkFailed& failed) {
    return packet(ReportKind::kForkFailed, failed.worker, 0, failed.reason, {});
}

Result<ForkReport> report_of(const Packet& packet) {
    const auto& [kind, first, second, text, place] = packet;
    switch (static_cast<ReportKind>(kind)) {
        case ReportKind::kBaseLoaded:
            return BaseLoaded{.load_us = first, .base_bytes = second};
        case ReportKind::kBaseFailed: {
            const auto code = error_code_from(first).value_or(ErrorCode::kInternal);
            return BaseFailed{Error{code, text, place, false}};
        }
        case ReportKind::kCannotFork:
            return CannotFork{text};
        case ReportKind::kForked:
            return Forked{.worker = first, .pid = static_cast<std::int64_t>(second)};
        case ReportKind::kForkFailed:
            return ForkFailed{.worker = first, .reason = text};
    }
    return fail(ErrorCode::kBadRequest, "an unknown kind of report", "fork server");
}

tl::unexpected<Error> gone() {
    return fail(ErrorCode::kUnavailable, "the other end has closed", "fork server");
}

// A descriptor as ancillary data of one message.
class Ancillary {
public:
    explicit Ancillary(msghdr& message) : message_(message) {
        message_.msg_control = bytes_.data();
        message_.msg_controllen = bytes_.size();
    }
    void put(int fd) {
        cmsghdr* header = CMSG_FIRSTHDR(&message_);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof fd);
        std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
    }
    [[nodiscard]] UniqueFd take() {
        const cmsghdr* header = CMSG_FIRSTHDR(&message_);
        if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return UniqueFd();
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
        return UniqueFd(fd);
    }

private:
    msghdr& message_;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> bytes_{};
};

Result<void> send_packet(int socket, std::string_view bytes, std::optional<int> fd) {
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (fd) {
        Ancillary ancillary(message);
        ancillary.put(*fd);
        while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
            if (errno != EINTR) return gone();
        }
        return {};
    }
    while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
        if (errno != EINTR) return gone();
    }
    return {};
}

// Bytes and a descriptor; no bytes: nothing is there, and the call did not wait.
struct Received {
    std::vector<char> bytes;
    UniqueFd fd;
};

Result<Received> receive_packet(int socket, int flags) {
    Received received;
    received.bytes.resize(kPacketBytesMax);
    iovec part{received.bytes.data(), received.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    Ancillary ancillary(message);
    ssize_t size = 0;
    do {
        size = ::recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    } while (size < 0 && errno == EINTR);
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        received.bytes.clear();
        return received;
    }
    if (size <= 0) return gone();
    received.fd = ancillary.take();
    received.bytes.resize(static_cast<std::size_t>(size));
    return received;
}

template <class T>
Result<T> unpacked(std::span<const char> bytes) try {
    return msgpack::unpack(bytes.data(), bytes.size()).get().as<T>();
} catch (const std::exception&) {
    return fail(ErrorCode::kBadRequest, "a packet that is not understood", "fork server");
}

}  // namespace

Result<std::pair<ForkChannel, ForkChannel>> ForkChannel::make() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        return fail(ErrorCode::kInternal, std::string("socketpair: ") + std::strerror(errno),
                    "starting a fork server");
    }
    return std::pair(ForkChannel(UniqueFd(ends[0])), ForkChannel(UniqueFd(ends[1])));
}

Result<void> ForkChannel::send(const ForkOrder& order, int board_fd) {
    msgpack::sbuffer buffer;
    msgpack::pack(buffer, OrderPacket{order.worker, order.seat, order.temp_directory});
    return send_packet(socket_.get(), {buffer.data(), buffer.size()}, board_fd);
}

Result<void> ForkChannel::send(const ForkReport& report) {
    msgpack::sbuffer buffer;
    msgpack::pack(buffer, std::visit([](const auto& one) { return packet_of(one); }, report));
    return send_packet(socket_.get(), {buffer.data(), buffer.size()}, std::nullopt);
}

Result<ForkChannel::Order> ForkChannel::receive_order() {
    auto received = receive_packet(socket_.get(), 0);
    if (!received) return tl::unexpected(received.error());
    auto packet = unpacked<OrderPacket>(received->bytes);
    if (!packet) return tl::unexpected(packet.error());
    auto& [worker, seat, temp_directory] = *packet;
    return Order{{worker, seat, std::move(temp_directory)}, std::move(received->fd)};
}

Result<std::optional<ForkReport>> ForkChannel::receive_report() {
    const auto received = receive_packet(socket_.get(), MSG_DONTWAIT);
    if (!received) return tl::unexpected(received.error());
    if (received->bytes.empty()) return std::optional<ForkReport>();
    const auto packet = unpacked<Packet>(received->bytes);
    if (!packet) return tl::unexpected(packet.error());
    auto report = report_of(*packet);
    if (!report) return tl::unexpected(report.error());
    return std::optional(std::move(*report));
}

}  // namespace shortq
