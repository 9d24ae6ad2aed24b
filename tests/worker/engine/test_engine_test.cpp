// tests/worker/engine/test_engine_test.cpp: the test engine does what it is told.
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

using ::testing::ExitedWithCode;
using ::testing::HasSubstr;
using ::testing::KilledBySignal;
using ::testing::StartsWith;

class TestEngineTest : public ::testing::Test {
protected:
    std::unique_ptr<Engine> engine_ = start("", {.seat = 3}, "test");
};

// Each command answers as documented. Method: ask and compare.
TEST_F(TestEngineTest, CommandsAnswer) {
    EXPECT_EQ(ask(*engine_, "sequence"), "0\n");
    EXPECT_EQ(ask(*engine_, "echo hello  world"), "hello  world\n");
    EXPECT_EQ(ask(*engine_, "echo"), "\n");
    EXPECT_EQ(ask(*engine_, "seat;"), "3\n");
    EXPECT_EQ(ask(*engine_, "pid"), std::to_string(::getpid()) + "\n");
    EXPECT_EQ(ask(*engine_, "sleep 1"), "1\n");
    EXPECT_EQ(ask(*engine_, "sleep 0.25 word"), "0\n");
    EXPECT_EQ(ask(*engine_, "nothing"), "");
    EXPECT_EQ(ask(*engine_, "fail some reason"), "query_error: some reason");
    EXPECT_EQ(ask(*engine_, "parameters", {{"", Null{}}, {"", true}}), "2\n");
    EXPECT_EQ(ask(*engine_, "sequence"), "10\n");
    EXPECT_EQ(ask(*engine_, " "), "bad_request: the query is empty");
    EXPECT_THAT(ask(*engine_, "rows x"), StartsWith("bad_request"));
    for (const char* wrong : {"sleep x", "sleep -1", "sleep nan", "sleep 2000000000"}) {
        EXPECT_THAT(ask(*engine_, wrong), StartsWith("bad_request")) << wrong;
    }
    EXPECT_THAT(ask(*engine_, "select 1"), StartsWith("query_error: unknown command"));
}

// Rows and bytes come in the number asked for. Method: counts around a batch's size.
TEST_F(TestEngineTest, RowsAndBytesAreCounted) {
    for (const std::uint64_t rows : {0U, 1U, 2047U, 2048U, 2049U, 5000U}) {
        Collector collector;
        ASSERT_TRUE(engine_->run({"rows " + std::to_string(rows), {}}, collector));
        EXPECT_EQ(collector.table().rows(), rows);
    }
    Collector collector;
    ASSERT_TRUE(engine_->run({"bytes 100000", {}}, collector));
    EXPECT_EQ(collector.table().view(0, 0)->size(), 100000U);
}

// Sleep obeys an interrupt and reports progress; `ignore` does not obey. Method: interrupt from
// another thread once the sleep shows progress.
TEST_F(TestEngineTest, SleepObeysUnlessToldNotTo) {
    EXPECT_LT(engine_->progress(), 0);
    const auto interrupted = [&](const std::string& text) {
        std::thread other([&] {
            while (engine_->progress() < 0) std::this_thread::yield();
            engine_->interrupt();
        });
        const std::string answer = ask(*engine_, text);
        other.join();
        return answer;
    };
    EXPECT_THAT(interrupted("sleep 60000"), StartsWith("cancelled"));
    EXPECT_EQ(interrupted("sleep 200 ignore"), "200\n");
}

// Sick engines say so. Method: the command.
TEST_F(TestEngineTest, SickIsRemembered) {
    EXPECT_FALSE(engine_->sick());
    EXPECT_THAT(ask(*engine_, "sick"), StartsWith("internal: "));
    EXPECT_TRUE(engine_->sick());
}

// Crash and exit end the process. Method: in a child.
TEST_F(TestEngineTest, CrashAndExitEndTheProcess) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT((void)ask(*engine_, "crash"), KilledBySignal(SIGSEGV), "");
    EXPECT_EXIT((void)ask(*engine_, "exit 7"), ExitedWithCode(7), "");
}

// The source's lines shape the load. Method: one file each.
TEST(TestEngineLoadTest, SourceLinesShapeTheLoad) {
    TempFolder folder;
    const auto load = [&](const std::string& text, unsigned seat = 1) -> std::string {
        const auto engine = make({.seat = seat}, "test");
        const auto loaded = engine->load(folder.write("source", text));
        if (!loaded) return loaded.error().where + ": " + loaded.error().message;
        return ask(*engine, "echo ok");
    };
    const std::string file = (folder.path() / "source").string();
    EXPECT_EQ(load("# comment\n\nload-sleep 1\n"), "ok\n");
    EXPECT_EQ(load("load-sleep 1\nload-fail a reason\n"), file + ":2: a reason");
    EXPECT_EQ(load("load-fail-seat 2 a reason\n"), "ok\n");
    EXPECT_EQ(load("load-fail-seat 2 a reason\n", 2), file + ":1: a reason");
    EXPECT_EQ(load("load-sleep-seat 1 1\n"), "ok\n");
    EXPECT_EQ(load("fail-every-query\n"), "query_error: every query fails here");
    EXPECT_THAT(load("nonsense\n"), HasSubstr(":1: unknown line: nonsense"));
    EXPECT_FALSE(make({}, "test")->load("/nonexistent"));
}

}  // namespace
}  // namespace shortq::engine::testing
