// tools/bench/start.h: what workers cost: how long it takes until all are ready, how much memory
// they have together, how soon a killed one is replaced, and what a reload takes from those who
// ask; forked and loaded by each for itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/progress.h"
#include "tools/bench/report.h"

namespace shortq::bench {

struct StartOptions {
    std::uint64_t rows = 20'000'000;      // Of the generated table t, in memory and in a file.
    std::string source;                   // Instead of the generated ones.
    std::string scan;                     // Reads all that is to be shared; with `source` only.
    std::vector<unsigned> workers{1, 4};  // The first is what the others are compared with.
    std::vector<std::string> spawns{"fork", "exec"};
    unsigned starts = 5;   // Of each server, in turn, so that a busy moment hurts all.
    unsigned kills = 3;    // Of each worker, at the last start.
    unsigned reloads = 3;  // At the last start, while short queries are asked.
};

// One server.
struct StartRow {
    std::string source;  // "in memory", "in a file", or the path that was given.
    std::string spawn;
    unsigned workers = 0;
    std::vector<double> ready_s{};      // From each start until every worker is ready.
    double memory_mb = 0;               // Pss of all its processes, after every worker has scanned.
    std::vector<double> replaced_ms{};  // From kill -9 to an answer from the worker that follows.
    std::vector<double> reload_s{};     // From the call to its answer.
    std::vector<double> asked_before{};  // Short queries a second, before each reload,
    std::vector<double> asked_during{};  // and during it.
};

// Less than a minute in all, unless the source is one's own.
void make_quick(StartOptions& options);

// Starts one server after the other. Errors: kBadRequest for a scan that cannot run; kInternal if a
// server does not start or a worker does not come back.
[[nodiscard]] Result<std::vector<StartRow>> run_start(const StartOptions& options,
                                                      Progress& progress);

// A line for each row, in order, with ratios to the first of the same source and spawn.
[[nodiscard]] std::string as_table(const std::vector<StartRow>& rows);
// Of each row: against the same with `exec`, if there is one; else against the first of the same
// source and spawn. The queries asked during a reload: against those before it.
[[nodiscard]] std::vector<Metric> as_metrics(const std::vector<StartRow>& rows);

}  // namespace shortq::bench
