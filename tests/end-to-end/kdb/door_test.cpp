// Goal: the kdb+ door does what kdb+ clients rely on, whatever they send and in whatever pieces.
// Method: a real server and a client of raw bytes.
#include <gmock/gmock.h>

#include <csignal>
#include <functional>
#include <map>
#include <set>

#include "proto/kdb/compress.h"
#include "tests/end-to-end/harness.h"
#include "tests/end-to-end/kdb/kdb_client.h"
#include "tests/temporary_folder.h"

namespace shortq::test {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kHello{"desk:secret\x03\0", 13};
// What cannot be shown to stay away is watched for this long.
constexpr auto kAWhile = 200ms;

class KdbDoorTest : public ::testing::Test {
protected:
    // Commands of the test engine.
    explicit KdbDoorTest(std::vector<std::string> options = {"--engine", "test"})
        : KdbDoorTest([&](const TemporaryFolder&) { return options; }) {}
    using Options = std::function<std::vector<std::string>(const TemporaryFolder&)>;
    explicit KdbDoorTest(const Options& options)
        : server_(arguments(options(folder_))), port_(kdb_port(server_.log())) {}

    std::vector<std::string> arguments(std::vector<std::string> options) const {
        options.insert(options.begin(), {"--kdb-port", "0"});
        options.insert(options.end(), {"2", folder_.write("startup.sql", "")});
        return options;
    }
    [[nodiscard]] KdbClient connect() const { return {port_, kHello}; }
    // How many of the dispatcher's requests are unanswered.
    [[nodiscard]] std::string unanswered() const {
        auto client = server_.connect();
        return cell(client.sync("select count(*) from shortq.queries where mode = 'deferred'"));
    }
    [[nodiscard]] bool wait_for_unanswered(const std::string& count) const {
        return wait_until([&] { return unanswered() == count; });
    }

    TemporaryFolder folder_;
    Server server_;
    std::uint16_t port_;
};

// ---- The handshake

TEST_F(KdbDoorTest, HandshakeIsAnsweredWithTheCommonCapability) {
    const auto answer = [&](std::string_view greeting) { return KdbClient(port_).greet(greeting); };
    EXPECT_EQ(answer({"anonymous\x03\0", 11}), 3);
    EXPECT_EQ(answer({"desk:secret\x03\0", 13}), 3);
    EXPECT_EQ(answer({":\x03\0", 3}), 3);
    EXPECT_EQ(answer({"desk:secret\x06\0", 13}), 3);
    EXPECT_EQ(answer({"desk:secret\x01\0", 13}), 1);
    EXPECT_EQ(answer({"desk:secret\0", 12}), 0);
}

TEST_F(KdbDoorTest, HandshakeAndRequestsMayComeByteByByte) {
    KdbClient client(port_);
    for (const char byte : kHello.substr(0, kHello.size() - 1)) client.send({&byte, 1});
    EXPECT_EQ(client.greet(kHello.substr(kHello.size() - 1)), 3);
    for (const auto byte : kdb::encode_message(kdb::text_of("echo a"), kdb::Kind::kAsync))
        client.send(std::span(&byte, 1));
    EXPECT_EQ(client.text(), "a");
}

// A client may send before it has read the answer.
TEST_F(KdbDoorTest, RequestMayFollowTheHandshakeAtOnce) {
    KdbClient client(port_);
    const auto request = kdb::encode_message(kdb::text_of("echo a"), kdb::Kind::kAsync);
    std::string bytes(kHello);
    bytes.append(reinterpret_cast<const char*>(request.data()), request.size());
    EXPECT_EQ(client.greet(bytes, true), 3);
    EXPECT_EQ(client.text(), "a");
}

TEST_F(KdbDoorTest, NonsenseInsteadOfAHandshakeIsHungUpOn) {
    EXPECT_EQ(KdbClient(port_).greet("GET / HTTP/1.1\r\n\r\n"), std::nullopt);
    EXPECT_EQ(KdbClient(port_).greet({"\xff\xff\x03\0", 4}), std::nullopt);
    EXPECT_EQ(KdbClient(port_).greet(std::string(2000, 'x')), std::nullopt);
}

TEST_F(KdbDoorTest, AHandshakeThatIsNotFinishedIsHungUpOn) {
    EXPECT_EQ(KdbClient(port_).greet("desk"), std::nullopt);
}

// ---- Replies in order

TEST_F(KdbDoorTest, DeferredRepliesLeaveInTheOrderOfTheirRequests) {
    auto client = connect();
    client.deferred("sleep 300 first");
    client.deferred("echo second");
    client.deferred("fail third");
    client.deferred("nothing");
    client.deferred("echo fifth");
    std::vector<std::string> replies;
    for (int i = 0; i < 5; ++i) {
        const auto reply = client.receive();
        EXPECT_EQ(reply.kind, kdb::Kind::kAsync);
        replies.push_back(text_of_reply(reply.object));
    }
    EXPECT_THAT(replies, ElementsAre("300", "second", "error: third", "nothing", "fifth"));
}

// The one behind a slow one is finished long before; the other worker is not held up by it.
TEST_F(KdbDoorTest, AFinishedReplyThatWaitsHoldsUpNoWorker) {
    auto client = connect();
    client.deferred("sleep 60000");
    constexpr int kOthers = 20;
    for (int i = 0; i < kOthers; ++i) client.deferred("bytes 5000000");
    EXPECT_TRUE(wait_for_unanswered("1"));
    EXPECT_TRUE(client.is_silent(kAWhile));
}

TEST_F(KdbDoorTest, EveryClientHasItsOwnOrder) {
    auto slow = connect();
    auto quick = connect();
    slow.deferred("sleep 60000");
    quick.deferred("echo quick");
    EXPECT_EQ(quick.text(), "quick");
}

TEST_F(KdbDoorTest, AnIdleConnectionReceivesNothing) {
    auto client = connect();
    client.deferred("echo a");
    EXPECT_EQ(client.text(), "a");
    EXPECT_TRUE(client.is_silent(3s)) << "longer than any heartbeat";
}

// ---- What counts as a query

TEST_F(KdbDoorTest, WhatIsNoQueryIsRefusedByTypeAndInTurn) {
    auto client = connect();
    client.deferred("sleep 100 first");
    client.send(kdb::encode_message(
        kdb::vector_of(kdb::Type::kLong, std::vector<std::int64_t>{1, 2}), kdb::Kind::kAsync));
    client.deferred("echo third");
    EXPECT_EQ(client.text(), "100");
    EXPECT_THAT(client.text(), AllOf(StartsWith("error: "), HasSubstr("long vector")));
    EXPECT_EQ(client.text(), "third");
}

TEST_F(KdbDoorTest, AnErrorObjectIsIgnoredUnlessItsSenderWaits) {
    auto client = connect();
    const kdb::Object error{static_cast<std::int8_t>(kdb::Type::kError), 0, std::string("type")};
    client.send(kdb::encode_message(error, kdb::Kind::kAsync));
    client.send(kdb::encode_message(error, kdb::Kind::kResponse));
    client.deferred("echo a");
    EXPECT_EQ(client.text(), "a");
    client.send(kdb::encode_message(error, kdb::Kind::kSync));
    const auto reply = client.receive();
    EXPECT_EQ(reply.kind, kdb::Kind::kResponse);
    EXPECT_THAT(text_of_reply(reply.object), AllOf(StartsWith("error: "), HasSubstr("-128")));
}

// h"" is how a q user waits until what was sent before has arrived. q answers (::).
TEST_F(KdbDoorTest, ABlankTextIsAnsweredWithNothingInItsTurn) {
    auto client = connect();
    client.deferred("sleep 300 first");
    client.sync("select sum(i)::bigint as a from range(30000000) t(i)");
    client.sync("");
    client.deferred("");
    client.deferred("echo third");
    client.sync(" \r\n");
    client.send(kdb::encode_message(kdb::text_of(""), kdb::Kind::kSync, kdb::ByteOrder::kBig));
    client.sync("select 2 as a");
    std::map<kdb::Kind, std::vector<std::string>> replies;
    for (int i = 0; i < 8; ++i) {
        const auto reply = client.receive();
        const auto text = text_of_reply(reply.object);
        replies[reply.kind].push_back(text);
        if (text == "nothing") {
            EXPECT_THAT(std::get<std::vector<std::uint8_t>>(reply.object.items), ElementsAre(0));
        }
    }
    EXPECT_THAT(replies[kdb::Kind::kResponse],
                ElementsAre("449999985000000", "nothing", "nothing", "nothing", "2"));
    EXPECT_THAT(replies[kdb::Kind::kAsync], ElementsAre("300", "nothing", "third"));
}

// All that is no query, and texts that hold no statement: each sender that waits hears something.
TEST_F(KdbDoorTest, NoSyncMessageGoesUnanswered) {
    auto client = connect();
    const auto ask = [&](const kdb::Object& object) {
        client.send(kdb::encode_message(object, kdb::Kind::kSync));
        return client.text();
    };
    EXPECT_THAT(ask(kdb::Object{}), HasSubstr("101"));
    EXPECT_THAT(ask(kdb::list_of({})), HasSubstr("an empty list"));
    EXPECT_EQ(ask(kdb::list_of({kdb::text_of("")})), "nothing");
    EXPECT_THAT(ask(kdb::text_of("-- a comment")), HasSubstr("the query is empty"));
    EXPECT_THAT(ask(kdb::text_of(";")), HasSubstr("the query is empty"));
    EXPECT_THAT(ask(kdb::list_of({kdb::text_of(""), kdb::text_of("x")})),
                HasSubstr("the query is empty"));
}

TEST_F(KdbDoorTest, ArgumentsBecomeParameters) {
    auto client = connect();
    client.deferred("parameters", {kdb::atom_of(kdb::Type::kLong, std::vector<std::int64_t>{1}),
                                   kdb::text_of("two")});
    EXPECT_EQ(client.text(), "2");
}

TEST_F(KdbDoorTest, OldClientsSendBigEndianAndReadLittle) {
    auto client = connect();
    client.send(
        kdb::encode_message(kdb::text_of("echo a"), kdb::Kind::kAsync, kdb::ByteOrder::kBig));
    EXPECT_EQ(client.text(), "a");
}

TEST_F(KdbDoorTest, CompressedRequestsAreRead) {
    auto client = connect();
    const auto text = "echo " + std::string(100'000, 'x');
    const auto small = kdb::compress(kdb::encode_message(kdb::text_of(text), kdb::Kind::kAsync));
    ASSERT_TRUE(small);
    client.send(*small);
    EXPECT_EQ(client.text(), text.substr(5));
}

TEST_F(KdbDoorTest, ALargeRequestMayComeInSmallPieces) {
    auto client = connect();
    const auto text = "echo " + std::string(10 << 20, 'x');
    const auto message = kdb::encode_message(kdb::text_of(text), kdb::Kind::kAsync);
    for (std::size_t at = 0; at < message.size(); at += 1000)
        client.send(
            std::span(message).subspan(at, std::min<std::size_t>(1000, message.size() - at)));
    EXPECT_EQ(client.text().size(), std::size_t{10 << 20});
}

// The length alone tells; the client is still sending when it hears.
TEST_F(KdbDoorTest, ARequestOverTheLimitIsAnsweredAndEndsTheConnection) {
    auto client = connect();
    client.deferred("echo before");
    const std::string huge("\x01\x00\x00\x00\x00\x00\x00\x7f", 8);
    client.send(huge + std::string(8 << 20, 'x'));
    EXPECT_EQ(client.text(), "before");
    EXPECT_THAT(client.text(), StartsWith("error: too_large: "));
    EXPECT_TRUE(client.is_ended());
}

class KdbQueryLimitTest : public KdbDoorTest {
protected:
    KdbQueryLimitTest() : KdbDoorTest({"--engine", "test", "--max-query-bytes", "1000"}) {}
};

// Whatever finds out: by the text, by the length of the message, by what a compressed one becomes.
TEST_F(KdbQueryLimitTest, TheLimitThatIsToldIsTheOperators) {
    const auto refusal = [&](std::span<const std::byte> message) {
        auto client = connect();
        client.send(message);
        return client.text();
    };
    const auto request = [](std::size_t size) {
        const auto text = "echo " + std::string(size - 5, 'x');
        return kdb::encode_message(kdb::text_of(text), kdb::Kind::kSync);
    };
    const auto told = AllOf(StartsWith("error: too_large: "), HasSubstr("1000 (--max-query-bytes)"),
                            Not(HasSubstr("1064")));
    EXPECT_THAT(refusal(request(1001)), told);
    EXPECT_THAT(refusal(request(2000)), AllOf(told, HasSubstr("a message of 2014 bytes;")));
    const auto compressed = kdb::compress(request(20'000));
    ASSERT_TRUE(compressed);
    EXPECT_THAT(refusal(*compressed), AllOf(told, HasSubstr("compressed")));
    auto client = connect();
    client.deferred("echo " + std::string(995, 'x'));
    EXPECT_EQ(client.text(), std::string(995, 'x'));
}

// ---- Ends

TEST_F(KdbDoorTest, AClientThatClosesTakesItsRequestsWithIt) {
    auto client = connect();
    client.deferred("sleep 60000");
    client.deferred("sleep 60000");
    client.deferred("echo queued");
    EXPECT_TRUE(wait_for_unanswered("3"));
    client.end_of_requests();
    EXPECT_TRUE(client.is_ended());
    EXPECT_TRUE(wait_for_unanswered("0"));
}

TEST_F(KdbDoorTest, AClientThatIsKilledTakesItsRequestsWithIt) {
    auto client = connect();
    for (int i = 0; i < 10; ++i) client.deferred("sleep 60000");
    EXPECT_TRUE(wait_for_unanswered("10"));
    client.reset();
    EXPECT_TRUE(wait_for_unanswered("0"));
}

TEST_F(KdbDoorTest, WhoWaitsWhenTheServerStopsHearsOfItBeforeTheEnd) {
    auto client = connect();
    client.deferred("sleep 60000");
    client.deferred("sleep 60000");
    client.deferred("echo queued");
    EXPECT_TRUE(wait_for_unanswered("3"));
    server_.signal(SIGTERM);
    EXPECT_TRUE(wait_until([&] { return server_.log().find("draining") != std::string::npos; }));
    server_.signal(SIGTERM);
    for (int i = 0; i < 3; ++i) EXPECT_THAT(client.text(), StartsWith("error: ")) << i;
    EXPECT_TRUE(client.is_ended());
}

TEST_F(KdbDoorTest, ALostWorkerIsToldOfAsAnError) {
    auto client = connect();
    client.deferred("crash");
    client.deferred("echo after");
    EXPECT_THAT(client.text(), StartsWith("error: worker_lost: "));
    EXPECT_EQ(client.text(), "after");
}

TEST_F(KdbDoorTest, ClientsAreShownWithTheOthers) {
    auto kdb = connect();
    kdb.deferred("echo a");
    EXPECT_EQ(kdb.text(), "a");
    auto client = server_.connect();
    EXPECT_EQ(cell(client.sync("select user from shortq.clients where address like 'kdb+ %'")),
              "desk");
    EXPECT_EQ(cell(client.sync("select string_agg(door, ' ' order by id) from shortq.clients")),
              "kdb native");
}

// ---- With the real engine

class KdbEngineTest : public KdbDoorTest {
protected:
    explicit KdbEngineTest(std::vector<std::string> options = {})
        : KdbDoorTest(std::move(options)) {}
};

TEST_F(KdbEngineTest, SyncIsAnsweredByThePrimaryWhileWorkersAreBusy) {
    auto client = connect();
    client.deferred("select 1 as a");
    EXPECT_EQ(client.text(), "1");
    client.deferred("select count(*) from range(1000000000000) a, range(1000) b");
    client.sync("create table mine as select 7 as x");
    client.sync("select x from mine");
    client.sync("select nonsense");
    const auto created = client.receive();
    EXPECT_EQ(created.kind, kdb::Kind::kResponse);
    EXPECT_EQ(client.text(), "7");
    EXPECT_THAT(client.text(), AllOf(StartsWith("error: Binder Error"), HasSubstr("nonsense")));
    auto other = connect();
    other.sync("select x from mine");
    EXPECT_EQ(other.text(), "7") << "as in q, what sync requests leave is everybody's";
}

TEST_F(KdbEngineTest, ATableHasNamesAndTypesEvenWithoutRows) {
    auto client = connect();
    client.deferred("select 1::bigint a, 'x' b, 1.5 a, date '2000-01-02' d where false");
    const auto empty = client.receive().object;
    client.deferred("select 1::bigint a, 'x' b, 1.5::double d, date '2000-01-02' e");
    const auto row = client.receive().object;
    EXPECT_THAT(column_names(row), ElementsAre("a", "b", "d", "e"));
    EXPECT_THAT(std::get<std::vector<std::int32_t>>(column(row, 3).items), ElementsAre(1));
    const auto names = column_names(empty);
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 4U);
    EXPECT_TRUE(std::get<std::vector<std::int64_t>>(column(empty, 0).items).empty());
    EXPECT_TRUE(std::get<std::vector<std::string>>(column(empty, 1).items).empty());
}

TEST_F(KdbEngineTest, ArgumentsAreBoundInOrder) {
    auto client = connect();
    client.deferred(
        "select ?::varchar || '-' || ?::varchar",
        {kdb::text_of("a"), kdb::atom_of(kdb::Type::kLong, std::vector<std::int64_t>{7})});
    EXPECT_EQ(client.text(), "a-7");
}

// Goal: a timestamp that came from a column finds its row again. Method: rows a nanosecond apart.
TEST_F(KdbEngineTest, TimestampArgumentsKeepTheirNanoseconds) {
    auto client = connect();
    constexpr std::int64_t kSecond = 758'021'400'000'000'120;  // 2024-01-08 09:30 and 120 ns.
    for (const std::int64_t nanos : {kSecond, kSecond + 3, kSecond + 880}) {
        client.deferred(
            "select count(*) filter (t = ?) * 10000 + count(*) filter (t < ?) from "
            "(select make_timestamp_ns(1704706200000000120 + i) t from range(1000) r(i))",
            {kdb::atom_of(kdb::Type::kTimestamp, std::vector<std::int64_t>{nanos}),
             kdb::atom_of(kdb::Type::kTimestamp, std::vector<std::int64_t>{nanos})});
        EXPECT_EQ(client.text(), std::to_string(10000 + nanos - kSecond));
    }
}

TEST_F(KdbEngineTest, LargeResultsCome) {
    auto client = connect();
    client.deferred("select i, i * 0.5 as x, 'name ' || (i % 100) as s from range(1000000) t(i)");
    const auto table = client.receive().object;
    const auto& numbers = std::get<std::vector<std::int64_t>>(column(table, 0).items);
    ASSERT_EQ(numbers.size(), 1'000'000U);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        ASSERT_EQ(numbers[i], static_cast<std::int64_t>(i));
    EXPECT_EQ(std::get<std::vector<std::string>>(column(table, 2).items).back(), "name 99");
}

// Its reader takes nothing for a while: others are served, and then it has all of it.
TEST_F(KdbEngineTest, ASlowReaderGetsEverythingInTheEnd) {
    auto slow = connect();
    for (int i = 0; i < 3; ++i) slow.deferred("select i from range(3000000) t(i)");
    auto other = connect();
    other.deferred("select 1");
    EXPECT_EQ(other.text(), "1");
    EXPECT_TRUE(wait_for_unanswered("0")) << "no worker waits for it";
    for (int i = 0; i < 3; ++i) {
        const auto table = slow.receive().object;
        EXPECT_EQ(std::get<std::vector<std::int64_t>>(column(table, 0).items).size(), 3'000'000U);
    }
}

class KdbLimitTest : public KdbDoorTest {
protected:
    KdbLimitTest() : KdbDoorTest({"--kdb-max-result-bytes", "100M"}) {}
};

// 64 MB stay in memory, the others on disk, until the limit. All wait for one that does not end.
TEST_F(KdbLimitTest, WhatWaitsTooLongIsAnErrorInItsTurn) {
    auto client = connect();
    client.deferred("select count(*) from range(1000000000000) a, range(1000) b");
    for (int i = 0; i < 4; ++i) client.deferred("select i from range(4000000) t(i)");
    ASSERT_TRUE(wait_for_unanswered("1"));
    auto other = server_.connect();
    const auto serial =
        cell(other.sync("select id from shortq.queries where mode = 'deferred' limit 1"));
    ASSERT_TRUE(other.sync("call shortq_cancel(" + serial + ")"));
    EXPECT_THAT(client.text(), StartsWith("error: cancelled: "));
    for (int i = 0; i < 3; ++i) {
        const auto table = client.receive().object;
        EXPECT_EQ(std::get<std::vector<std::int64_t>>(column(table, 0).items).back(), 3'999'999);
    }
    EXPECT_THAT(client.text(),
                AllOf(StartsWith("error: too_large: "), HasSubstr("--kdb-max-result-bytes")));
    client.deferred("select 1");
    EXPECT_EQ(client.text(), "1") << "the limit is for what waits";
}

class KdbCompressTest : public KdbDoorTest {
protected:
    KdbCompressTest() : KdbDoorTest({"--kdb-compress", "always"}) {}
};

// Small ones, those that are compressed at once, and those that take a thread, in turn.
TEST_F(KdbCompressTest, CompressedRepliesKeepTheirOrder) {
    auto client = connect();
    const std::vector<std::size_t> sizes{1, 200'000, 2000, 1, 100'000};
    for (const auto rows : sizes) {
        client.deferred("select i // 100 as i from range(" + std::to_string(rows) + ") t(i)");
    }
    for (const auto rows : sizes) {
        const auto reply = client.receive();
        EXPECT_EQ(reply.compressed, rows > 1);
        const auto& values = std::get<std::vector<std::int64_t>>(column(reply.object, 0).items);
        ASSERT_EQ(values.size(), rows);
        for (std::size_t i = 0; i < rows; ++i)
            ASSERT_EQ(values[i], static_cast<std::int64_t>(i / 100));
    }
}

// ---- Users

class KdbUsersTest : public KdbDoorTest {
protected:
    KdbUsersTest()
        : KdbDoorTest([](const TemporaryFolder& folder) -> std::vector<std::string> {
              return {"--engine", "test", "--users", users(folder)};
          }) {}

    static std::string users(const TemporaryFolder& folder) {
        const auto line =
            run(shortq_cli_program().string(), {"--hash-password", "--user", "desk"}, "secret\n");
        const auto path = folder.write("users", line.out);
        std::filesystem::permissions(path, std::filesystem::perms::owner_read);
        return path;
    }
    [[nodiscard]] std::optional<std::uint8_t> greet(std::string greeting) const {
        return KdbClient(port_).greet(greeting + std::string("\x03\0", 2));
    }
};

TEST_F(KdbUsersTest, OnlyTheRightPasswordIsLetIn) {
    EXPECT_EQ(greet("desk:wrong-one"), std::nullopt);
    EXPECT_EQ(greet("nobody-known:secret"), std::nullopt);
    EXPECT_EQ(greet("desk:"), std::nullopt);
    EXPECT_EQ(greet("desk"), std::nullopt);
    EXPECT_EQ(greet(":"), std::nullopt);
    EXPECT_EQ(greet("desk:secret"), 3);
    for (const auto* told : {"secret", "wrong-one", "nobody-known"})
        EXPECT_THAT(server_.log(), Not(HasSubstr(told)));
    EXPECT_THAT(server_.log(), HasSubstr("desk")) << "an attack on a known user can be seen";
}

// Three are free; the next three wait a quarter of a second, a half and one.
TEST_F(KdbUsersTest, GuessingBecomesSlow) {
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < 6; ++i) EXPECT_EQ(greet("desk:guess" + std::to_string(i)), std::nullopt);
    EXPECT_GE(std::chrono::steady_clock::now() - begun, 1750ms);
}

// What comes with the handshake waits until the password is judged.
TEST_F(KdbUsersTest, RequestsMayFollowAPasswordAtOnce) {
    KdbClient client(port_);
    const auto request = kdb::encode_message(kdb::text_of("echo a"), kdb::Kind::kAsync);
    std::string bytes("desk:secret\x03\0", 13);
    bytes.append(reinterpret_cast<const char*>(request.data()), request.size());
    EXPECT_EQ(client.greet(bytes, true), 3);
    EXPECT_EQ(client.text(), "a");
}

class KdbDispatchTest : public KdbDoorTest {
protected:
    KdbDispatchTest() : KdbDoorTest({"--engine", "test", "--kdb-sync", "dispatch"}) {}
};

TEST_F(KdbDispatchTest, SyncMessagesGoToTheWorkersAtOnce) {
    auto first = connect();
    auto second = connect();
    first.sync("sleep 60000");
    second.sync("seat");
    const auto reply = second.receive();
    EXPECT_EQ(reply.kind, kdb::Kind::kResponse);
    EXPECT_NE(text_of_reply(reply.object), "0") << "not the primary's own engine";
}

TEST_F(KdbDispatchTest, ABlankTextNeedsNoWorker) {
    auto first = connect();
    auto second = connect();
    first.sync("sleep 60000");
    second.sync("sleep 60000");
    EXPECT_TRUE(wait_for_unanswered("2"));
    auto client = connect();
    client.sync("");
    const auto reply = client.receive();
    EXPECT_EQ(reply.kind, kdb::Kind::kResponse);
    EXPECT_EQ(text_of_reply(reply.object), "nothing");
}

}  // namespace
}  // namespace shortq::test
