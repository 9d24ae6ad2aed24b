// Goal: the client over a real socket: nothing hangs, nothing is lost, whatever the server does.
// Method: a scripted ROUTER in the test; the client's calls run on a second thread.
#include "shortq/client.h"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <future>
#include <thread>

#include "tests/client/fake_server.h"

namespace shortq {
namespace {

using namespace std::chrono_literals;
using test::error_reply;
using test::FakeServer;
using test::number_reply;
using test::numbers_in;
using test::text_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

ConnectOptions to(std::vector<std::string> endpoints) {
    ConnectOptions options;
    options.endpoints = std::move(endpoints);
    return options;
}

class ClientTest : public ::testing::Test {
protected:
    ClientTest() {
        auto connecting = std::async(std::launch::async,
                                     [this] { return Client::connect(to({server_.endpoint()})); });
        identity_ = server_.welcome();
        client_ = std::make_unique<Client>(connecting.get().value());
    }

    // A call that serves the socket itself, and leaves it to nobody.
    void answer_one_deferred() {
        auto deferred = std::async(std::launch::async, [&] { return client_->deferred("one"); });
        server_.send(identity_, number_reply({server_.next()->as<proto::Request>().id}, {1}));
        EXPECT_THAT(numbers_in(deferred.get().value()), ElementsAre(1));
    }

    FakeServer server_;
    std::string identity_;
    std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, KnowsItsServer) {
    EXPECT_EQ(client_->server().endpoint, server_.endpoint());
    EXPECT_EQ(client_->server().server, "fake/1");
    EXPECT_EQ(client_->server().workers, 2U);
    EXPECT_EQ(client_->server().query_bytes_max, 1U << 20);
}

TEST_F(ClientTest, SubmittedRequestsAreAnsweredThroughTheirFutures) {
    auto first = client_->submit("select 1");
    auto second = client_->submit_sync("select 2");
    const auto heard_first = server_.next().value();
    const auto heard_second = server_.next().value();
    EXPECT_EQ(heard_first.as<proto::Request>().mode, proto::Mode::kDeferred);
    EXPECT_EQ(heard_second.as<proto::Request>().mode, proto::Mode::kSync);
    EXPECT_EQ(text_of(heard_second.frames[1]), "select 2");
    server_.send(identity_, number_reply({heard_second.as<proto::Request>().id}, {2}));
    server_.send(identity_, number_reply({heard_first.as<proto::Request>().id, 0, 0, false}, {1}));
    server_.send(identity_, number_reply({heard_first.as<proto::Request>().id, 0, 1, true}, {11}));
    EXPECT_THAT(numbers_in(second.reply.get().value()), ElementsAre(2));
    EXPECT_THAT(numbers_in(first.reply.get().value()), ElementsAre(1, 11));
}

TEST_F(ClientTest, BlockingCallsReturnTableOrError) {
    auto deferred = std::async(std::launch::async, [&] { return client_->deferred("a"); });
    server_.send(identity_, number_reply({server_.next()->as<proto::Request>().id}, {4}));
    EXPECT_THAT(numbers_in(deferred.get().value()), ElementsAre(4));
    auto sync = std::async(std::launch::async, [&] { return client_->sync("b"); });
    server_.send(identity_, error_reply(server_.next()->as<proto::Request>().id,
                                        ErrorCode::kQueryError, "no such table"));
    EXPECT_EQ(sync.get().error().message, "no such table");
}

TEST_F(ClientTest, WaitReturnsRepliesInTheOrderOfArrival) {
    EXPECT_EQ(client_->wait().error().code, ErrorCode::kNotFound);
    const auto first = client_->async("select 1").value();
    const auto second = client_->async("select 2").value();
    EXPECT_EQ(client_->wait_for(1ms).error().code, ErrorCode::kTimeout);
    server_.send(identity_, number_reply({static_cast<std::uint64_t>(second)}, {2}));
    auto arrived = client_->wait().value();
    EXPECT_EQ(arrived.number, second);
    EXPECT_THAT(numbers_in(arrived.reply.value()), ElementsAre(2));
    server_.send(identity_, number_reply({static_cast<std::uint64_t>(first)}, {1}));
    EXPECT_EQ(client_->wait_for(10s).value().number, first);
    EXPECT_EQ(client_->wait().error().code, ErrorCode::kNotFound);
}

// Goal: a request leaves at once, also while nobody serves the socket. Method: a blocking call that
// ends leaves it so; then async() alone, and no wait().
TEST_F(ClientTest, AsyncRequestLeavesWithoutAnybodyWaiting) {
    answer_one_deferred();
    const auto number = client_->async("select 2").value();
    EXPECT_EQ(server_.next()->as<proto::Request>().id, static_cast<std::uint64_t>(number));
    answer_one_deferred();
    auto submitted = client_->submit("select 3");
    server_.send(identity_, number_reply({server_.next()->as<proto::Request>().id}, {3}));
    EXPECT_THAT(numbers_in(submitted.reply.get().value()), ElementsAre(3));
}

// Goal: whoever serves, everybody gets what is theirs. Method: while one waits in deferred(),
// another does, a future is under way and an async request; the one who served is answered first.
TEST_F(ClientTest, OthersAreServedWhenACallerIsAnswered) {
    answer_one_deferred();
    auto first = std::async(std::launch::async, [&] { return client_->deferred("first"); });
    const auto first_id = server_.next()->as<proto::Request>().id;
    auto second = std::async(std::launch::async, [&] { return client_->deferred("second"); });
    const auto second_id = server_.next()->as<proto::Request>().id;
    auto future = client_->submit("future");
    const auto future_id = server_.next()->as<proto::Request>().id;
    const auto async_number = client_->async("async").value();
    const auto async_id = server_.next()->as<proto::Request>().id;
    server_.send(identity_, number_reply({first_id}, {1}));
    EXPECT_THAT(numbers_in(first.get().value()), ElementsAre(1));
    server_.send(identity_, number_reply({future_id}, {3}));
    EXPECT_THAT(numbers_in(future.reply.get().value()), ElementsAre(3));
    server_.send(identity_, number_reply({async_id}, {4}));
    EXPECT_EQ(client_->wait().value().number, async_number);
    server_.send(identity_, number_reply({second_id}, {2}));
    EXPECT_THAT(numbers_in(second.get().value()), ElementsAre(2));
}

// Goal: who looks whether a reply is there, without waiting, finds it. Method: until it does.
TEST_F(ClientTest, LookingWithoutWaitingFindsAReply) {
    answer_one_deferred();
    const auto number = client_->async("select 2").value();
    EXPECT_EQ(client_->wait_for(0ms).error().code, ErrorCode::kTimeout);
    server_.send(identity_, number_reply({server_.next()->as<proto::Request>().id}, {2}));
    for (;;) {
        const auto arrived = client_->wait_for(0ms);
        if (!arrived) {
            ASSERT_EQ(arrived.error().code, ErrorCode::kTimeout);
            continue;
        }
        EXPECT_EQ(arrived->number, number);
        break;
    }
}

// Goal: a program's signals reach it while it waits, and the wait goes on. Method: one every
// millisecond to the waiting thread, with a handler that counts.
TEST_F(ClientTest, SignalsDoNotEndAWait) {
    static std::atomic<int> signals{0};
    struct sigaction count {};
    count.sa_handler = [](int) { ++signals; };
    struct sigaction before {};
    ASSERT_EQ(::sigaction(SIGUSR1, &count, &before), 0);
    std::promise<pthread_t> thread;
    auto waiting = std::async(std::launch::async, [&] {
        thread.set_value(::pthread_self());
        return client_->deferred("select 1");
    });
    const auto target = thread.get_future().get();
    const auto id = server_.next()->as<proto::Request>().id;
    for (int sent = 0; sent < 50; ++sent) {
        const int seen = signals;
        ::pthread_kill(target, SIGUSR1);
        while (signals == seen) std::this_thread::yield();
    }
    server_.send(identity_, number_reply({id}, {7}));
    EXPECT_THAT(numbers_in(waiting.get().value()), ElementsAre(7));
    ::sigaction(SIGUSR1, &before, nullptr);
}

// Goal: heartbeats go out while a caller serves. Method: a call that takes three of them.
TEST_F(ClientTest, HeartbeatsGoOutWhileACallerServes) {
    answer_one_deferred();
    auto deferred = std::async(std::launch::async, [&] { return client_->deferred("long"); });
    const auto id = server_.next()->as<proto::Request>().id;
    const auto before = server_.heartbeats();
    while (server_.heartbeats() < before + 3)
        ASSERT_FALSE(server_.next(10ms)) << "there is nothing but heartbeats";
    server_.send(identity_, number_reply({id}, {1}));
    EXPECT_TRUE(deferred.get());
}

TEST_F(ClientTest, TableOutlivesItsClient) {
    auto submitted = client_->submit("select 1");
    server_.send(identity_, number_reply({server_.next()->as<proto::Request>().id}, {42}));
    const auto table = submitted.reply.get().value();
    client_.reset();
    EXPECT_THAT(numbers_in(table), ElementsAre(42));
}

TEST_F(ClientTest, CancelReachesTheServer) {
    auto submitted = client_->submit("select 1");
    const auto id = server_.next()->as<proto::Request>().id;
    client_->cancel(submitted.number);
    EXPECT_EQ(server_.next()->as<proto::Cancel>().id, id);
    server_.send(identity_, error_reply(id, ErrorCode::kCancelled, "cancelled"));
    EXPECT_EQ(submitted.reply.get().error().code, ErrorCode::kCancelled);
}

TEST_F(ClientTest, DestructorSaysGoodbyeAndAnswersWhatIsOpen) {
    auto submitted = client_->submit("select 1");
    ASSERT_TRUE(std::holds_alternative<proto::Request>(server_.next()->header));
    client_.reset();
    EXPECT_EQ(server_.next()->as<proto::Goodbye>().session, 1U);
    EXPECT_EQ(submitted.reply.get().error().code, ErrorCode::kCancelled);
}

// Case 32: the primary restarted on the same port while a client waits.
TEST_F(ClientTest, RestartedServerGetsDeferredRequestsAgain) {
    auto deferred = client_->submit("select 1");
    auto sync = client_->submit_sync("select 2");
    const auto id = server_.next()->as<proto::Request>().id;
    ASSERT_TRUE(server_.next());
    server_.restart();
    EXPECT_THAT(sync.reply.get().error().message, HasSubstr("it may or may not have run"));
    identity_ = server_.welcome(2);
    const auto again = server_.next().value();
    EXPECT_EQ(again.as<proto::Request>().id, id);
    EXPECT_EQ(again.as<proto::Request>().session, 2U);
    EXPECT_EQ(text_of(again.frames[1]), "select 1");
    server_.send(identity_, number_reply({id}, {7}));
    EXPECT_THAT(numbers_in(deferred.reply.get().value()), ElementsAre(7));
}

TEST_F(ClientTest, UnknownSessionIsGreetedAnew) {
    auto deferred = client_->submit("select 1");
    const auto id = server_.next()->as<proto::Request>().id;
    server_.send(identity_, error_reply(id, ErrorCode::kUnknownSession, "who?"));
    identity_ = server_.welcome(9);
    EXPECT_EQ(server_.next()->as<proto::Request>().session, 9U);
    server_.send(identity_, number_reply({id}, {7}));
    EXPECT_TRUE(deferred.reply.get());
}

TEST_F(ClientTest, DeadServerCannotHoldARequestPastItsDeadline) {
    QueryOptions query;
    query.timeout = 100ms;
    server_.stop();
    const auto started = std::chrono::steady_clock::now();
    const auto reply = client_->deferred("select 1", {}, query);
    EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
    EXPECT_LT(std::chrono::steady_clock::now() - started, 10s);
}

TEST_F(ClientTest, GarbageFromTheServerIsSurvived) {
    auto submitted = client_->submit("select 1");
    const auto id = server_.next()->as<proto::Request>().id;
    const auto good = number_reply({id}, {7});
    server_.send(identity_, {test::own_text("")});
    server_.send(identity_, {test::own_text("\xff\xfe garbage"), test::own_text("x")});
    for (std::size_t length = 0; length < good.front().bytes.size(); ++length) {
        auto cut = good;
        cut.front().bytes = cut.front().bytes.first(length);
        server_.send(identity_, cut);
    }
    server_.send(identity_, good);
    EXPECT_THAT(numbers_in(submitted.reply.get().value()), ElementsAre(7));
}

TEST_F(ClientTest, ManyThreadsShareOneClient) {
    constexpr int kThreads = 4;
    constexpr int kEach = 50;
    std::vector<std::future<int>> callers;
    for (int i = 0; i < kThreads; ++i) {
        callers.push_back(std::async(std::launch::async, [this] {
            int answered = 0;
            for (int n = 0; n < kEach; ++n) answered += client_->deferred("x") ? 1 : 0;
            return answered;
        }));
    }
    for (int n = 0; n < kThreads * kEach; ++n) {
        server_.send(identity_,
                     number_reply({server_.next().value().as<proto::Request>().id}, {1}));
    }
    for (auto& caller : callers) EXPECT_EQ(caller.get(), kEach);
}

TEST(ClientConnectTest, NobodyThereIsSaidInTime) {
    FakeServer server;
    server.stop();
    auto options = to({server.endpoint()});
    options.connect_timeout = 300ms;
    const auto client = Client::connect(options);
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().code, ErrorCode::kConnection);
    EXPECT_THAT(client.error().message,
                HasSubstr("no shortq answered within 0.3 s; is it running?"));
}

TEST(ClientConnectTest, ServerOnAnIpv6AddressIsReached) {
    std::optional<FakeServer> server;
    try {
        server.emplace("tcp://[::1]:*");
    } catch (const zmq::error_t& error) {
        GTEST_SKIP() << "this machine has no ::1: " << error.what();
    }
    auto connecting =
        std::async(std::launch::async, [&] { return Client::connect(to({server->endpoint()})); });
    server->welcome();
    EXPECT_TRUE(connecting.get());
}

TEST(ClientConnectTest, MalformedEndpointIsRefused) {
    EXPECT_EQ(Client::connect(to({"nonsense"})).error().code, ErrorCode::kBadRequest);
    EXPECT_EQ(Client::connect(to({})).error().code, ErrorCode::kBadRequest);
}

TEST(ClientConnectTest, RefusalOfTheServerIsPassedOn) {
    FakeServer server;
    auto connecting =
        std::async(std::launch::async, [&] { return Client::connect(to({server.endpoint()})); });
    server.send(server.next().value().identity,
                error_reply(0, ErrorCode::kBadRequest, "this server speaks version 2 only"));
    EXPECT_EQ(connecting.get().error().message, "this server speaks version 2 only");
}

TEST(ClientConnectTest, NextEndpointIsTriedInOrder) {
    FakeServer dead;
    dead.stop();
    FakeServer alive;
    auto connecting = std::async(std::launch::async, [&] {
        return Client::connect(to({dead.endpoint(), alive.endpoint()}));
    });
    alive.welcome();
    EXPECT_EQ(connecting.get().value().server().endpoint, alive.endpoint());
}

TEST(ClientConnectTest, WaitsForAWorkerIfAsked) {
    FakeServer server;
    auto options = to({server.endpoint()});
    options.wait_until_ready = true;
    auto connecting = std::async(std::launch::async, [&] { return Client::connect(options); });
    server.welcome(1, 0);
    EXPECT_EQ(server.next().value().as<proto::Goodbye>().session, 1U);
    server.welcome(2, 1);
    EXPECT_EQ(connecting.get().value().server().workers, 1U);
}

}  // namespace
}  // namespace shortq
