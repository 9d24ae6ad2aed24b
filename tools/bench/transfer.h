// tools/bench/transfer.h: how fast large results come, by the types of their columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"
#include "tools/bench/rounds.h"

namespace shortq::bench {

// A table of the server's, which is read as a whole.
struct TransferCase {
    std::string name;
    std::string columns;  // Of `i`, which counts the rows.
    double share = 1;     // Of TransferOptions::rows that it has: rows differ in size.
    bool whole = false;   // Also as one result, not only row by row.

    [[nodiscard]] std::vector<std::string> figures() const;
};

[[nodiscard]] std::vector<TransferCase> transfer_cases();

struct TransferOptions {
    std::uint64_t rows = 10'000'000;
    Rounds rounds;
};

// Each case streamed by libshortq; DuckDB fetching the same in this process, with as many threads;
// and a process that sends as many bytes through zmq_proxy, in messages of 1 MiB.
// Errors: kInternal if a process does not start or rows are missing; what a query fails with.
[[nodiscard]] Result<std::vector<Metric>> run_transfer(const std::vector<TransferCase>& cases,
                                                       const TransferOptions& options,
                                                       Progress& progress);

}  // namespace shortq::bench
