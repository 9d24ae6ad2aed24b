#include "tools/bench/shortq_server.h"

#include <utility>

namespace shortq::bench {

Result<ShortqServer> ShortqServer::start(const std::vector<std::string>& arguments,
                                         Transport transport) {
    auto folder = std::make_unique<TemporaryFolder>();
    std::vector<std::string> line{program_next_to_this_one("shortq"), "-p", "0", "--log-level",
                                  "warn"};
    if (transport == Transport::kIpc)
        line.insert(line.end(), {"--listen", "ipc://" + (folder->path() / "clients").string()});
    line.insert(line.end(), arguments.begin(), arguments.end());
    auto primary = Child::start(line);
    if (!primary) return tl::unexpected(primary.error());
    return ShortqServer(std::move(folder), std::move(*primary));
}

Result<Client> ShortqServer::connect() const {
    ConnectOptions options;
    options.endpoints = {endpoint()};
    options.wait_until_ready = true;
    return Client::connect(options);
}

}  // namespace shortq::bench
