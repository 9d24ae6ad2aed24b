// worker/engine/test_engine.h: the engine "test": behaviours on command, for tests and benches.
//
// A query is one command:
//   echo TEXT            one VARCHAR row
//   sleep MS [WORD]      one row after MS milliseconds, parts of which count; any word may follow,
//                        `ignore`: deaf to interrupts
//   rows N               N rows of one BIGINT column, 0..N-1
//   bytes N              one BLOB row of N bytes
//   fail MESSAGE         kQueryError
//   sick                 kInternal, and sick() from then on
//   crash                SIGSEGV
//   exit N               ends the process with status N
//   hang                 never returns, deaf to interrupts
//   nothing              no result
//   pid, seat, sequence  one BIGINT row: process id, seat, how many queries ran before
//   parameters           one VARCHAR row: how many parameters came with the query
//
// The source is a file of lines (`#` comments): load-sleep MS, load-touch PATH (makes that file),
// load-sleep-seat SEAT MS, load-fail MESSAGE, load-fail-seat SEAT MESSAGE, load-hang, load-exit N,
// fail-every-query, fail-every-query-seat SEAT, cannot-fork REASON. Those for a seat are for its
// worker, not for the fork server.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "worker/engine/active_run.h"
#include "worker/engine/engine.h"

namespace shortq::engine {

class TestEngine final : public Engine {
public:
    explicit TestEngine(EngineOptions options) : options_(std::move(options)) {}

    [[nodiscard]] Result<void> load(const std::filesystem::path& source) override;
    [[nodiscard]] bool can_fork() const noexcept override { return true; }
    [[nodiscard]] Result<void> load_base(const std::filesystem::path& source) override;
    [[nodiscard]] Result<ForkBase> prepare_fork(Warm warm) override;
    [[nodiscard]] Result<void> start_forked(const EngineOptions& options) override;
    [[nodiscard]] Result<void> run(const Query& query, ResultSink& sink) override;
    void interrupt() noexcept override;
    [[nodiscard]] double progress() const noexcept override;
    [[nodiscard]] bool sick() const noexcept override { return sick_; }

private:
    struct Command;
    friend class ActiveRun<TestEngine>;

    [[nodiscard]] Result<void> read_source(const std::filesystem::path& source);
    [[nodiscard]] Result<void> load_lines(const std::function<bool(const Command&)>& wanted);
    [[nodiscard]] Result<void> load_line(const Command& command);
    [[nodiscard]] Result<void> execute(const Command& command, const Query& query,
                                       ResultSink& sink);
    [[nodiscard]] Result<void> deliver_rows(ResultSink& sink, std::int64_t rows);
    [[nodiscard]] Result<void> sleep(std::chrono::nanoseconds duration, bool deaf);
    [[noreturn]] static void hang();

    EngineOptions options_;
    std::string source_;
    std::vector<std::string> lines_;
    std::int64_t queries_ = 0;
    bool fails_every_query_ = false;
    std::atomic<bool> sick_{false};
    mutable std::mutex mutex_;  // Guards what is below.
    std::condition_variable interrupted_;
    bool active_ = false;
    bool stop_ = false;
    std::chrono::steady_clock::time_point sleep_start_{};
    std::chrono::nanoseconds sleep_length_{0};
};

}  // namespace shortq::engine
