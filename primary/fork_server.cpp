#include "primary/fork_server.h"

#include <utility>

namespace shortq::primary {

Result<ForkServer> ForkServer::start(std::uint32_t generation,
                                     const WorkerProcessOptions& options) {
    auto channel = ForkChannel::make();
    if (!channel) return tl::unexpected(channel.error());
    auto& [ours, theirs] = *channel;
    auto with_channel = options;
    with_channel.arguments.insert(with_channel.arguments.end(),
                                  {"--fork-server", std::to_string(theirs.fd())});
    with_channel.inherited.push_back(theirs.fd());
    auto process = WorkerProcess::spawn(with_channel);
    if (!process) return tl::unexpected(process.error());
    return ForkServer(generation, std::move(*process), std::move(ours));
}

std::optional<ForkReport> ForkServer::next_report() {
    auto report = channel_.receive_report();
    if (!report) {
        // Closed, or it says what no fork server says: it is of no more use.
        process_.kill(SIGKILL);
        return std::nullopt;
    }
    return std::move(*report);
}

}  // namespace shortq::primary
