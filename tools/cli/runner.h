// tools/cli/runner.h: sends queries over one connection and prints the replies.
#pragma once

#include <deque>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "tools/cli/latency.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"
#include "tools/cli/printer.h"
#include "tools/cli/progress_line.h"

namespace shortq::cli {

inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNoConnection = 3;

// "query_error: Catalog Error: ...": the code first, then the message, whole.
[[nodiscard]] std::string describe(const Error& error);

// What --stats says of a query that failed: "error=query_error total_ms=3.2".
[[nodiscard]] std::string describe_failure(const Error& error, std::chrono::nanoseconds latency);

// "worker=1 generation=1 queued_ms=0.1 run_ms=3.2 rows=10 bytes=312"
[[nodiscard]] std::string describe(const ReplyFacts& facts);

// Threads: run() from one; cancel_all() from any.
class Runner {
public:
    // Results go to `printer`, statistics and errors to `log`. All must outlive the runner.
    Runner(Client& client, const Options& options, Printer& printer, ProgressLine& progress,
           Output& log);

    // Runs the queries in order, up to the first that fails. The program's exit status.
    [[nodiscard]] int run(const std::vector<std::string>& queries);

    // Asks the server to stop what is under way, and starts nothing more. False: nothing was, or it
    // has been asked before.
    bool cancel_all();

private:
    using Clock = std::chrono::steady_clock;
    struct Flight {
        RequestNumber number{};
        Clock::time_point started;
        std::future<Result<Table>> reply;  // Sync requests only: they land in order.
    };

    [[nodiscard]] bool run_one(const std::string& text);
    [[nodiscard]] bool stream_one(const std::string& text);
    [[nodiscard]] Result<Stream> open_stream(const std::string& text);
    [[nodiscard]] Result<void> print(Stream& stream);
    [[nodiscard]] QueryOptions query_options();
    void launch(const std::string& text);
    void land();
    void report(const Result<Table>& reply, Clock::duration latency);
    void report_success(const Table& result, Clock::duration latency);
    void report_failure(const Error& error, Clock::duration latency);
    void report_error(const Error& error);
    [[nodiscard]] bool cancelled();

    Client& client_;
    const Options& options_;
    Printer& printer_;
    ProgressLine& progress_;
    Output& log_;

    // Of the query being run.
    std::string text_;
    std::deque<Flight> flights_;
    Latencies latencies_;
    std::size_t errors_ = 0;
    bool printed_ = false;

    std::mutex mutex_;  // Guards what cancel_all() looks at.
    std::set<RequestNumber> under_way_;
    bool cancelled_ = false;
};

}  // namespace shortq::cli
