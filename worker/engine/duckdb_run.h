// worker/engine/duckdb_run.h: one query text from judging to its last batch.
#pragma once

#include <duckdb.h>

#include <atomic>

#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/engine.h"
#include "worker/engine/prepared_cache.h"

namespace shortq::engine {

// What a run needs of its engine.
struct RunContext {
    duckdb_connection connection = nullptr;
    Access access = Access::kReadOnly;
    const std::atomic<bool>& stop;  // Set: end with kCancelled at the next step.
    PreparedCache& cache;
    const Fence& fence;
};

// Errors: as Engine::run(). Leaves no transaction open.
[[nodiscard]] Result<void> run_query(const RunContext& context, const Query& query,
                                     ResultSink& sink);

}  // namespace shortq::engine
