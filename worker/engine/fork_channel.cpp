// worker/engine/fork_channel.cpp: packets on a SOCK_SEQPACKET pair, descriptors as ancillary data
// (unix(7), SCM_RIGHTS).
#include "worker/engine/fork_channel.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace shortq {
namespace {

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

Result<void> send_message(int socket, const msghdr& message) {
    while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR) continue;
        if (errno == EPIPE || errno == ECONNRESET || errno == ENOTCONN) return gone();
        return fail(ErrorCode::kInternal, std::string("sendmsg: ") + std::strerror(errno),
                    "fork server");
    }
    return {};
}

Result<void> send_packet(int socket, std::vector<std::byte> bytes, std::optional<int> fd) {
    iovec part{bytes.data(), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (!fd) return send_message(socket, message);
    Ancillary ancillary(message);
    ancillary.put(*fd);
    return send_message(socket, message);
}

// Bytes and a descriptor; no bytes: nothing is there, and the call did not wait.
struct Received {
    std::vector<std::byte> bytes;
    UniqueFd fd;
};

Result<Received> receive_packet(int socket, int flags) {
    Received received;
    received.bytes.resize(proto::kForkPacketBytesMax);
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
    return send_packet(socket_.get(), proto::encode(order), board_fd);
}

Result<void> ForkChannel::send(const ForkReport& report) {
    return send_packet(socket_.get(), proto::encode(report), std::nullopt);
}

Result<ForkChannel::Order> ForkChannel::receive_order() {
    auto received = receive_packet(socket_.get(), 0);
    if (!received) return tl::unexpected(received.error());
    auto order = proto::decode_fork_order(received->bytes);
    if (!order) return tl::unexpected(order.error());
    return Order{std::move(*order), std::move(received->fd)};
}

Result<std::optional<ForkReport>> ForkChannel::receive_report() {
    const auto received = receive_packet(socket_.get(), MSG_DONTWAIT);
    if (!received) return tl::unexpected(received.error());
    if (received->bytes.empty()) return std::optional<ForkReport>();
    auto report = proto::decode_fork_report(received->bytes);
    if (!report) return tl::unexpected(report.error());
    return std::optional(std::move(*report));
}

}  // namespace shortq
