// tools/bench/query.h: analytic queries on ticks: what asking a server costs, and what its workers
// gain, against one DuckDB process that runs the same queries one by one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"
#include "tools/bench/rounds.h"

namespace shortq::bench {

struct QueryBenchOptions {
    std::uint32_t days = 5;
    std::uint64_t trades = 100'000;  // A day; five quotes each.
    Rounds rounds;
    std::chrono::milliseconds measured{400};  // Of each side of tiny queries, in each round.
};

// Measures what gives a figure that is wanted.
// Errors: kInternal if a process does not start; what a query fails with.
[[nodiscard]] Result<std::vector<Metric>> run_query(
    const std::function<bool(const std::string&)>& wants, const QueryBenchOptions& options,
    Progress& progress);

}  // namespace shortq::bench
