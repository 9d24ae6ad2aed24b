// worker/engine/duckdb_engine.h: the engine "duckdb".
#pragma once

#include <atomic>
#include <mutex>
#include <string_view>

#include "worker/engine/active_run.h"
#include "worker/engine/duckdb_catalog.h"
#include "worker/engine/duckdb_handles.h"
#include "worker/engine/duckdb_host.h"
#include "worker/engine/duckdb_session.h"
#include "worker/engine/engine.h"
#include "worker/engine/prepared_cache.h"
#include "worker/engine/unique_fd.h"

namespace shortq::engine {

// One database in memory and one connection: the script's while it loads, then another one for the
// queries, so that it makes no difference whether a process has loaded or was forked.
// Threads: see Engine.
class DuckDbEngine final : public Engine {
public:
    explicit DuckDbEngine(EngineOptions options);

    [[nodiscard]] Result<void> load(const std::filesystem::path& source) override;
    [[nodiscard]] bool can_fork() const noexcept override { return true; }
    [[nodiscard]] Result<void> load_base(const std::filesystem::path& source) override;
    [[nodiscard]] Result<ForkBase> prepare_fork(Warm warm) override;
    [[nodiscard]] Result<void> start_forked(const EngineOptions& options) override;
    [[nodiscard]] std::vector<std::string> notes() const override { return notes_; }
    [[nodiscard]] Result<void> run(const Query& query, ResultSink& sink) override;
    void interrupt() noexcept override;
    [[nodiscard]] double progress() const noexcept override;
    [[nodiscard]] bool sick() const noexcept override { return sick_; }

private:
    friend class ActiveRun<DuckDbEngine>;
    enum class Start : std::uint8_t { kLoaded, kForked };

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> load_into(const std::filesystem::path& source);
    [[nodiscard]] Result<void> does_not_fit(const std::filesystem::path& source, Error error);
    [[nodiscard]] Result<void> refuse_other_spill_folder() const;
    [[nodiscard]] Result<void> keep_session();
    [[nodiscard]] Result<Connection> connect() const;
    [[nodiscard]] Result<void> begin_session(Start start);
    [[nodiscard]] Result<void> begin_fork();
    [[nodiscard]] Result<void> apply_limits();
    [[nodiscard]] Result<void> limit_spilling();
    [[nodiscard]] Result<void> end_script(const std::vector<std::string>& limits_before);
    [[nodiscard]] Result<void> lock_down();
    [[nodiscard]] Result<void> judged(Result<void> outcome);

    EngineOptions options_;
    DuckDbHost host_;  // The database refers to it: declared before, destroyed after.
    Database database_;
    Connection connection_;
    PreparedCache cache_;  // Its statements belong to the connection: destroyed before it.
    Fence fence_;
    Session session_;              // What the script left in its own.
    std::vector<UniqueFd> locks_;  // On the database files; inherited by forked processes.
    std::filesystem::path source_folder_;
    std::vector<std::string> notes_;
    std::atomic<bool> stop_{false};
    std::atomic<bool> sick_{false};
    mutable std::mutex mutex_;  // Guards active_ against an interrupt that comes too late.
    bool active_ = false;
};

// Errors: kInternal if `found`, the version of the library at run time, is not `built_for`.
[[nodiscard]] Result<void> check_duckdb_version(std::string_view found, std::string_view built_for);

// The same for this process.
[[nodiscard]] Result<void> check_duckdb_version();

}  // namespace shortq::engine
