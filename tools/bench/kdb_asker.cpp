#include "tools/bench/kdb_asker.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "proto/kdb/object.h"

namespace shortq::bench {
namespace {

sockaddr_in local_address(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

tl::unexpected<Error> lost(const char* what) {
    return fail(ErrorCode::kConnection, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

std::uint16_t free_port() {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    auto address = local_address(0);
    socklen_t size = sizeof address;
    ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size);
    ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size);
    return ntohs(address.sin_port);
}

Result<KdbAsker> KdbAsker::connect(std::uint16_t port) {
    KdbAsker asker(UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)));
    const auto address = local_address(port);
    if (::connect(asker.socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                  sizeof address) != 0)
        return lost("cannot connect to the kdb+ door");
    const int on = 1;
    ::setsockopt(asker.socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    const std::string_view greeting("bench\x03\0", 7);
    const auto bytes = std::as_bytes(std::span(greeting));
    if (auto sent = asker.send({bytes.begin(), bytes.end()}); !sent)
        return tl::unexpected(sent.error());
    if (const auto answer = asker.receive(); !answer) return tl::unexpected(answer.error());
    return asker;
}

Result<void> KdbAsker::send(const std::vector<std::byte>& bytes) {
    const auto sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(bytes.size())) return lost("cannot send a query");
    return {};
}

Result<std::size_t> KdbAsker::receive() {
    const auto count = ::recv(socket_.get(), input_.data(), input_.size(), 0);
    if (count <= 0) return lost("the kdb+ door hung up");
    return static_cast<std::size_t>(count);
}

Result<void> KdbAsker::ask(std::string_view text) {
    if (auto sent = send(kdb::encode_message(kdb::text_of(text), kdb::Kind::kAsync)); !sent)
        return sent;
    while (true) {
        const auto count = receive();
        if (!count) return tl::unexpected(count.error());
        auto bytes = std::span<const std::byte>(input_).first(*count);
        const auto message = messages_.read(bytes);
        if (!message) return tl::unexpected(message.error());
        if (!*message) continue;
        const auto object = kdb::decode((*message)->body, (*message)->order);
        if (!object) return tl::unexpected(object.error());
        if (object->type == static_cast<std::int8_t>(kdb::Type::kError))
            return fail(ErrorCode::kQueryError, std::get<std::string>(object->items));
        return {};
    }
}

}  // namespace shortq::bench
