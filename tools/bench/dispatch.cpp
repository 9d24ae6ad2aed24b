#include "tools/bench/dispatch.h"

#include <fmt/format.h>

#include "tools/bench/rounds.h"
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
    const auto rates = interleave<double>(
        {options.rounds},
        {[&] { return throughput(**shortq, load); }, [&] { return throughput(**proxy, load); }});
    if (!rates) return tl::unexpected(rates.error());
    return std::vector<Metric>{
        {"dispatch." + name + ".throughput", "requests/s", (*rates)[0], "zmq_proxy", (*rates)[1]}};
}

}  // namespace shortq::bench
