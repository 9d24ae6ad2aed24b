// primary/host_link.h: how a sync query looks at the dispatcher, or orders something: a question
// from the engine's thread, answered by the dispatch thread, waited for with an end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/error.h"
#include "proto/value.h"

namespace shortq::primary {

using Row = std::vector<Value>;
using Rows = std::vector<Row>;

enum class View : std::uint8_t {
    kWorkers,
    kQueries,
    kClients,
    kGenerations,
    kSettings,
    kSlowLog,
    kStats,
};
struct ReloadCall {};
struct CancelCall {
    std::int64_t serial = 0;
};
struct DrainCall {
    std::int64_t seat = 0;
};
struct KillCall {
    std::int64_t seat = 0;
};
using Demand = std::variant<View, ReloadCall, CancelCall, DrainCall, KillCall>;

// One question under way. The asking thread may stop waiting; a late answer is then dropped.
// Threads: any.
class Answer {
public:
    void give(Result<Rows> answer);
    // Ends the wait with kCancelled, unless there is an answer.
    void abandon();
    [[nodiscard]] Result<Rows> wait(std::optional<std::chrono::steady_clock::time_point> until);

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Result<Rows>> answer_;
};

struct Question {
    Demand demand;
    std::shared_ptr<Answer> answer;
};

// The asking end, one per engine. Threads: ask() from the engine's; the others from any.
class HostLink {
public:
    // `post` hands a question to the dispatch thread.
    explicit HostLink(std::function<void(Question)> post) : post_(std::move(post)) {}

    // Errors: what the dispatcher says; kCancelled after interrupt() or close(); kUnavailable when
    // a view is not there within a few seconds.
    [[nodiscard]] Result<Rows> ask(const Demand& demand);
    void interrupt();  // Ends the wait under way, if there is one.
    void close();      // Ends this wait and every later one at once.

private:
    std::function<void(Question)> post_;
    std::mutex mutex_;
    std::shared_ptr<Answer> waiting_;
    bool closed_ = false;
};

}  // namespace shortq::primary
