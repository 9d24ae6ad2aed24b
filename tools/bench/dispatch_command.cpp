// tools/bench/dispatch_command.cpp: the options of `shortq-bench dispatch`.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "tools/bench/dispatch.h"
#include "tools/bench/echo_roles.h"
#include "tools/bench/subcommands.h"

namespace shortq::bench {

void add_dispatch(Commands& commands) {
    commands.add("dispatch", "Tiny requests through shortq and through zmq_proxy, in the same run",
                 [](const Setting& setting, Progress& progress) -> Result<Report> {
                     using std::chrono::milliseconds;
                     DispatchOptions options;
                     if (setting.quick) options = {3, milliseconds(100), milliseconds(300)};
                     progress.step("dispatch");
                     auto metrics = run_dispatch({}, options);
                     if (!metrics) return tl::unexpected(metrics.error());
                     return Report{std::move(*metrics)};
                 });
    // The roles that this program starts itself in.
    auto endpoint = std::make_shared<std::string>();
    commands.add_role("echo-proxy", [endpoint] { return run_proxy(*endpoint); })
        .add_option("ENDPOINT", *endpoint)
        ->required();
    commands.add_role("echo-worker", [endpoint] { return run_echo_worker(*endpoint); })
        .add_option("ENDPOINT", *endpoint)
        ->required();
}

}  // namespace shortq::bench
