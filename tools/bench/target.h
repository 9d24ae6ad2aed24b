// tools/bench/target.h: what is measured: something that echoes what its clients send. All of them
// are driven by the same loop on the same threads, so a client's own cost is the same everywhere.
#pragma once

#include <memory>
#include <string>

#include "proto/error.h"
#include "tools/bench/shortq_server.h"

namespace shortq::bench {

struct Site {
    unsigned workers = 4;
    Transport transport = Transport::kTcp;
    bool operator==(const Site&) const = default;
};

// One client's connection. Threads: one at a time.
class Requester {
public:
    virtual ~Requester() = default;

    // Sends the payload; does not wait.
    [[nodiscard]] virtual Result<void> send() = 0;

    // Waits for the next answer, which is the payload. Errors: kTimeout if nothing comes for ten
    // seconds, kInternal if what came is something else.
    [[nodiscard]] virtual Result<void> receive() = 0;

    // Sends, and waits for the answer. Pre: nothing else is under way.
    [[nodiscard]] virtual Result<void> exchange() {
        if (auto sent = send(); !sent) return sent;
        return receive();
    }
};

// Threads: the one that made it, which also is the parent of its processes.
class Target {
public:
    virtual ~Target() = default;

    // A new client, ready to send.
    [[nodiscard]] virtual Result<std::unique_ptr<Requester>> connect(
        const std::string& payload) = 0;
};

// Worker processes to which every client is connected itself: the least that can be.
[[nodiscard]] Result<std::unique_ptr<Target>> start_direct(const Site& site);

// zmq_proxy between ROUTER and DEALER in one process, echoing processes behind it.
[[nodiscard]] Result<std::unique_ptr<Target>> start_proxy(const Site& site);

// One primary with test workers, seen by two kinds of clients: libshortq's, and DEALER sockets that
// know just enough of the protocol.
struct ShortqTargets {
    std::unique_ptr<Target> client;
    std::unique_ptr<Target> raw;
};
// `window` is the primary's --window; empty: its own default.
[[nodiscard]] Result<ShortqTargets> start_shortq(const Site& site, const std::string& window);

}  // namespace shortq::bench
