// tools/bench/proxy_target.cpp: zmq_proxy and its echoing workers as a target.
#include <utility>

#include "tools/bench/child.h"
#include "tools/bench/dealer.h"
#include "tools/bench/target.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

class ProxyTarget final : public Target {
public:
    ProxyTarget(std::unique_ptr<TemporaryFolder> folder, std::vector<Child> children,
                std::string payload)
        : folder_(std::move(folder)),
          children_(std::move(children)),
          payload_(std::move(payload)),
          dealer_(children_.front().first_line()) {}

    bool send() override { return dealer_.send({zmq::buffer(payload_)}); }

    Result<void> receive() override {
        const auto frames = dealer_.receive();
        if (!frames) return tl::unexpected(frames.error());
        if ((*frames)->size() != 1 || (*frames)->front().to_string_view() != payload_) {
            return fail(ErrorCode::kInternal, "the echo is not what was sent", "zmq_proxy");
        }
        return {};
    }

private:
    std::unique_ptr<TemporaryFolder> folder_;
    std::vector<Child> children_;  // The proxy first.
    std::string payload_;
    Dealer dealer_;
};

}  // namespace

Result<std::unique_ptr<Target>> start_proxy(const TargetOptions& options) {
    const std::string self = program_next_to_this_one("shortq-bench");
    auto folder = std::make_unique<TemporaryFolder>();
    const std::string endpoint = "ipc://" + (folder->path() / "workers").string();
    std::vector<Child> children;
    auto proxy = Child::start({self, "echo-proxy", endpoint});
    if (!proxy) return tl::unexpected(proxy.error());
    children.push_back(std::move(*proxy));
    for (unsigned i = 0; i < options.workers; ++i) {
        auto worker = Child::start({self, "echo-worker", endpoint});
        if (!worker) return tl::unexpected(worker.error());
        children.push_back(std::move(*worker));
    }
    return std::make_unique<ProxyTarget>(std::move(folder), std::move(children), options.payload);
}

}  // namespace shortq::bench
