#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/worker/fake_primary.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The text in the first cell of a result of one text column.
std::string first_text(const Collected& result) {
    const auto& column = result.batches.at(0).columns.at(0);
    std::int32_t ends[2] = {0, 0};
    std::memcpy(ends, column.buffers.at(1).bytes.data(), sizeof ends);
    return {reinterpret_cast<const char*>(column.buffers.at(2).bytes.data()) + ends[0],
            static_cast<std::size_t>(ends[1] - ends[0])};
}

class WorkerTest : public ::testing::Test {
protected:
    void start() {
        primary_.start();
        primary_.welcome_until_ready();
    }
    FakePrimary primary_;
};

// Goal: the primary can tell its own workers from strangers. Method: read the hello of a new one.
TEST_F(WorkerTest, SaysHelloWithItsTokenAndPid) {
    primary_.start();
    const auto received = primary_.take_hello();
    const auto* hello = received.as<proto::Hello>();
    ASSERT_NE(hello, nullptr);
    EXPECT_EQ(hello->role, proto::Role::kWorker);
    EXPECT_EQ(hello->pid, static_cast<std::uint64_t>(primary_.worker().pid()));
    const auto token = primary_.worker().token();
    EXPECT_EQ(hello->token,
              std::string_view(reinterpret_cast<const char*>(token.data()), token.size()));
    EXPECT_NE(hello->token, std::string(proto::kTokenBytes, '\0'));
}

// Goal: a query's result arrives whole, under its id. Method: echo a text.
TEST_F(WorkerTest, AnswersUnderTheRequestsId) {
    start();
    primary_.request(7, "echo hello world");
    const auto result = primary_.collect();
    ASSERT_FALSE(result.error) << result.error_message;
    EXPECT_EQ(result.id, 7U);
    EXPECT_EQ(result.rows, 1);
    EXPECT_EQ(first_text(result), "hello world");
    EXPECT_EQ(result.facts.rows, 1U);
    EXPECT_GT(result.facts.bytes, 0U);
}

// Goal: requests given ahead are run in order. Method: send many at once, compare the order.
TEST_F(WorkerTest, RunsRequestsInTheOrderTheyCame) {
    start();
    constexpr std::uint64_t kCount = 200;  // More than one batch of the io loop.
    for (std::uint64_t id = 1; id <= kCount; ++id) {
        primary_.request(id, "echo " + std::to_string(id));
    }
    for (std::uint64_t id = 1; id <= kCount; ++id) {
        const auto result = primary_.collect();
        EXPECT_EQ(result.id, id);
        EXPECT_EQ(first_text(result), std::to_string(id));
    }
}

// Goal: large results are cut into messages of half a megabyte and more. Method: 1 million rows of
// numbers.
TEST_F(WorkerTest, SendsALargeResultInChunks) {
    start();
    primary_.request(1, "rows 1000000");
    const auto result = primary_.collect();
    ASSERT_FALSE(result.error) << result.error_message;
    EXPECT_EQ(result.rows, 1'000'000);
    EXPECT_EQ(result.facts.rows, 1'000'000U);
    EXPECT_GE(result.messages, 4U);
    EXPECT_LE(result.messages, result.facts.bytes / (proto::kChunkBytesTarget / 2) + 1);
}

// Goal: a reader that takes nothing gets its window and no more; what it takes makes room. Method:
// read pieces without credit until none comes, then give some.
TEST_F(WorkerTest, PiecesWaitForCredit) {
    start();
    primary_.request(1, "rows 1000000000");
    std::uint64_t bytes = 0;
    while (bytes < proto::kReplyWindowBytes) {
        const auto piece = primary_.next();
        ASSERT_TRUE(piece && piece->as<proto::Reply>());
        bytes = piece->as<proto::Reply>()->facts.bytes;
    }
    EXPECT_LT(bytes, proto::kReplyWindowBytes + 2 * proto::kChunkBytesTarget);
    EXPECT_FALSE(primary_.next(std::chrono::milliseconds(300)));
    primary_.send(proto::Credit{.id = 2, .bytes = bytes * 2});  // Nobody's.
    EXPECT_FALSE(primary_.next(std::chrono::milliseconds(100)));
    primary_.send(proto::Credit{.id = 1, .bytes = bytes + 1});
    const auto piece = primary_.next();
    ASSERT_TRUE(piece && piece->as<proto::Reply>());
    EXPECT_FALSE(primary_.next(std::chrono::milliseconds(300)));
    primary_.send(proto::Interrupt{1});
    EXPECT_EQ(primary_.collect().error, ErrorCode::kCancelled);
}

// Goal: a running query can be stopped. Method: interrupt a sleep of ten minutes.
TEST_F(WorkerTest, InterruptEndsTheRunningQuery) {
    start();
    primary_.request(1, "sleep 600000");
    ASSERT_TRUE(primary_.wait_until_running(1));
    primary_.send(proto::Interrupt{1});
    const auto result = primary_.collect();
    EXPECT_EQ(result.id, 1U);
    EXPECT_EQ(result.error, ErrorCode::kCancelled);
    EXPECT_FALSE(result.sick);
    primary_.request(2, "echo on");
    EXPECT_EQ(first_text(primary_.collect()), "on");
}

// Goal: a query stops that does not get its rows out, since nobody reads them. Method: stop
// reading in the middle of a large result, interrupt, then read on.
TEST_F(WorkerTest, InterruptEndsAQueryWhoseReaderIsStalled) {
    start();
    primary_.request(1, "rows 1000000000");
    const auto first = primary_.next();
    ASSERT_TRUE(first && first->as<proto::Reply>());
    ASSERT_FALSE(first->as<proto::Reply>()->last);
    primary_.send(proto::Interrupt{1});
    for (;;) {
        const auto received = primary_.next();
        ASSERT_TRUE(received);
        if (const auto* error = received->as<proto::ErrorReply>()) {
            EXPECT_EQ(error->code, ErrorCode::kCancelled);
            break;
        }
    }
}

// Goal: what has not started is given back at once. Method: recall, then interrupt, the requests
// behind a long one; neither may have an effect on the long one, nor run later.
TEST_F(WorkerTest, GivesBackWhatItHasNotStarted) {
    start();
    primary_.request(1, "sleep 600000");
    primary_.request(2, "echo two");
    primary_.request(3, "echo three");
    primary_.request(4, "echo four");
    ASSERT_TRUE(primary_.wait_until_running(1));
    primary_.send(proto::Recall{2});
    auto received = primary_.next();
    ASSERT_TRUE(received && received->as<proto::Recalled>());
    EXPECT_EQ(received->as<proto::Recalled>()->id, 2U);
    primary_.send(proto::Interrupt{4});
    received = primary_.next();
    ASSERT_TRUE(received && received->as<proto::Recalled>());
    EXPECT_EQ(received->as<proto::Recalled>()->id, 4U);
    primary_.send(proto::Interrupt{1});
    EXPECT_EQ(primary_.collect().id, 1U);
    EXPECT_EQ(primary_.collect().id, 3U);
}

// Goal: a recall that comes too late has no effect. Method: recall the running request; the next
// message is about another one.
TEST_F(WorkerTest, KeepsWhatItHasStarted) {
    start();
    primary_.request(1, "sleep 600000");
    primary_.request(2, "echo two");
    ASSERT_TRUE(primary_.wait_until_running(1));
    primary_.send(proto::Recall{1});
    primary_.send(proto::Recall{2});
    const auto received = primary_.next();
    ASSERT_TRUE(received && received->as<proto::Recalled>());
    EXPECT_EQ(received->as<proto::Recalled>()->id, 2U);
}

// Goal: whoever holds the socket, a long query keeps nobody from being heard. Method: again and
// again, tiny ones in a row (which the query thread answers by itself), then one that would take
// ten minutes with one behind it: that one is given back, the long one can be interrupted, and tiny
// ones are answered again.
TEST_F(WorkerTest, IsHeardAfterARowOfTinyQueries) {
    constexpr std::uint64_t kRounds = 20;
    constexpr std::uint64_t kTiny = 5;
    start();
    std::uint64_t id = 0;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        for (std::uint64_t i = 0; i < kTiny; ++i) primary_.request(id + 1 + i, "echo tiny");
        for (std::uint64_t i = 0; i < kTiny; ++i) ASSERT_EQ(primary_.collect().id, ++id);
        const auto long_one = ++id;
        const auto behind = ++id;
        primary_.request(long_one, "sleep 600000");
        primary_.request(behind, "echo behind");
        ASSERT_TRUE(primary_.wait_until_running(long_one));
        primary_.send(proto::Recall{behind});
        const auto received = primary_.next();
        ASSERT_TRUE(received && received->as<proto::Recalled>());
        EXPECT_EQ(received->as<proto::Recalled>()->id, behind);
        primary_.send(proto::Interrupt{long_one});
        const auto ended = primary_.collect();
        EXPECT_EQ(ended.id, long_one);
        EXPECT_EQ(ended.error, ErrorCode::kCancelled);
    }
}

// Goal: the primary hears from a busy worker. Method: read a heartbeat during a query.
TEST_F(WorkerTest, HeartbeatsTellWhatRuns) {
    start();
    primary_.request(9, "sleep 600000");
    ASSERT_TRUE(primary_.wait_until_running(9));
    auto received = primary_.next_heartbeat();
    ASSERT_TRUE(received);
    if (received->as<proto::Heartbeat>()->running == 0) {  // Sent before the request came.
        received = primary_.next_heartbeat();
        ASSERT_TRUE(received);
    }
    EXPECT_EQ(received->as<proto::Heartbeat>()->running, 9U);
    EXPECT_GT(received->as<proto::Heartbeat>()->rss_bytes, 0U);
}

// Goal: an error is passed on whole, with the place. Method: let the engine fail.
TEST_F(WorkerTest, PassesTheEnginesErrorOn) {
    start();
    primary_.request(1, "fail something is wrong");
    const auto result = primary_.collect();
    EXPECT_EQ(result.error, ErrorCode::kQueryError);
    EXPECT_EQ(result.error_message, "something is wrong");
    EXPECT_EQ(result.error_where, "worker 2");
}

// Goal: malformed parameters are the request's error, not the worker's end. Method: send garbage.
TEST_F(WorkerTest, RefusesMalformedParameters) {
    start();
    std::vector<zmq::message_t> bodies;
    bodies.emplace_back(std::string_view("echo x"));
    bodies.emplace_back(std::string_view("\xc1garbage"));
    primary_.send(proto::Request{.id = 1, .service = {}}, std::move(bodies));
    EXPECT_EQ(primary_.collect().error, ErrorCode::kBadRequest);
    primary_.request(2, "echo on");
    EXPECT_EQ(first_text(primary_.collect()), "on");
}

// Goal: the limit from the welcome holds. Method: a result just over it.
TEST_F(WorkerTest, RefusesAResultOverTheLimit) {
    primary_.start();
    (void)primary_.take_hello();
    primary_.send(proto::Welcome{.session = 1, .result_bytes_max = 100'000, .server = {}});
    ASSERT_TRUE(primary_.next()->as<proto::Ready>());
    primary_.request(1, "rows 1000000");
    const auto result = primary_.collect();
    EXPECT_EQ(result.error, ErrorCode::kTooLarge);
    EXPECT_THAT(result.error_message, HasSubstr("100000 bytes"));
}

// Goal: a failed load is told with its place, then the worker leaves. Method: a script whose third
// statement, in line 4, does not work.
TEST_F(WorkerTest, ReportsAFailedLoadAndLeaves) {
    const auto script = primary_.folder() / "startup.sql";
    std::ofstream(script) << "create table a (x int);\n\ninsert into a values (1);\n"
                             "insert into b values (1);\n";
    primary_.start({"--engine", "duckdb", "--source", script.string()});
    (void)primary_.take_hello();
    primary_.send(proto::Welcome{.session = 1, .server = {}});
    const auto received = primary_.next();
    ASSERT_TRUE(received && received->as<proto::ErrorReply>());
    EXPECT_EQ(received->as<proto::ErrorReply>()->id, 0U);
    EXPECT_THAT(std::string(received->body(0)), HasSubstr("b does not exist"));
    EXPECT_THAT(std::string(received->body(1)), HasSubstr("startup.sql:4"));
    // Its exit must not overtake its message: it stays until the primary has answered.
    EXPECT_FALSE(primary_.wait_for_exit(std::chrono::milliseconds(200)));
    primary_.send(proto::Drain{});
    EXPECT_EQ(primary_.wait_for_exit(), (ExitStatus{.signalled = false, .value = 1}));
}

// Goal: drain finishes what there is, then leaves. Method: drain with requests given ahead.
TEST_F(WorkerTest, DrainFinishesTheWorkAndLeavesWithZero) {
    start();
    for (std::uint64_t id = 1; id <= 20; ++id) primary_.request(id, "sleep 5");
    primary_.send(proto::Drain{});
    for (std::uint64_t id = 1; id <= 20; ++id) EXPECT_EQ(primary_.collect().id, id);
    EXPECT_EQ(primary_.wait_for_exit(), (ExitStatus{.signalled = false, .value = 0}));
}

// Goal: the terminal's signals do not end a worker. Method: send them in the middle of a query.
TEST_F(WorkerTest, IgnoresTheTerminalsSignals) {
    start();
    primary_.request(1, "sleep 300");
    ASSERT_TRUE(primary_.wait_until_running(1));
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) primary_.worker().kill(signal);
    EXPECT_FALSE(primary_.collect().error);
}

// Goal: the board names the request that a crash belongs to. Method: crash on the second of three.
TEST_F(WorkerTest, CrashLeavesTheRunningRequestOnTheBoard) {
    start();
    primary_.request(1, "echo one");
    primary_.request(2, "crash");
    primary_.request(3, "echo three");
    const auto status = primary_.wait_for_exit();
    ASSERT_TRUE(status);
    EXPECT_FALSE(status->success());
    EXPECT_EQ(primary_.worker().board().running.load(), 2U);
}

// Goal: nothing is charged to an idle worker. Method: kill it after its reply.
TEST_F(WorkerTest, BoardIsClearBetweenRequests) {
    start();
    primary_.request(1, "echo one");
    EXPECT_EQ(primary_.collect().id, 1U);
    EXPECT_TRUE(primary_.wait_until_running(0));
    primary_.worker().kill(SIGKILL);
    EXPECT_EQ(primary_.wait_for_exit(), (ExitStatus{.signalled = true, .value = SIGKILL}));
    EXPECT_EQ(primary_.worker().board().running.load(), 0U);
}

// Goal: a malformed message has no effect. Method: garbage between two requests.
TEST_F(WorkerTest, IgnoresMalformedMessages) {
    start();
    primary_.send_raw("\xff\x00garbage");
    primary_.send_raw("");
    primary_.send(proto::Goodbye{});
    primary_.request(2, "echo on");
    EXPECT_EQ(first_text(primary_.collect()), "on");
}

// Goal: a worker that the primary does not accept leaves. Method: answer its hello with an error.
TEST_F(WorkerTest, LeavesWhenItIsRefused) {
    primary_.start();
    (void)primary_.take_hello();
    primary_.send(proto::ErrorReply{.code = ErrorCode::kDenied, .facts = {}});
    EXPECT_EQ(primary_.wait_for_exit(), (ExitStatus{.signalled = false, .value = 1}));
}

// Goal: usage errors are told apart from failures. Method: an unknown option.
TEST_F(WorkerTest, UnknownOptionIsAUsageError) {
    primary_.start({"--no-such-option"});
    EXPECT_EQ(primary_.wait_for_exit(), (ExitStatus{.signalled = false, .value = 2}));
}

}  // namespace
}  // namespace shortq::test
