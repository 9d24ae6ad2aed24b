// Goal: queries run in order, stop at the first failure, and are reported as scripts expect.
// Method: a scripted server answers; what is printed is read from pipes.
#include "tools/cli/runner.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <future>

#include "tests/client/fake_server.h"

namespace shortq::cli {
namespace {

using test::error_reply;
using test::number_reply;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Pipe {
public:
    Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
    ~Pipe() {
        ::close(ends_[0]);
        close_write();
    }
    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    [[nodiscard]] int write_end() const { return ends_[1]; }
    void close_write() {
        if (ends_[1] >= 0) ::close(ends_[1]);
        ends_[1] = -1;
    }
    std::string read_all() {
        close_write();
        std::string text;
        std::array<char, 4096> part;
        for (ssize_t got = 0; (got = ::read(ends_[0], part.data(), part.size())) > 0;) {
            text.append(part.data(), static_cast<std::size_t>(got));
        }
        return text;
    }

private:
    std::array<int, 2> ends_{};
};

class RunnerTest : public ::testing::Test {
protected:
    RunnerTest() {
        ConnectOptions connect;
        connect.endpoints = {server_.endpoint()};
        auto connecting = std::async(std::launch::async, [&] { return Client::connect(connect); });
        identity_ = server_.welcome();
        client_ = std::make_unique<Client>(connecting.get().value());
        runner_ = std::make_unique<Runner>(*client_, options_, printer_, progress_, log_);
    }

    std::future<int> start(std::vector<std::string> queries) {
        return std::async(std::launch::async, [this, queries] { return runner_->run(queries); });
    }

    std::uint64_t next_request() { return server_.next().value().as<proto::Request>().id; }

    std::string output() {
        out_.flush();
        return out_pipe_.read_all();
    }
    std::string log() {
        log_.flush();
        return log_pipe_.read_all();
    }

    test::FakeServer server_;
    std::string identity_;
    std::unique_ptr<Client> client_;
    Options options_;
    Pipe out_pipe_;
    Pipe log_pipe_;
    Output out_{out_pipe_.write_end()};
    Output log_{log_pipe_.write_end()};
    Printer printer_{Format::kCsv, Printer::Place::kPipe, out_};
    ProgressLine progress_{ProgressLine::Style::kNone, log_};
    std::unique_ptr<Runner> runner_;
};

TEST_F(RunnerTest, QueriesRunOneAfterTheOther) {
    options_.stats = true;
    auto run = start({"a", "b"});
    server_.send(identity_, number_reply({next_request()}, {1}));
    server_.send(identity_, number_reply({next_request()}, {2}));
    EXPECT_EQ(run.get(), kExitOk);
    EXPECT_EQ(output(), "x\n1\nx\n2\n");
    const std::string line = "worker=2 generation=3 queued_ms=1.5 run_ms=0.2 rows=1 bytes=99\n";
    EXPECT_EQ(log(), line + line);
}

TEST_F(RunnerTest, TheFirstFailureEndsTheRun) {
    auto run = start({"a", "b"});
    server_.send(identity_, error_reply(next_request(), ErrorCode::kQueryError,
                                        "Catalog Error: no such table", "worker 2"));
    EXPECT_EQ(run.get(), kExitFailed);
    EXPECT_EQ(output(), "");
    EXPECT_EQ(log(), "query_error: Catalog Error: no such table\n  at worker 2\n");
}

TEST_F(RunnerTest, RepetitionsPrintOneResultAndTheLatencies) {
    options_.repeat = 3;
    options_.concurrency = 2;
    auto run = start({"a"});
    const auto first = next_request();
    const auto second = next_request();
    server_.send(identity_, number_reply({second}, {7}));
    const auto third = next_request();
    server_.send(identity_, number_reply({first}, {7}));
    server_.send(identity_, error_reply(third, ErrorCode::kOverloaded, "full"));
    EXPECT_EQ(run.get(), kExitFailed);
    EXPECT_EQ(output(), "x\n7\n");
    const auto text = log();
    EXPECT_THAT(text, StartsWith("overloaded: full\n"));
    EXPECT_THAT(text, HasSubstr("n=2 errors=1 p50_ms="));
}

TEST_F(RunnerTest, FailedQueriesHaveStatistics) {
    options_.stats = true;
    auto run = start({"a"});
    server_.send(identity_, error_reply(next_request(), ErrorCode::kOverloaded, "full"));
    EXPECT_EQ(run.get(), kExitFailed);
    EXPECT_THAT(log(),
                testing::MatchesRegex("overloaded: full\nerror=overloaded total_ms=[0-9.]+\n"));
}

TEST_F(RunnerTest, DeferredQueriesOnThePrimarysViewsGetAHint) {
    auto run = start({"from shortq.workers"});
    server_.send(identity_, error_reply(next_request(), ErrorCode::kQueryError, "no schema"));
    EXPECT_EQ(run.get(), kExitFailed);
    EXPECT_EQ(log(),
              "query_error: no schema\n"
              "hint: the views and calls of shortq are at the primary: use --sync\n");
}

TEST_F(RunnerTest, SyncRequestsGoToThePrimary) {
    options_.sync = true;
    auto run = start({"a"});
    const auto heard = server_.next().value();
    EXPECT_EQ(heard.as<proto::Request>().mode, proto::Mode::kSync);
    server_.send(identity_, number_reply({heard.as<proto::Request>().id}, {1}));
    EXPECT_EQ(run.get(), kExitOk);
}

TEST_F(RunnerTest, CancelStopsWhatRunsAndStartsNothingMore) {
    EXPECT_FALSE(runner_->cancel_all()) << "nothing runs";
    options_.repeat = 5;
    Runner fresh(*client_, options_, printer_, progress_, log_);
    auto run = std::async(std::launch::async, [&] { return fresh.run({"a", "b"}); });
    const auto id = next_request();
    EXPECT_TRUE(fresh.cancel_all());
    EXPECT_FALSE(fresh.cancel_all()) << "who asks twice does not want to wait";
    EXPECT_EQ(server_.next().value().as<proto::Cancel>().id, id);
    server_.send(identity_, error_reply(id, ErrorCode::kCancelled, "cancelled"));
    EXPECT_EQ(run.get(), kExitFailed);
    EXPECT_THAT(log(), StartsWith("cancelled: cancelled\n"));
}

TEST(DescribeTest, PlaceIsNotSaidTwice) {
    EXPECT_EQ(describe(Error{ErrorCode::kConnection, "cannot connect to tcp://a:1", "tcp://a:1"}),
              "connection: cannot connect to tcp://a:1");
}

}  // namespace
}  // namespace shortq::cli
