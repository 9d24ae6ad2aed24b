#include "tests/end-to-end/kdb/kdb_client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace shortq::test {
namespace {

[[noreturn]] void give_up(const std::string& why) {
    throw std::runtime_error("kdb client: " + why);
}

UniqueFd connect_to(std::uint16_t port) {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        give_up(std::string("cannot connect: ") + std::strerror(errno));
    const int on = 1;
    ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
}

}  // namespace

KdbClient::KdbClient(std::uint16_t port) : socket_(connect_to(port)) {}

KdbClient::KdbClient(std::uint16_t port, std::string_view greeting) : KdbClient(port) {
    if (!greet(greeting)) give_up("not let in");
}

bool KdbClient::wait(std::chrono::milliseconds patience) const {
    pollfd ready{socket_.get(), POLLIN, 0};
    return ::poll(&ready, 1, static_cast<int>(patience.count())) > 0;
}

std::optional<std::size_t> KdbClient::read(std::span<std::byte> into) {
    if (!wait(kPatience)) give_up("nothing came");
    const auto count = ::recv(socket_.get(), into.data(), into.size(), 0);
    if (count <= 0) return std::nullopt;
    return static_cast<std::size_t>(count);
}

std::optional<std::uint8_t> KdbClient::greet(std::string_view greeting, bool more_follows) {
    send(greeting);
    // Room for two, so that a second byte would be seen.
    std::array<std::byte, 2> answer{};
    const auto count = read(std::span(answer).first(more_follows ? 1 : 2));
    if (!count) return std::nullopt;
    if (*count != 1) give_up("the answer to the handshake is not one byte");
    return std::to_integer<std::uint8_t>(answer[0]);
}

void KdbClient::send(std::string_view bytes) const { send(std::as_bytes(std::span(bytes))); }

void KdbClient::send(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
        const auto count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (count <= 0) return;  // It ended: what follows shows it.
        bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
}

void KdbClient::deferred(std::string_view text) const {
    send(kdb::encode_message(kdb::text_of(text), kdb::Kind::kAsync));
}

void KdbClient::sync(std::string_view text) const {
    send(kdb::encode_message(kdb::text_of(text), kdb::Kind::kSync));
}

void KdbClient::deferred(std::string_view text, std::vector<kdb::Object> arguments) const {
    arguments.insert(arguments.begin(), kdb::text_of(text));
    send(kdb::encode_message(kdb::list_of(std::move(arguments)), kdb::Kind::kAsync));
}

void KdbClient::end_of_requests() const { ::shutdown(socket_.get(), SHUT_WR); }

void KdbClient::reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_ = UniqueFd();
}

KdbReply KdbClient::receive() {
    constexpr std::size_t kChunk = 1 << 20;
    while (true) {
        std::span<const std::byte> rest = std::span(input_).subspan(used_);
        if (!rest.empty()) {
            const auto before = rest.size();
            const auto message = messages_.read(rest);
            used_ += before - rest.size();
            if (!message) give_up(message.error().message);
            if (*message) {
                auto object = kdb::decode((*message)->body, (*message)->order);
                if (!object) give_up(object.error().message);
                const auto& header = *messages_.header();
                return {(*message)->kind, std::move(*object), header.compressed, header.bytes};
            }
        }
        input_.resize(kChunk);
        used_ = 0;
        const auto count = read(input_);
        if (!count) {
            input_.clear();
            give_up("the connection ended");
        }
        input_.resize(*count);
    }
}

bool KdbClient::is_ended(std::chrono::milliseconds patience) {
    if (used_ < input_.size() || !wait(patience)) return false;
    std::byte one{};
    return ::recv(socket_.get(), &one, 1, 0) <= 0;
}

bool KdbClient::is_silent(std::chrono::milliseconds duration) const {
    return used_ == input_.size() && !wait(duration);
}

std::string KdbClient::text() { return text_of_reply(receive().object); }

namespace {

const std::vector<kdb::Object>& parts(const kdb::Object& object) {
    const auto* items = std::get_if<std::vector<kdb::Object>>(&object.items);
    if (items == nullptr) give_up("no list: " + kdb::name_of_type(object.type));
    return *items;
}

template <class T>
std::string one_of(const std::vector<T>& items) {
    if (items.empty()) return "no row";
    if constexpr (std::is_same_v<T, std::string>) {
        return items.front();
    } else if constexpr (std::is_arithmetic_v<T>) {
        return fmt::format("{}", items.front());
    } else if constexpr (std::is_same_v<T, kdb::Object>) {
        return text_of_reply(items.front());
    } else {
        return "?";
    }
}

}  // namespace

std::vector<std::string> column_names(const kdb::Object& table) {
    const auto& dictionary = parts(parts(table).at(0));
    return std::get<std::vector<std::string>>(dictionary.at(0).items);
}

const kdb::Object& column(const kdb::Object& table, std::size_t index) {
    return parts(parts(parts(table).at(0)).at(1)).at(index);
}

std::string text_of_reply(const kdb::Object& object) {
    if (object.type == static_cast<std::int8_t>(kdb::Type::kError))
        return "error: " + std::get<std::string>(object.items);
    if (object.type == static_cast<std::int8_t>(kdb::Type::kUnary)) return "nothing";
    if (object.type == static_cast<std::int8_t>(kdb::Type::kTable))
        return text_of_reply(column(object, 0));
    if (const auto* text = std::get_if<std::string>(&object.items)) return *text;
    return std::visit(
        [](const auto& items) -> std::string {
            if constexpr (std::is_same_v<std::decay_t<decltype(items)>, std::string>) {
                return items;
            } else {
                return one_of(items);
            }
        },
        object.items);
}

std::uint16_t kdb_port(const std::string& log) {
    constexpr std::string_view kBefore = "kdb+ clients are served at 127.0.0.1:";
    const auto at = log.find(kBefore);
    if (at == std::string::npos) give_up("no kdb+ door: " + log);
    return static_cast<std::uint16_t>(std::stoi(log.substr(at + kBefore.size())));
}

}  // namespace shortq::test
