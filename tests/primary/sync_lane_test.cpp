#include "primary/sync_lane.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

#include "primary/wire.h"

namespace shortq::primary {
namespace {

constexpr int kMegabytes = 20;

// An engine with one text for each behaviour. "hang" runs until the third interrupt: earlier ones
// get lost, as they may.
class FakeEngine final : public engine::Engine {
public:
    Result<void> load(const std::filesystem::path&) override { return {}; }
    Result<void> run(const engine::Query& query, engine::ResultSink& sink) override {
        if (query.text == "fail") return fail(ErrorCode::kQueryError, "Parser Error: no", "line 1");
        if (query.text == "hang") {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return interrupts_ >= 3; });
            return fail(ErrorCode::kCancelled, "interrupted");
        }
        if (!sink.begin(Schema{})) return fail(ErrorCode::kCancelled, "nobody reads");
        if (query.text == "large") return deliver_megabytes(sink);
        return {};
    }
    void interrupt() noexcept override {
        const std::lock_guard lock(mutex_);
        ++interrupts_;
        changed_.notify_all();
    }
    double progress() const noexcept override { return 0.5; }
    bool sick() const noexcept override { return false; }

private:
    static Result<void> deliver_megabytes(engine::ResultSink& sink) {
        const auto bytes = std::make_shared<std::vector<std::byte>>(proto::kChunkBytesTarget);
        for (int i = 0; i < kMegabytes; ++i) {
            Batch batch;
            batch.rows = 1;
            batch.columns.resize(1);
            batch.columns[0].buffers.push_back({*bytes, bytes});
            if (!sink.batch(std::move(batch))) return fail(ErrorCode::kCancelled, "nobody reads");
        }
        return {};
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    int interrupts_ = 0;
};

class SyncLaneTest : public testing::Test {
protected:
    SyncReply next_reply() {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, std::chrono::seconds(10),
                               [this] { return !replies_.empty(); }))
            throw std::runtime_error("no reply");
        auto reply = std::move(replies_.front());
        replies_.pop_front();
        return reply;
    }
    bool has_reply_within(std::chrono::milliseconds time) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, time, [this] { return !replies_.empty(); });
    }
    void submit(std::uint64_t id, std::string_view text) {
        SyncJob job;
        job.request = core::RequestId{id};
        job.text = frame_of(text);
        lane_.submit(std::move(job));
    }
    void wait_until_running(std::uint64_t id) {
        while (!lane_.is_running(core::RequestId{id})) std::this_thread::yield();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<SyncReply> replies_;
    SyncLane lane_{[](HostLink&) -> Result<std::unique_ptr<engine::Engine>> {
                       return std::make_unique<FakeEngine>();
                   },
                   [this](SyncReply reply) {
                       const std::lock_guard lock(mutex_);
                       replies_.push_back(std::move(reply));
                       changed_.notify_all();
                   },
                   [](const Question&) {},
                   [](SyncJob& job, const Error&) {
                       return std::string_view(static_cast<const char*>(job.text.data()),
                                               job.text.size()) == "taken over";
                   }};
};

// Jobs are answered in the order they came, results and errors under their own ids.
TEST_F(SyncLaneTest, AnswersInOrder) {
    submit(1, "ok");
    submit(2, "fail");
    submit(3, "ok");
    auto reply = next_reply();
    EXPECT_EQ(std::get<proto::Reply>(reply.header).id, 1U);
    EXPECT_TRUE(std::get<proto::Reply>(reply.header).last);
    EXPECT_EQ(reply.bodies.size(), 1U);  // The schema frame.
    reply = next_reply();
    EXPECT_EQ(std::get<proto::ErrorReply>(reply.header).id, 2U);
    EXPECT_EQ(std::get<proto::ErrorReply>(reply.header).code, ErrorCode::kQueryError);
    EXPECT_EQ(text_of(reply.bodies.at(0)), "Parser Error: no");
    EXPECT_EQ(text_of(reply.bodies.at(1)), "line 1");
    EXPECT_EQ(std::get<proto::Reply>(next_reply().header).id, 3U);
}

// What waits is taken back without an answer; what runs is interrupted until it ends, once is not
// enough; what came later is answered as ever.
TEST_F(SyncLaneTest, InterruptIsRepeatedUntilTheQueryEnds) {
    submit(1, "hang");
    submit(2, "ok");
    submit(3, "ok");
    wait_until_running(1);
    EXPECT_EQ(lane_.interrupt(core::RequestId{2}), SyncLane::Found::kWithdrawn);
    EXPECT_EQ(lane_.interrupt(core::RequestId{1}), SyncLane::Found::kRunning);
    while (lane_.repeat_interrupt()) std::this_thread::yield();
    EXPECT_EQ(std::get<proto::ErrorReply>(next_reply().header).code, ErrorCode::kCancelled);
    EXPECT_EQ(std::get<proto::Reply>(next_reply().header).id, 3U);
    EXPECT_EQ(lane_.interrupt(core::RequestId{1}), SyncLane::Found::kNo);
}

// Parameters that are no msgpack are the client's fault, and reach no engine.
TEST_F(SyncLaneTest, BadParametersAreABadRequest) {
    SyncJob job;
    job.request = core::RequestId{1};
    job.text = frame_of("ok");
    job.parameters = frame_of("\xc1");
    lane_.submit(std::move(job));
    EXPECT_EQ(std::get<proto::ErrorReply>(next_reply().header).code, ErrorCode::kBadRequest);
}

// Leaving ends the query that runs and drops those that wait.
TEST_F(SyncLaneTest, StopEndsARunningQuery) {
    submit(1, "hang");
    submit(2, "ok");
    wait_until_running(1);
    EXPECT_TRUE(lane_.stop(std::chrono::steady_clock::now() + std::chrono::seconds(10)));
    EXPECT_EQ(std::get<proto::ErrorReply>(next_reply().header).id, 1U);
    EXPECT_TRUE(replies_.empty());
}

// A large result waits for its reader; grants for others do not help it.
TEST_F(SyncLaneTest, PiecesWaitForGrants) {
    submit(1, "large");
    std::uint64_t bytes = 0;
    const auto read = [&] {
        const auto reply = next_reply();
        const auto& header = std::get<proto::Reply>(reply.header);
        for (const auto& body : reply.bodies) bytes += body.size();
        return header.last;
    };
    while (bytes < proto::kReplyWindowBytes) ASSERT_FALSE(read());
    lane_.grant(core::RequestId{2}, bytes * 2);
    EXPECT_FALSE(has_reply_within(std::chrono::milliseconds(200)));
    lane_.grant(core::RequestId{1}, bytes + 1);
    EXPECT_FALSE(read());
    EXPECT_FALSE(has_reply_within(std::chrono::milliseconds(200)));
    bool last = false;
    while (!last) {
        lane_.grant(core::RequestId{1}, bytes + proto::kReplyWindowBytes);
        last = read();
    }
    EXPECT_GT(bytes, kMegabytes * proto::kChunkBytesTarget);
}

// An interrupt reaches it while it waits for its reader.
TEST_F(SyncLaneTest, WaitingForAReaderCanBeInterrupted) {
    submit(1, "large");
    std::uint64_t bytes = 0;
    while (bytes < proto::kReplyWindowBytes) {
        for (const auto& body : next_reply().bodies) bytes += body.size();
    }
    EXPECT_EQ(lane_.interrupt(core::RequestId{1}), SyncLane::Found::kRunning);
    const auto reply = next_reply();
    EXPECT_EQ(std::get<proto::ErrorReply>(reply.header).code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace shortq::primary
