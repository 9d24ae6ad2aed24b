// tools/bench/zmq_targets.cpp: the opponents: ZeroMQ with a proxy in the middle, and without.
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "tools/bench/child.h"
#include "tools/bench/dealer.h"
#include "tools/bench/target.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

class DealerRequester final : public Requester {
public:
    DealerRequester(const std::vector<std::string>& endpoints, std::string payload)
        : dealer_(endpoints), payload_(std::move(payload)) {}

    Result<void> send() override {
        if (dealer_.send({zmq::buffer(payload_)})) return {};
        return fail(ErrorCode::kInternal, "the socket takes no more", "zmq");
    }

    Result<void> receive() override {
        const auto frames = dealer_.receive();
        if (!frames) return tl::unexpected(frames.error());
        if ((*frames)->size() != 1 || (*frames)->front().to_string_view() != payload_)
            return fail(ErrorCode::kInternal, "the echo is not what was sent", "zmq");
        return {};
    }

private:
    Dealer dealer_;
    std::string payload_;
};

class ZmqTarget final : public Target {
public:
    ZmqTarget(std::unique_ptr<TemporaryFolder> folder, std::vector<Child> children,
              std::vector<std::string> endpoints)
        : folder_(std::move(folder)),
          children_(std::move(children)),
          endpoints_(std::move(endpoints)) {}

    Result<std::unique_ptr<Requester>> connect(const std::string& payload) override {
        return std::make_unique<DealerRequester>(endpoints_, payload);
    }

private:
    std::unique_ptr<TemporaryFolder> folder_;
    std::vector<Child> children_;
    std::vector<std::string> endpoints_;  // To all of which a client connects.
};

std::string place(const TemporaryFolder& folder, Transport transport, const std::string& name) {
    if (transport == Transport::kTcp) return "tcp://127.0.0.1:*";
    return "ipc://" + (folder.path() / name).string();
}

Result<void> start_role(std::vector<Child>& children, const std::vector<std::string>& role) {
    auto child = start_this_program(role);
    if (!child) return tl::unexpected(child.error());
    children.push_back(std::move(*child));
    return {};
}

}  // namespace

Result<std::unique_ptr<Target>> start_direct(const Site& site) {
    auto folder = std::make_unique<TemporaryFolder>();
    std::vector<Child> children;
    std::vector<std::string> endpoints;
    for (unsigned i = 0; i < site.workers; ++i) {
        const auto endpoint = place(*folder, site.transport, fmt::format("worker{}", i));
        if (auto done = start_role(children, {"echo-server", endpoint}); !done)
            return tl::unexpected(done.error());
        endpoints.push_back(children.back().first_line());
    }
    return std::make_unique<ZmqTarget>(std::move(folder), std::move(children),
                                       std::move(endpoints));
}

Result<std::unique_ptr<Target>> start_proxy(const Site& site) {
    auto folder = std::make_unique<TemporaryFolder>();
    const auto workers = place(*folder, Transport::kIpc, "workers");
    const auto clients = place(*folder, site.transport, "clients");
    std::vector<Child> children;
    if (auto done = start_role(children, {"echo-proxy", clients, workers}); !done)
        return tl::unexpected(done.error());
    for (unsigned i = 0; i < site.workers; ++i) {
        if (auto done = start_role(children, {"echo-worker", workers}); !done)
            return tl::unexpected(done.error());
    }
    const auto endpoint = children.front().first_line();
    return std::make_unique<ZmqTarget>(std::move(folder), std::move(children),
                                       std::vector<std::string>{endpoint});
}

}  // namespace shortq::bench
