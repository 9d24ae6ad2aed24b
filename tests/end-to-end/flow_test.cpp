// tests/end-to-end/flow_test.cpp: flow control from peers without a library, honest and not, and
// what stalled readers mean for everything else.
#include <csignal>
#include <limits>
#include <thread>

#include "proto/limits.h"
#include "tests/end-to-end/memory_watch.h"
#include "tests/end-to-end/processes.h"
#include "tests/end-to-end/raw_peer.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kHuge = std::numeric_limits<std::uint64_t>::max();
// A window's last piece is sent whole, and is a little more than a megabyte.
constexpr std::uint64_t kWindowAndAPiece = proto::kReplyWindowBytes + 2 * kMegabyte;

std::uint64_t bytes_of(const std::vector<std::string>& bodies) {
    std::uint64_t bytes = 0;
    for (const auto& body : bodies) bytes += body.size();
    return bytes;
}

class FlowTest : public Processes {
protected:
    static std::string rows(std::int64_t count) {
        return "select i, i * 2 as b, i * 3 as c, i::double as d, i % 100 as e from range(" +
               std::to_string(count) + ") t(i)";
    }
    // What a peer gets of a request without another credit: its bytes, and how it ended.
    struct Got {
        std::uint64_t bytes = 0;
        bool finished = false;
        std::optional<ErrorCode> error;
    };
    static Got read(RawPeer& peer, std::uint64_t id) {
        Got got;
        while (const auto message = peer.next()) {
            if (const auto* error = std::get_if<proto::ErrorReply>(&*message)) {
                if (error->id != id) continue;
                got.error = error->code;
                return got;
            }
            const auto* reply = std::get_if<proto::Reply>(&*message);
            if (reply == nullptr || reply->id != id) continue;
            got.bytes += bytes_of(peer.bodies());
            got.finished = reply->last;
            if (reply->last) return got;
        }
        return got;
    }
    // Begins a stream that has rows for ever, and reads its first ones.
    static Stream begin_endless(Client& client, const QueryOptions& options = {}) {
        auto stream = client.stream(rows(1'000'000'000'000), {}, options);
        if (!stream) throw std::runtime_error(stream.error().message);
        if (!stream->next().value()) throw std::runtime_error("no rows");
        return std::move(*stream);
    }
    // What it ends with, once it is read on.
    static Error end_of(Stream& stream) {
        while (true) {
            const auto rows = stream.next();
            if (!rows) return rows.error();
            if (!*rows) return Error{ErrorCode::kInternal, "it has an end", {}, false};
        }
    }
};

// Case 26. Goal: credits that are early, late, forged or absurd do nothing, neither to their sender
// nor to others, and are counted where they belong to no session. Method: a peer streams and sends
// no credit; it, another one and a stranger send all sorts; the stream gets its window and is cut
// off, as if nothing had been said.
TEST_F(FlowTest, ForgedCreditsGiveNothing) {
    const Server server(duckdb(2, "", {"--stall", "2"}));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(2));
    const auto workers = server.workers();
    RawPeer reader(server.endpoint());
    const auto session = reader.hello();
    RawPeer other(server.endpoint());
    other.send({encoded(proto::Credit{.id = 7, .session = session, .bytes = kHuge})});
    const auto theirs = other.hello();
    reader.send({encoded(proto::Request{.id = 7, .session = session, .streaming = true}),
                 rows(1'000'000'000'000)});
    ASSERT_TRUE(wait_until_running(client, 1));
    constexpr int kRounds = 200;
    for (int i = 0; i < kRounds; ++i) {
        // Nobody's, of another attempt, and falling.
        reader.send({encoded(proto::Credit{.id = 8, .session = session, .bytes = kHuge})});
        reader.send(
            {encoded(proto::Credit{.id = 7, .session = session, .attempt = 1, .bytes = kHuge})});
        reader.send({encoded(
            proto::Credit{.id = 7, .session = session, .attempt = 4294967295, .bytes = kHuge})});
        reader.send({encoded(proto::Credit{.id = 7, .session = session, .bytes = 0})});
        // Another client's, under its own session and under that one's.
        other.send({encoded(proto::Credit{.id = 7, .session = theirs, .bytes = kHuge})});
        other.send({encoded(proto::Credit{.id = 7, .session = session, .bytes = kHuge})});
    }
    // What is taken from the connection says nothing of a reply.
    for (int i = 0; i < 10'000; ++i)
        reader.send({encoded(proto::Credit{.session = session, .bytes = kHuge})});
    const auto got = read(reader, 7);
    EXPECT_EQ(got.error, ErrorCode::kTimeout);
    EXPECT_GE(got.bytes, proto::kReplyWindowBytes);
    EXPECT_LT(got.bytes, kWindowAndAPiece);
    EXPECT_EQ(stat(client, "client_messages_without_session"), 1 + kRounds);
    EXPECT_EQ(stat(client, "client_messages_malformed"), 0);

    // After a goodbye nobody knows the session; no client sends progress.
    reader.send({encoded(proto::Goodbye{.session = session})});
    reader.send({encoded(proto::Credit{.id = 7, .session = session, .bytes = kHuge})});
    other.send({encoded(proto::Progress{.id = 7, .progress_ppm = 5})});
    EXPECT_TRUE(wait_until([&] { return stat(client, "client_messages_malformed") == 1; }));
    EXPECT_TRUE(
        wait_until([&] { return stat(client, "client_messages_without_session") >= 2 + kRounds; }));
    EXPECT_EQ(stat(client, "client_messages_without_session"), 2 + kRounds);

    // At the workers' door.
    RawPeer stranger(workers_endpoint(workers.at(0)));
    stranger.send({encoded(proto::Credit{.id = 1, .bytes = kHuge})});
    stranger.send({encoded(proto::Progress{.id = 1, .progress_ppm = 5})});
    EXPECT_TRUE(wait_until([&] { return stat(client, "worker_messages_malformed") == 2; }));
    EXPECT_EQ(cell(client.deferred("select 1")), "1");
    EXPECT_EQ(server.workers(), workers);
}

// A credit for more than there is counts as for all of it: who overstates gets a window at a time,
// for what it does with it is its own affair.
TEST_F(FlowTest, AnOverstatedCreditIsWorthWhatWasSent) {
    const Server server(duckdb(1, "", {"--stall", "1"}));
    auto client = server.connect();
    RawPeer reader(server.endpoint());
    const auto session = reader.hello();
    reader.send({encoded(proto::Request{.id = 7, .session = session, .streaming = true}),
                 rows(1'000'000'000'000)});
    std::uint64_t before = 0;
    while (before < proto::kReplyWindowBytes) {
        ASSERT_TRUE(reader.next_of<proto::Reply>());
        before += bytes_of(reader.bodies());
    }
    reader.send({encoded(proto::Credit{.id = 7, .session = session, .bytes = kHuge})});
    const auto got = read(reader, 7);
    EXPECT_EQ(got.error, ErrorCode::kTimeout);
    EXPECT_GT(got.bytes, 0U);
    EXPECT_LT(before + got.bytes, 2 * kWindowAndAPiece);
}

// Case 26. Goal: whoever takes whole results but never says so gets 32 MiB, then nothing is begun
// for it, and at last it is dropped; others notice nothing. Method: results below a reply's window,
// so that only the client's counts.
TEST_F(FlowTest, APeerThatNeverSaysWhatItTookIsBlockedAndDropped) {
    const Server server(duckdb(2, "", {"--stall", "2"}));
    auto client = server.connect();
    RawPeer reader(server.endpoint());
    const auto session = reader.hello();
    constexpr std::uint64_t kRequests = 40;
    for (std::uint64_t id = 1; id <= kRequests; ++id)  // 3.2 MB each.
        reader.send({encoded(proto::Request{.id = id, .session = session}),
                     "select i from range(400000) t(i)"});
    std::uint64_t bytes = 0;
    std::uint64_t finished = 0;
    while (bytes < proto::kClientWindowBytes) {
        const auto reply = reader.next_of<proto::Reply>();
        ASSERT_TRUE(reply);
        bytes += bytes_of(reader.bodies());
        if (reply->last) ++finished;
    }
    EXPECT_LT(finished, 12U);
    // The others have both workers.
    for (int i = 0; i < 20; ++i) EXPECT_EQ(cell(client.deferred("select 1")), "1");
    EXPECT_EQ(cell(client.sync("select count(*) from shortq.clients")), "2");
    EXPECT_TRUE(wait_until(
        [&] { return cell(client.sync("select count(*) from shortq.clients")) == "1"; }));
    EXPECT_EQ(stat(client, "requests_queued"), 0);
    reader.send({encoded(proto::Request{.id = 99, .session = session}), "select 1"});
    const auto error = reader.next_of<proto::ErrorReply>();
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::kUnknownSession);
}

// A reload does not wait for a reader beyond --drain: what it has read is right, but not all.
TEST_F(FlowTest, AReloadIsNotHeldUpByAStalledReader) {
    const Server server(duckdb(2, "", {"--drain", "1"}));
    auto client = server.connect();
    auto other = server.connect();
    auto stream = begin_endless(client);
    server.signal(SIGHUP);
    std::uint32_t generation = 1;
    EXPECT_TRUE(wait_until([&] {
        const auto table = other.deferred("select 1");
        EXPECT_TRUE(table) << summary(table);
        if (table) generation = table->facts().generation;
        return generation == 2;
    }));
    EXPECT_TRUE(wait_until(
        [&] { return cell(other.sync("select count(*) from shortq.generations")) == "1"; }));
    const auto error = end_of(stream);
    EXPECT_EQ(error.code, ErrorCode::kWorkerLost);
    EXPECT_TRUE(error.retryable);
}

// The primary leaves within --drain and the grace time, whoever does not read.
TEST_F(FlowTest, TheEndIsNotHeldUpByStalledReaders) {
    Server server(duckdb(2, "", {"--drain", "1", "--grace", "1", "--window", "4"}));
    auto client = server.connect();
    auto first = begin_endless(client);
    auto second = begin_endless(client);
    auto queued = client.submit("select 1");
    const auto start = Clock::now();
    server.signal(SIGTERM);
    const auto status = server.wait(milliseconds(20'000));
    ASSERT_TRUE(status) << "it does not leave";
    EXPECT_EQ(*status, kSucceeded);
    EXPECT_LT(since(start), milliseconds(10'000));
    EXPECT_EQ(end_of(first).code, ErrorCode::kUnavailable);
    EXPECT_EQ(end_of(second).code, ErrorCode::kUnavailable);
    EXPECT_EQ(reply_of(queued).error().code, ErrorCode::kUnavailable);
}

// An operator's cancel and the query's own deadline end it while its reader does nothing, and the
// workers are free at once.
TEST_F(FlowTest, AStalledQueryIsCancelledAndTimesOut) {
    const Server server(duckdb(2, ""));
    auto client = server.connect();
    auto other = server.connect();
    auto cancelled = begin_endless(client);
    const auto id = cell(other.sync("select id from shortq.queries where mode = 'deferred'"));
    auto late = begin_endless(client, within(milliseconds(500)));
    EXPECT_TRUE(other.sync("call shortq_cancel(" + id + ")"));
    EXPECT_TRUE(wait_until_running(other, 0));
    EXPECT_EQ(end_of(cancelled).code, ErrorCode::kCancelled);
    EXPECT_EQ(end_of(late).code, ErrorCode::kTimeout);
    EXPECT_EQ(cell(other.deferred("select 1")), "1");
    EXPECT_TRUE(wait_until([&] { return stat(other, "requests_abandoned") == 0; }));
}

// What was sent ahead to a worker whose reader stalls comes back and is done by the other one.
TEST_F(FlowTest, WhatWasSentAheadIsNotHeldUpByAStalledReader) {
    const Server server(duckdb(2, "", {"--window", "4"}));
    auto client = server.connect();
    auto other = server.connect();
    std::vector<Submitted> requests;
    auto stream = begin_endless(client);
    for (int i = 0; i < 50; ++i) requests.push_back(other.submit("select " + std::to_string(i)));
    for (int i = 0; i < 50; ++i) EXPECT_EQ(cell(requests[std::size_t(i)]), std::to_string(i));
    EXPECT_EQ(running(other), 1);
}

// Workers and fork server die while every worker waits for its reader; the next ones serve.
TEST_F(FlowTest, StalledWorkersAreReplacedWhenTheyDie) {
    const Server server(duckdb(2, ""));
    auto client = server.connect();
    auto other = server.connect();
    auto first = begin_endless(client);
    auto second = begin_endless(client);
    auto waiting = other.submit("select 1");
    if (forks()) {
        ASSERT_TRUE(send_signal(fork_server(server), SIGKILL));
    }
    for (const auto worker : server.workers()) ASSERT_TRUE(send_signal(worker, SIGKILL));
    EXPECT_EQ(cell(waiting), "1");
    for (auto* stream : {&first, &second}) {
        const auto error = end_of(*stream);
        EXPECT_EQ(error.code, ErrorCode::kWorkerLost);
        EXPECT_TRUE(error.retryable);
    }
}

// A thousand streams are begun and dropped, some of them after their first rows.
TEST_F(FlowTest, StreamsThatAreDroppedLeaveNothingBehind) {
    const Server server(duckdb(2, ""));
    auto client = server.connect();
    ASSERT_EQ(cell(client.deferred("select 1")), "1");
    const MemoryWatch primary({server.pid()});
    for (int i = 0; i < 1000; ++i) {
        auto stream = client.stream(rows(1'000'000'000'000));
        ASSERT_TRUE(stream) << stream.error().message;
        if (i % 100 == 0) {
            EXPECT_TRUE(stream->next());
        }
    }
    EXPECT_EQ(cell(client.deferred("select 1")), "1");
    EXPECT_TRUE(wait_until([&] {
        return stat(client, "requests_queued") + stat(client, "requests_abandoned") +
                   stat(client, "request_bytes") <
               200;  // The question's own.
    }));
    if (!kSanitized) {
        EXPECT_LT(primary.grown(), 64 * kMegabyte);
    }
}

// Two hundred slow readers at once, of one client and of a hundred: each gets its rows, a short
// query of somebody else's gets its turn, and the primary stays small while its views are watched.
TEST_F(FlowTest, ManySlowReadersAreServed) {
    const Server server(duckdb(2, ""));
    auto watcher = server.connect();
    const MemoryWatch primary({server.pid()});
    std::vector<Client> clients;
    for (int i = 0; i < 101; ++i) clients.push_back(server.connect());
    std::atomic<int> right = 0;
    std::vector<std::thread> readers;
    for (std::size_t i = 0; i < 200; ++i) {
        readers.emplace_back([&, i] {
            auto stream = clients[i < 100 ? 0 : i - 99].stream(rows(120'000));  // 4.8 MB
            if (!stream) return;
            std::uint64_t rows = 0;
            while (true) {
                const auto piece = stream->next();
                if (!piece || !*piece) break;
                rows += (*piece)->rows();
                std::this_thread::sleep_for(milliseconds(5));  // A slow reader, not a wait.
            }
            if (rows == 120'000) ++right;
        });
    }
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(cell(watcher.deferred("select 1")), "1");
        EXPECT_TRUE(watcher.sync("from shortq.workers"));
        EXPECT_TRUE(watcher.sync("from shortq.clients"));
        EXPECT_TRUE(watcher.sync("from shortq.queries"));
    }
    for (auto& reader : readers) reader.join();
    EXPECT_EQ(right, 200);
    if (!kSanitized) {
        EXPECT_LT(primary.grown(), 128 * kMegabyte);
    }
}

// The primary stands still for a while in the middle of a stream: nothing of it is lost.
TEST_F(FlowTest, APausedPrimaryGoesOnWithItsStreams) {
    const Server server(duckdb(1, "", {"--stall", "3"}));
    auto client = server.connect();
    constexpr std::int64_t kRows = 3'000'000;
    auto stream = client.stream(rows(kRows));
    ASSERT_TRUE(stream);
    std::int64_t expected = 0;
    bool paused = false;
    while (true) {
        const auto rows = stream->next();
        ASSERT_TRUE(rows) << rows.error().message;
        if (!*rows) break;
        for (std::size_t batch = 0; batch < (*rows)->batches().size(); ++batch) {
            const auto values = (*rows)->values<std::int64_t>(batch, 0).value();
            for (const auto value : values) ASSERT_EQ(value, expected++);
        }
        if (paused || expected < kRows / 3) continue;
        paused = true;
        server.signal(SIGSTOP);
        std::this_thread::sleep_for(milliseconds(10'000));  // Longer than the silence of anybody.
        server.signal(SIGCONT);
    }
    EXPECT_EQ(expected, kRows);
}

// A client that is stopped for good keeps no connection, and no memory, beyond the stall time (of
// ten seconds at least). Method: so many results at once that the kernel's buffers do not hold what
// lies there for it.
TEST_F(FlowTest, AStoppedClientKeepsNoConnection) {
    const Server server(duckdb(6, "", {"--stall", "1"}));
    auto client = server.connect();
    ASSERT_TRUE(server.wait_for_workers(6));
    ASSERT_EQ(cell(client.deferred("select 1")), "1");
    const auto before = open_files(server.pid());
    const auto reader = server.start_cli(
        {"--format", "csv", "--repeat", "6", "--concurrency", "6", rows(1'000'000'000'000)});
    ASSERT_TRUE(wait_until_running(client, 6));
    reader->signal(SIGSTOP);
    EXPECT_TRUE(wait_until_running(client, 0));
    EXPECT_TRUE(wait_until([&] { return open_files(server.pid()) <= before; }))
        << before << " before, " << open_files(server.pid()) << " now";
    reader->signal(SIGKILL);
}

}  // namespace
}  // namespace shortq::test
