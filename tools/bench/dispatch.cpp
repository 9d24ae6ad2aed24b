#include "tools/bench/dispatch.h"

#include <fmt/format.h>

#include "tools/bench/target.h"
#include "tools/bench/throughput.h"

namespace shortq::bench {

std::string DispatchCell::name() const {
    return fmt::format("1x{}.w{}.{}B.tcp", outstanding, workers, payload_bytes);
}

Result<std::vector<Metric>> run_dispatch(const DispatchCell& cell, const DispatchOptions& options) {
    const TargetOptions target{cell.workers, std::string(cell.payload_bytes, 'x')};
    const Load load{cell.outstanding, options.warm_up, options.measured};
    auto proxy = start_proxy(target);
    if (!proxy) return tl::unexpected(proxy.error());
    auto shortq = start_shortq(target);
    if (!shortq) return tl::unexpected(shortq.error());

    const std::string name = cell.name();
    Metric ours{"dispatch." + name + ".throughput", "requests/s", {}};
    Metric theirs{"zmq_proxy." + name + ".throughput", "requests/s", {}};
    Metric share{"dispatch." + name + ".share_of_zmq_proxy", "ratio", {}};
    for (unsigned round = 0; round < options.rounds; ++round) {
        const auto proxied = throughput(**proxy, load);
        if (!proxied) return tl::unexpected(proxied.error());
        const auto dispatched = throughput(**shortq, load);
        if (!dispatched) return tl::unexpected(dispatched.error());
        theirs.samples.push_back(*proxied);
        ours.samples.push_back(*dispatched);
        share.samples.push_back(*dispatched / *proxied);
    }
    return std::vector<Metric>{ours, theirs, share};
}

}  // namespace shortq::bench
