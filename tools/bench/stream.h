// tools/bench/stream.h: what a large result costs: everybody's memory while its reader is slow, the
// short queries beside it, and how fast it comes when its reader is not.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"

namespace shortq::bench {

struct StreamOptions {
    std::uint64_t rows = 10'000'000;       // Of five columns.
    std::uint64_t slow_bytes = 1'000'000;  // That the slow reader takes in a second.
    std::chrono::seconds slow{20};         // How long it is slow; then it reads on at full speed.
    unsigned rounds = 5;                   // Of what is compared, in turn.
    std::chrono::milliseconds round{2000};
};

// Two workers, one client that reads rows, another one with short queries.
// Errors: kInternal if the server does not start; what a query fails with.
[[nodiscard]] Result<std::vector<Metric>> run_stream(const StreamOptions& options,
                                                     Progress& progress);

}  // namespace shortq::bench
