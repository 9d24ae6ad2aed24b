// tools/bench/shortq_server.h: a primary that a bench started.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/error.h"
#include "shortq/client.h"
#include "tools/bench/child.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {

// The way between clients and what answers them. Behind that one, it is ipc to the workers always.
enum class Transport : std::uint8_t { kTcp, kIpc };

class ShortqServer {
public:
    // `arguments` as on the command line, without where to listen: {"2", "startup.sql"}. Returns
    // when it can answer. Errors: kInternal if it does not start.
    [[nodiscard]] static Result<ShortqServer> start(const std::vector<std::string>& arguments,
                                                    Transport transport = Transport::kIpc);

    [[nodiscard]] std::string endpoint() const { return endpoint_in(primary_.first_line()); }
    [[nodiscard]] Result<Client> connect() const;

private:
    ShortqServer(std::unique_ptr<TemporaryFolder> folder, Child primary)
        : folder_(std::move(folder)), primary_(std::move(primary)) {}

    std::unique_ptr<TemporaryFolder> folder_;  // Of its socket.
    Child primary_;
};

}  // namespace shortq::bench
