// tests/worker/fork_channel_test.cpp: the channel between the primary and a fork server.
#include "worker/engine/fork_channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "proto/utf8.h"

namespace shortq {
namespace {

using ::testing::StartsWith;

class ForkChannelTest : public ::testing::Test {
protected:
    ForkChannelTest() : ForkChannelTest(made()) {}

    // What the primary receives of this.
    ForkReport delivered(const ForkReport& report) {
        EXPECT_TRUE(server_.send(report));
        const auto received = primary_.receive_report();
        if (!received) throw std::runtime_error(received.error().message);
        if (!*received) throw std::runtime_error("nothing came");
        return **received;
    }
    void send_raw(const ForkChannel& from, const std::string& bytes) {
        ASSERT_EQ(::send(from.fd(), bytes.data(), bytes.size(), 0),
                  static_cast<ssize_t>(bytes.size()));
    }

    ForkChannel primary_;
    ForkChannel server_;

private:
    explicit ForkChannelTest(std::pair<ForkChannel, ForkChannel> ends)
        : primary_(std::move(ends.first)), server_(std::move(ends.second)) {}
    static std::pair<ForkChannel, ForkChannel> made() {
        auto ends = ForkChannel::make();
        if (!ends) throw std::runtime_error(ends.error().message);
        return std::move(*ends);
    }
};

// Goal: reports arrive as they were sent. Method: each kind, with the largest numbers.
TEST_F(ForkChannelTest, ReportsArriveAsSent) {
    for (const ForkReport& report : std::vector<ForkReport>{
             BaseLoaded{.load_us = 1, .base_bytes = UINT64_MAX},
             BaseFailed{Error{ErrorCode::kBadRequest, "no \"table\" \xC3\xA9", "a.sql:3", false}},
             CannotFork{"threads"}, Forked{.worker = UINT64_MAX, .pid = 4'194'304},
             ForkFailed{.worker = 7, .reason = "fork: no memory"}}) {
        EXPECT_EQ(delivered(report), report);
    }
}

// Goal: whoever looks for a report never waits. Method: look at an empty channel.
TEST_F(ForkChannelTest, NothingIsNoError) {
    const auto received = primary_.receive_report();
    ASSERT_TRUE(received);
    EXPECT_FALSE(*received);
}

// Goal: reports keep their order and their bounds. Method: many before the first is read.
TEST_F(ForkChannelTest, ReportsKeepTheirOrder) {
    constexpr std::uint64_t kMany = 100;
    for (std::uint64_t i = 0; i < kMany; ++i) {
        ASSERT_TRUE(server_.send(Forked{.worker = i, .pid = 1}));
    }
    for (std::uint64_t i = 0; i < kMany; ++i) {
        EXPECT_EQ(primary_.receive_report().value(), ForkReport(Forked{.worker = i, .pid = 1}));
    }
}

// Goal: an order brings the descriptor of its board, which the sender keeps. Method: send a file's;
// what the receiver writes into it is in the sender's.
TEST_F(ForkChannelTest, AnOrderBringsItsBoard) {
    const UniqueFd board(::memfd_create("board", MFD_CLOEXEC));
    const ForkOrder order{.worker = UINT64_MAX, .seat = 3, .temp_directory = "/tmp/it's a place\n"};
    ASSERT_TRUE(primary_.send(order, board.get()));
    const auto received = server_.receive_order();
    ASSERT_TRUE(received) << received.error().message;
    EXPECT_EQ(received->order, order);
    EXPECT_NE(received->board.get(), board.get());
    EXPECT_NE(::fcntl(received->board.get(), F_GETFD) & FD_CLOEXEC, 0);
    ASSERT_EQ(::pwrite(received->board.get(), "x", 1, 0), 1);
    char byte = 0;
    EXPECT_EQ(::pread(board.get(), &byte, 1, 0), 1);
    EXPECT_EQ(byte, 'x');
}

// Goal: an error of any length arrives, cut where it must be, and still is text. Method: lengths
// around the limit, of characters of one to four bytes.
TEST_F(ForkChannelTest, LongErrorsAreCutBetweenCharacters) {
    for (const std::string character : {"x", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"}) {
        std::string text = "1";
        while (text.size() < 300'000) text += character;
        const auto received =
            delivered(BaseFailed{Error{ErrorCode::kQueryError, text, text, false}});
        const auto& error = std::get<BaseFailed>(received).error;
        EXPECT_GT(error.message.size(), 10'000U);
        EXPECT_THAT(text, StartsWith(error.message));
        EXPECT_THAT(text, StartsWith(error.where));
        EXPECT_TRUE(proto::is_utf8(error.message)) << character;
    }
}

// Goal: what is no message is an error, and the channel lives on. Method: garbage, every truncation
// of a real message, and a real one with every byte changed; then a good one.
TEST_F(ForkChannelTest, GarbageIsRefused) {
    std::mt19937 random(1);
    std::vector<std::string> packets{"x", std::string(100'000, '\xFF'), std::string(64, '\0')};
    for (int i = 0; i < 200; ++i) {
        std::string packet(1 + random() % 60, '\0');
        for (char& byte : packet) byte = static_cast<char>(random());
        packets.push_back(packet);
    }
    ASSERT_TRUE(server_.send(BaseFailed{Error{ErrorCode::kQueryError, "message", "where", false}}));
    std::string good(200, '\0');
    good.resize(static_cast<std::size_t>(::recv(primary_.fd(), good.data(), good.size(), 0)));
    for (std::size_t size = 1; size < good.size(); ++size) packets.push_back(good.substr(0, size));
    const std::size_t must_fail = packets.size();
    for (std::size_t at = 0; at < good.size(); ++at) {
        packets.push_back(good);
        packets.back()[at] = static_cast<char>(packets.back()[at] ^ 0x55);
    }
    for (std::size_t i = 0; i < packets.size(); ++i) {
        send_raw(server_, packets[i]);
        const auto report = primary_.receive_report();
        if (i < must_fail) {
            EXPECT_FALSE(report) << i;
        }
        send_raw(primary_, packets[i]);
        const auto order = server_.receive_order();
        EXPECT_FALSE(order) << i;
        if (!order) {
            EXPECT_EQ(order.error().code, ErrorCode::kBadRequest);
        }
    }
    EXPECT_EQ(delivered(CannotFork{"still here"}), ForkReport(CannotFork{"still here"}));
}

// Goal: an end that has closed is noticed by each call of the other, after what it said before.
// Method: close either.
TEST_F(ForkChannelTest, AClosedEndIsNoticed) {
    ASSERT_TRUE(server_.send(CannotFork{"last words"}));
    server_.close();
    EXPECT_EQ(primary_.receive_report().value(), ForkReport(CannotFork{"last words"}));
    const auto received = primary_.receive_report();
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, ErrorCode::kUnavailable);
    const UniqueFd board(::memfd_create("board", MFD_CLOEXEC));
    EXPECT_FALSE(primary_.send(ForkOrder{}, board.get()));
}
TEST_F(ForkChannelTest, AClosedPrimaryIsNoticed) {
    primary_.close();
    const auto received = server_.receive_order();
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, ErrorCode::kUnavailable);
    EXPECT_FALSE(server_.send(CannotFork{"nobody hears"}));
}

}  // namespace
}  // namespace shortq
