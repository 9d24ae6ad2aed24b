// Goal: messages that go together are the same as those that go one by one, in both directions.
// Method: a scripted server of version 2.
#include "proto/bundle.h"

#include <gmock/gmock.h>

#include <cstdint>
#include <future>
#include <latch>
#include <utility>

#include "shortq/client.h"
#include "tests/client/fake_server.h"

namespace shortq {
namespace {

using namespace std::chrono_literals;
using test::error_reply;
using test::FakeServer;
using test::Frames;
using test::number_reply;
using test::numbers_in;
using test::own_text;
using test::text_of;
using ::testing::ElementsAre;

class ClientBundleTest : public ::testing::Test {
protected:
    void connect(std::uint16_t version = proto::kVersionBundles) {
        auto connecting = std::async(std::launch::async, [this] {
            ConnectOptions options;
            options.endpoints = {server_.endpoint()};
            return Client::connect(options);
        });
        identity_ = server_.welcome(1, 2, version);
        client_ = std::make_unique<Client>(connecting.get().value());
    }
    std::uint64_t next_request() { return server_.next().value().as<proto::Request>().id; }

    // While whoever serves the socket is held up, many requests: they go at once afterwards.
    std::vector<RequestNumber> send_at_once(std::size_t count) {
        std::latch held(1);
        bool called = false;
        std::latch released(1);
        QueryOptions options;
        options.progress = [&](const Progress&) {
            if (std::exchange(called, true)) return;
            held.count_down();
            released.wait();
        };
        auto first = client_->submit("first", {}, options);
        const auto id = next_request();
        server_.send(identity_, test::frames_of(proto::Progress{.id = id}));
        held.wait();
        std::vector<RequestNumber> numbers;
        for (std::size_t i = 0; i < count; ++i)
            numbers.push_back(client_->async("select " + std::to_string(i)).value());
        released.count_down();
        server_.send(identity_, number_reply({id}, {1}));
        EXPECT_TRUE(first.reply.get());
        return numbers;
    }

    FakeServer server_;
    std::string identity_;
    std::unique_ptr<Client> client_;
};

// Goal: requests of one moment go together, complete and in order; their answers may come in other
// bundles, in any order.
TEST_F(ClientBundleTest, ManyRequestsGoTogetherInOrder) {
    constexpr std::size_t kCount = 90;
    connect();
    const auto numbers = send_at_once(kCount);
    std::vector<Frames> replies;
    for (std::size_t i = 0; i < kCount; ++i) {
        const auto heard = server_.next().value();
        ASSERT_EQ(heard.as<proto::Request>().id, static_cast<std::uint64_t>(numbers[i]));
        ASSERT_EQ(text_of(heard.frames.at(1)), "select " + std::to_string(i));
        const auto id = heard.as<proto::Request>().id;
        replies.insert(replies.begin(), number_reply({id}, {static_cast<std::int64_t>(i)}));
    }
    EXPECT_GE(server_.bundles(), 1U);
    const auto half = replies.begin() + kCount / 2;
    server_.send_bundle(identity_, {replies.begin(), half});
    server_.send_bundle(identity_, {half, replies.end()});
    for (std::size_t i = kCount; i-- > 0;) {
        const auto arrived = client_->wait_for(10s).value();
        EXPECT_EQ(arrived.number, numbers[i]);
        EXPECT_THAT(numbers_in(arrived.reply.value()), ElementsAre(i));
    }
}

// Goal: a server of version 1 gets no bundle, however many requests there are at once.
TEST_F(ClientBundleTest, AServerOfVersionOneGetsNone) {
    connect(proto::kVersionMin);
    const auto numbers = send_at_once(20);
    for (const auto number : numbers) EXPECT_EQ(next_request(), static_cast<std::uint64_t>(number));
    EXPECT_EQ(server_.bundles(), 0U);
}

// Goal: pieces and errors keep their order, bundled or not. Method: pieces of one reply in both
// ways.
TEST_F(ClientBundleTest, RepliesKeepTheirOrderAmongAllKinds) {
    connect();
    auto pieces = client_->submit("pieces");
    const auto in_pieces = next_request();
    auto fails = client_->submit("fails");
    const auto failing = next_request();
    server_.send_bundle(identity_, {number_reply({in_pieces, 0, 0, false}, {1}),
                                    number_reply({in_pieces, 0, 1, false}, {2, 3})});
    server_.send(identity_, number_reply({in_pieces, 0, 2, false}, {4}));
    server_.send_bundle(identity_, {error_reply(failing, ErrorCode::kQueryError, "no"),
                                    number_reply({in_pieces, 0, 3, true}, {5})});
    EXPECT_THAT(numbers_in(pieces.reply.get().value()), ElementsAre(1, 2, 3, 4, 5));
    EXPECT_EQ(fails.reply.get().error().message, "no");
}

// Goal: each table of a bundle lives by itself, and its columns may be read as what they are.
// Method: names of odd lengths would move what follows; all tables but one go, and the client.
TEST_F(ClientBundleTest, ColumnsAreAlignedAndLiveByThemselves) {
    connect();
    std::vector<Submitted> submitted;
    std::vector<Frames> messages;
    constexpr std::int64_t kCount = 9;
    for (std::int64_t i = 0; i < kCount; ++i) {
        submitted.push_back(client_->submit(std::to_string(i)));
        messages.push_back(number_reply({next_request()}, {i, -i}));
        // Nobody's: shifts the next one's place in the bundle by one byte each time.
        messages.push_back({own_text(std::string(static_cast<std::size_t>(i), 'x'))});
    }
    server_.send_bundle(identity_, messages);
    std::optional<Table> kept;
    for (std::int64_t i = 0; i < kCount; ++i) {
        auto table = submitted[static_cast<std::size_t>(i)].reply.get().value();
        const auto values = table.values<std::int64_t>(0, 0).value();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values.data()) % alignof(std::int64_t), 0U);
        EXPECT_THAT(values, ElementsAre(i, -i));
        if (i == 4) kept = std::move(table);
    }
    client_.reset();
    EXPECT_THAT(numbers_in(*kept), ElementsAre(4, -4));
}

// Goal: what is malformed in a bundle, and a bundle that is nothing else, harms nobody. Method:
// each way to be so behind a good reply.
TEST_F(ClientBundleTest, MalformedOnesAreSurvived) {
    connect();
    std::int64_t value = 0;
    for (const std::string& rest :
         {std::string("\x01"), std::string("\x90"), std::string("\x91\xc4\x09z"),
          std::string("\xdd\xff\xff\xff\xff"), std::string("\x91\xc4\x00", 3),
          std::string("\x92\xc4\x03\x92\x02\x12\xc4\x01\x90")}) {
        auto submitted = client_->submit("x");
        server_.send_bundle(identity_, {number_reply({next_request()}, {++value})}, rest);
        EXPECT_THAT(numbers_in(submitted.reply.get().value()), ElementsAre(value));
    }
    auto last = client_->submit("x");
    const auto id = next_request();
    const Buffer header{proto::kBundleHeader, nullptr};
    server_.send(identity_, {header});
    server_.send(identity_, {header, own_text("")});
    server_.send(identity_, {header, own_text("\x90"), own_text("\x90")});
    for (int i = 0; i < 200; ++i) server_.send_bundle(identity_, {}, "\x90");
    server_.send(identity_, number_reply({id}, {7}));
    EXPECT_THAT(numbers_in(last.reply.get().value()), ElementsAre(7));
}

// Goal: more replies in bundles than are taken in a round all arrive. Method: 20 bundles of 50 at
// once, of which the last reply is the client's own.
TEST_F(ClientBundleTest, ManyMessagesInBundlesAllArrive) {
    connect();
    auto submitted = client_->submit("x");
    const auto id = next_request();
    for (std::uint32_t sequence = 0; sequence < 1000; sequence += 50) {
        std::vector<Frames> messages;
        for (std::uint32_t i = sequence; i < sequence + 50; ++i)
            messages.push_back(number_reply({id, 0, i, i == 999}, {i}));
        server_.send_bundle(identity_, messages);
    }
    const auto numbers = numbers_in(submitted.reply.get().value());
    ASSERT_EQ(numbers.size(), 1000U);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        ASSERT_EQ(numbers[i], static_cast<std::int64_t>(i));
}

}  // namespace
}  // namespace shortq
