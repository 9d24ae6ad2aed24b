// Goal: requests that come together are the same as those that come one by one. Method: bundles
// made by hand for a real worker with the test engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>

#include "tests/proto/bundles.h"
#include "tests/worker/fake_primary.h"

namespace shortq::test {
namespace {

using std::chrono::milliseconds;

class WorkerBundleTest : public ::testing::Test {
protected:
    void start(std::uint16_t version = proto::kVersionBundles) {
        primary_.start();
        primary_.welcome_until_ready(version);
    }
    static Texts request(std::uint64_t id, std::string text) {
        return {header_text(proto::Request{.id = id, .service = {}}), std::move(text)};
    }
    void send(const std::vector<Texts>& messages) {
        primary_.send_frames({bundle_header(), bundle_body(messages)});
    }
    void expect_recalled(std::uint64_t id) {
        const auto received = primary_.next();
        ASSERT_TRUE(received && received->as<proto::Recalled>());
        EXPECT_EQ(received->as<proto::Recalled>()->id, id);
    }

    // How long the replies before a query that lasts took, at most.
    static milliseconds slowest_beside_a_long_one(FakePrimary& primary) {
        auto slowest = milliseconds(0);
        for (std::uint64_t id = 1; id < 20; id += 4) {
            const auto start = std::chrono::steady_clock::now();
            primary.send_frames(
                {bundle_header(),
                 bundle_body({request(id, "echo 1"), request(id + 1, "echo 2"),
                              request(id + 2, "sleep 600000"), request(id + 3, "echo 4")})});
            EXPECT_EQ(primary.collect().id, id);
            EXPECT_EQ(primary.collect().id, id + 1);
            slowest = std::max(slowest, std::chrono::duration_cast<milliseconds>(
                                            std::chrono::steady_clock::now() - start));
            EXPECT_TRUE(primary.wait_until_running(id + 2));
            primary.send(proto::Interrupt{id + 2});
            const auto ended = primary.collect();
            EXPECT_EQ(ended.id, id + 2);
            EXPECT_EQ(ended.error, ErrorCode::kCancelled);
            EXPECT_EQ(primary.collect().id, id + 3);
        }
        return slowest;
    }

    FakePrimary primary_;
};

// Goal: all are answered, in order, and tiny ones in fewer messages. Method: three bundles of as
// many as one round of the io loop takes, and more.
TEST_F(WorkerBundleTest, RequestsAreAnsweredInOrderAndTogether) {
    start();
    constexpr std::uint64_t kBundles = 3;
    constexpr std::uint64_t kEach = 100;
    for (std::uint64_t bundle = 0; bundle < kBundles; ++bundle) {
        std::vector<Texts> messages;
        for (std::uint64_t i = 1; i <= kEach; ++i)
            messages.push_back(request(bundle * kEach + i, "echo tiny"));
        send(messages);
    }
    for (std::uint64_t id = 1; id <= kBundles * kEach; ++id) ASSERT_EQ(primary_.collect().id, id);
    EXPECT_GE(primary_.bundles(), 1U);
    EXPECT_LT(primary_.messages(), kBundles * kEach);
}

// Goal: a result in pieces, an error and a large one keep their place among tiny ones. Method: one
// bundle of all of them.
TEST_F(WorkerBundleTest, RepliesOfAllKindsKeepTheirOrder) {
    start();
    send({request(1, "echo 1"), request(2, "rows 1000000"), request(3, "fail no"),
          request(4, "bytes 100000"), request(5, "nothing"), request(6, "echo 6")});
    for (std::uint64_t id = 1; id <= 6; ++id) {
        const auto result = primary_.collect();
        EXPECT_EQ(result.id, id);
        EXPECT_EQ(result.error.has_value(), id == 3);
        if (id == 2) {
            EXPECT_EQ(result.rows, 1'000'000);
        }
    }
}

// Goal: a reply does not wait for a query that lasts. Method: tiny ones, one that would take ten
// minutes and one behind it in a bundle, again and again. No heartbeat, with which all would leave,
// is due so soon. The quickest of some workers counts: the machine may be slow, not each time.
TEST_F(WorkerBundleTest, ASlowOneDoesNotHoldRepliesBack) {
    constexpr int kWorkers = 4;
    constexpr milliseconds kSoon{400};
    auto quickest = milliseconds::max();
    for (int i = 0; i < kWorkers && quickest >= kSoon; ++i) {
        FakePrimary primary;
        primary.start();
        primary.welcome_until_ready(proto::kVersionBundles);
        quickest = std::min(quickest, slowest_beside_a_long_one(primary));
    }
    EXPECT_LT(quickest, kSoon);
}

// Goal: what came in a bundle can be taken back. Method: recall and interrupt behind a long one, in
// messages of their own and in the bundle itself.
TEST_F(WorkerBundleTest, RecallAndInterruptWork) {
    start();
    send({request(1, "sleep 600000"),
          request(2, "echo 2"),
          request(3, "echo 3"),
          request(4, "echo 4"),
          request(5, "echo 5"),
          {header_text(proto::Recall{5})}});
    expect_recalled(5);
    ASSERT_TRUE(primary_.wait_until_running(1));
    primary_.send(proto::Recall{2});
    expect_recalled(2);
    send({{header_text(proto::Interrupt{4})}, {header_text(proto::Interrupt{1})}});
    expect_recalled(4);
    const auto ended = primary_.collect();
    EXPECT_EQ(ended.id, 1U);
    EXPECT_EQ(ended.error, ErrorCode::kCancelled);
    EXPECT_EQ(primary_.collect().id, 3U);
}

// Goal: a primary of version 1 gets no bundle. Method: such a welcome, many tiny requests at once.
TEST_F(WorkerBundleTest, APrimaryOfVersionOneGetsNone) {
    start(1);
    constexpr std::uint64_t kCount = 100;
    for (std::uint64_t id = 1; id <= kCount; ++id) primary_.request(id, "echo tiny");
    for (std::uint64_t id = 1; id <= kCount; ++id) ASSERT_EQ(primary_.collect().id, id);
    EXPECT_EQ(primary_.bundles(), 0U);
}

// Goal: what is malformed costs the rest of its bundle, no more. Method: each way to be so behind a
// good request; then the worker still answers.
TEST_F(WorkerBundleTest, MalformedOnesAreIgnored) {
    start();
    std::uint64_t id = 0;
    for (const std::string& rest :
         {std::string("\x01"), std::string("\x90"), std::string("\x91\xc4\x09z"),
          std::string("\xdd\xff\xff\xff\xff"), bundle_body({{"\xff garbage"}}),
          bundle_body({{bundle_header(), bundle_body({request(99, "echo nested")})}})}) {
        primary_.send_frames({bundle_header(), bundle_body({request(++id, "echo on")}) + rest});
        EXPECT_EQ(primary_.collect().id, id);
    }
    primary_.send_frames({bundle_header(), ""});
    primary_.send_frames({bundle_header()});
    primary_.send_frames({bundle_header(), bundle_body({request(99, "echo three frames")}), ""});
    // Many in a row, none of which has anything good.
    for (int i = 0; i < 1000; ++i) primary_.send_frames({bundle_header(), "\x90"});
    send({request(++id, "echo"), request(id + 1, "echo")});
    EXPECT_EQ(primary_.collect().id, id);
    EXPECT_EQ(primary_.collect().id, id + 1);
}

}  // namespace
}  // namespace shortq::test
