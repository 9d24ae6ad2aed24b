// primary/views.h: the `shortq.*` views and `shortq_*` calls: their columns, and their rows from
// the dispatcher's snapshot and the shell's facts. Pure but for the link that the tables ask
// through.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "primary/core/snapshot.h"
#include "primary/host_link.h"
#include "primary/options.h"
#include "worker/engine/engine.h"

namespace shortq::primary {

// What the shell knows beyond the snapshot.
struct WorkerDetails {
    std::int64_t pid = 0;
    std::int64_t rss_bytes = 0;
};
struct ClientDetails {
    std::int64_t number = 0;
    std::string address;
    std::string door;
    std::string user;
};
struct QueryDetails {
    std::string text;
    std::optional<double> progress;
    bool running = false;  // In a lane of the primary's own, beside the one that the core knows.
};
struct SlowQuery {
    std::uint64_t serial = 0;
    std::int64_t client = 0;
    std::uint32_t seat = 0;
    std::chrono::nanoseconds queued{0};
    std::chrono::nanoseconds ran{0};
    std::string outcome{};  // "ok", or the code's name.
    std::string text;
    std::chrono::system_clock::time_point ended{};
};
// Messages that nobody should have sent, by door.
struct DoorCounts {
    std::uint64_t clients_malformed = 0;
    std::uint64_t clients_without_session = 0;
    std::uint64_t workers_malformed = 0;
};
struct ShellFacts {
    std::function<WorkerDetails(core::WorkerId)> worker;
    std::function<ClientDetails(core::ClientId)> client;
    std::function<QueryDetails(core::RequestId)> query;
    // Turns the core's clock into the calendar's.
    std::function<std::chrono::system_clock::time_point(core::Time)> calendar;
};

// The last queries that took long, whatever became of them.
class SlowLog {
public:
    static constexpr std::size_t kEntriesMax = 1000;
    static constexpr std::size_t kTextBytesMax = 1000;
    static constexpr std::chrono::milliseconds kSlow{1000};

    [[nodiscard]] static bool is_slow(std::chrono::nanoseconds total) { return total >= kSlow; }
    void add(SlowQuery query);
    [[nodiscard]] const std::deque<SlowQuery>& entries() const noexcept { return entries_; }

private:
    std::deque<SlowQuery> entries_;
};

[[nodiscard]] Rows worker_rows(const core::Snapshot& snapshot, const ShellFacts& facts);
[[nodiscard]] Rows query_rows(const core::Snapshot& snapshot, const ShellFacts& facts);
[[nodiscard]] Rows client_rows(const core::Snapshot& snapshot, const ShellFacts& facts);
[[nodiscard]] Rows generation_rows(const core::Snapshot& snapshot, const ShellFacts& facts);
[[nodiscard]] Rows setting_rows(const Options& options);
[[nodiscard]] Rows slow_rows(const SlowLog& log);
[[nodiscard]] Rows stat_rows(const core::Snapshot& snapshot, const DoorCounts& doors);

// For an engine whose questions go through `link`, which must outlive it.
[[nodiscard]] std::vector<engine::HostTable> host_tables(HostLink& link);
[[nodiscard]] std::vector<engine::HostCall> host_calls(HostLink& link);

}  // namespace shortq::primary
