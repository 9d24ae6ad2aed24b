#include "shortq/client.h"

#include <utility>

#include "client/connection.h"
#include "client/server_key.h"

namespace shortq {

Result<Client> Client::connect(ConnectOptions options) {
    if (options.endpoints.empty()) return fail(ErrorCode::kBadRequest, "no endpoint given");
    for (const auto& endpoint : options.endpoints) {
        if (auto checked = detail::Transport::check(endpoint); !checked) {
            return tl::unexpected(std::move(checked.error()));
        }
    }
    if (options.connect_timeout.count() == 0)
        options.connect_timeout = std::chrono::seconds(options.password.empty() ? 5 : 10);
    if (!options.server_key.empty()) {
        auto key = detail::find_server_key(options.server_key);
        if (!key) return tl::unexpected(std::move(key.error()));
        options.server_key = std::move(*key);
    }
    auto connection = std::make_shared<detail::Connection>(std::move(options));
    if (auto open = connection->wait_until_open(); !open) {
        return tl::unexpected(std::move(open.error()));
    }
    return Client(std::move(connection));
}

Client::Client(std::shared_ptr<detail::Connection> connection)
    : connection_(std::move(connection)) {}
Client::Client(Client&&) noexcept = default;

Client& Client::operator=(Client&& other) noexcept {
    std::swap(connection_, other.connection_);
    return *this;
}

Client::~Client() {
    if (connection_) connection_->close();  // A stream may keep it for what has arrived.
}

Result<Table> Client::sync(std::string_view text, const Parameters& parameters,
                           const QueryOptions& options) {
    return connection_->ask(proto::Mode::kSync, text, parameters, options);
}

Result<Table> Client::deferred(std::string_view text, const Parameters& parameters,
                               const QueryOptions& options) {
    return connection_->ask(proto::Mode::kDeferred, text, parameters, options);
}

Result<RequestNumber> Client::async(std::string_view text, const Parameters& parameters,
                                    const QueryOptions& options) {
    return connection_->async(text, parameters, options);
}

Result<Arrived> Client::wait() { return connection_->wait(std::nullopt); }
Result<Arrived> Client::wait_for(std::chrono::milliseconds limit) {
    return connection_->wait(limit);
}

Submitted Client::submit(std::string_view text, const Parameters& parameters,
                         const QueryOptions& options) {
    return connection_->submit(proto::Mode::kDeferred, text, parameters, options);
}

Submitted Client::submit_sync(std::string_view text, const Parameters& parameters,
                              const QueryOptions& options) {
    return connection_->submit(proto::Mode::kSync, text, parameters, options);
}

Result<Stream> Client::stream(std::string_view text, const Parameters& parameters,
                              const QueryOptions& options) {
    const auto number = connection_->begin_stream(text, parameters, options);
    if (!number) return tl::unexpected(number.error());
    return Stream(connection_, *number);
}

void Client::cancel(RequestNumber number) { connection_->cancel(number); }
ServerInfo Client::server() const { return connection_->server(); }

std::string_view version() noexcept { return SHORTQ_VERSION; }

}  // namespace shortq
