// tools/bench/open_loop.h: a client of a primary with the test engine that sends a trace's requests
// when they are due, however many are unanswered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/trace.h"

namespace shortq::bench {

class OpenLoop {
public:
    // Says hello. Errors: kTimeout if nobody answers.
    [[nodiscard]] static Result<OpenLoop> connect(const std::string& endpoint);

    // Has workers sleep for each request's service time. How long each one stayed: from when it was
    // due, not from when it was sent, to its reply. The statement's words tell the two kinds of
    // request, and one trace, from others, for whoever predicts run times by them.
    // Errors: the first that a request gets; kTimeout.
    struct Words {
        std::string for_short;
        std::string for_long;
    };
    [[nodiscard]] Result<std::vector<std::chrono::nanoseconds>> replay(const Trace& trace,
                                                                       const Words& words);

    OpenLoop(OpenLoop&&) noexcept;
    OpenLoop& operator=(OpenLoop&&) noexcept;
    ~OpenLoop();

private:
    class Session;
    explicit OpenLoop(std::unique_ptr<Session> session);

    std::unique_ptr<Session> session_;
};

}  // namespace shortq::bench
