// tools/bench/target.h: what is measured: something that answers requests on a DEALER socket. Both
// targets are driven by the same loop, so the client's cost is the same on both sides.
#pragma once

#include <memory>
#include <string>

#include "proto/error.h"

namespace shortq::bench {

struct TargetOptions {
    unsigned workers = 4;
    std::string payload;  // Sent, and expected back.
};

// Threads: the one that made it.
class Target {
public:
    virtual ~Target() = default;

    // Sends one request. False: the socket could not take it.
    [[nodiscard]] virtual bool send() = 0;

    // Waits for the next final reply. Errors: kTimeout if nothing comes for ten seconds, kInternal
    // if what came is not the answer to a request.
    [[nodiscard]] virtual Result<void> receive() = 0;
};

// zmq_proxy between ROUTER and DEALER in one process, echoing processes behind it.
[[nodiscard]] Result<std::unique_ptr<Target>> start_proxy(const TargetOptions& options);

// shortq with the test engine, whose workers are processes too.
[[nodiscard]] Result<std::unique_ptr<Target>> start_shortq(const TargetOptions& options);

}  // namespace shortq::bench
