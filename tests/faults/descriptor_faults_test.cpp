// tests/faults/descriptor_faults_test.cpp: no file descriptor is left.
#include <sys/resource.h>

#include "tests/end-to-end/kdb/kdb_client.h"
#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;

// A process that may open no more than so many descriptors beyond those that it has, for a while.
class FewDescriptors {
public:
    FewDescriptors(pid_t pid, std::size_t more) : pid_(pid) {
        if (::prlimit(pid_, RLIMIT_NOFILE, nullptr, &before_) != 0)
            throw std::runtime_error("prlimit failed");
        // What it has open for a moment only is not to count.
        constexpr int kLooks = 10;
        rlimit limit{.rlim_cur = before_.rlim_cur, .rlim_max = before_.rlim_max};
        for (int look = 0; look < kLooks; ++look)
            limit.rlim_cur = std::min(limit.rlim_cur, limit_for(more));
        if (::prlimit(pid_, RLIMIT_NOFILE, &limit, nullptr) != 0)
            throw std::runtime_error("prlimit failed");
    }
    ~FewDescriptors() { ::prlimit(pid_, RLIMIT_NOFILE, &before_, nullptr); }
    FewDescriptors(const FewDescriptors&) = delete;
    FewDescriptors& operator=(const FewDescriptors&) = delete;

private:
    // The limit is one on numbers: those below it that are free count as well.
    [[nodiscard]] rlim_t limit_for(std::size_t more) const {
        const auto folder = "/proc/" + std::to_string(pid_) + "/fd/";
        std::size_t free = 0;
        rlim_t number = 0;
        for (;; ++number) {
            std::error_code error;
            const auto what = std::filesystem::read_symlink(folder + std::to_string(number), error);
            if (what.empty() && free++ == more) return number;
        }
    }

    pid_t pid_;
    rlimit before_{};
};

class DescriptorFaultsTest : public Faults {
protected:
    static constexpr std::size_t kWorkers = 4;
};

// Goal: the usual first limit on descriptors, far below what the system would give, does not stop
// clients. Method: start the server with little room, and connect more clients than would fit.
TEST_F(DescriptorFaultsTest, ALowFirstLimitIsRaised) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
    const Server server(test_engine(1));
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    zmq::context_t context;
    std::vector<std::unique_ptr<RawPeer>> peers;
    for (int i = 0; i < 100; ++i) {
        peers.push_back(std::make_unique<RawPeer>(context, server.endpoint()));
        EXPECT_NE(peers.back()->hello(), 0U);
    }
}

// Goal: who is connected is served though nobody else can connect, and those who wait are let in as
// soon as there is room; so is whoever wants to reload. Method: take the primary's descriptors away
// under load, have clients try.
TEST_F(DescriptorFaultsTest, ConnectedClientsAreServedAndNewOnesWait) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    ledger.wait_for(20);
    std::unique_ptr<Program> waiting;
    {
        const FewDescriptors few(server.pid(), 0);
        const auto refused = server.cli({"--wait", "0.5", "echo refused"});
        EXPECT_EQ(refused.status, (ExitStatus{.signalled = false, .value = 3})) << refused.err;
        EXPECT_THAT(summary(client.sync("call shortq_reload()")), HasSubstr("Too many open files"));
        waiting = server.start_cli({"--wait", "50", "echo let in"});
        ledger.wait_for(seed.between(100, 300));
        EXPECT_FALSE(waiting->wait(milliseconds(0))) << waiting->err();
    }
    EXPECT_THAT(waiting->finish().out, HasSubstr("let in"));
    EXPECT_EQ(summary(client.sync("call shortq_reload()")), "ok");
    expect_kept(ledger.finish(), {});
    expect_at_rest(client);
}

// Goal: the same for kdb+ clients, and the log tells of it twice, not with every try. Method: take
// the primary's descriptors away for as long as ten tries, have one client there and one come.
TEST_F(DescriptorFaultsTest, KdbClientsWaitAndTheLogIsNotFilled) {
    constexpr std::string_view kHello{"desk:\x03\0", 7};
    const Server server(test_engine(1, {"--kdb-port", "0"}));
    const auto port = kdb_port(server.log());
    KdbClient inside(port, kHello);
    inside.deferred("echo before");
    EXPECT_EQ(inside.text(), "before");
    std::optional<KdbClient> late;
    {
        const FewDescriptors few(server.pid(), 0);
        late.emplace(port);
        late->send(kHello);
        EXPECT_TRUE(late->is_silent(std::chrono::seconds(1)));
        inside.deferred("echo meanwhile");
        EXPECT_EQ(inside.text(), "meanwhile");
    }
    EXPECT_EQ(late->greet(""), 3);
    const auto told = [&](std::string_view what) {
        std::size_t count = 0;
        const auto log = server.log();
        for (auto at = log.find(what); at != std::string::npos; at = log.find(what, at + 1))
            ++count;
        return count;
    };
    EXPECT_TRUE(wait_until([&] { return told("connections are accepted again") > 0; }));
    EXPECT_EQ(told("cannot accept connections"), 1U) << server.log();
    EXPECT_EQ(told("connections are accepted again"), 1U);
}

// Goal: a worker that cannot be replaced for want of descriptors is replaced when there are some.
// Method: kill one after the other while the primary has none, one, two, ... left, so that each
// step of a replacement fails once; the others serve all the while.
TEST_F(DescriptorFaultsTest, WorkersAreReplacedOnceThereAreDescriptors) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    constexpr std::size_t kSteps = 5;
    for (std::size_t left = 0; left < kSteps; ++left) {
        {
            const FewDescriptors few(server.pid(), left);
            // The oldest: another seat each time, since the wait for the next try grows by seat.
            ASSERT_TRUE(send_signal(server.workers().front(), SIGKILL));
            ledger.wait_for(seed.between(50, 200));
        }
        ASSERT_TRUE(wait_until_ready(client, kWorkers)) << left << " left; " << server.log();
    }
    expect_kept_through_losses(ledger.finish(), kSteps);
    EXPECT_TRUE(wait_until([&] { return server.workers().size() == kWorkers; }))
        << "a worker that nobody knows";
    expect_at_rest(client);
}

// Goal: the same when the fork server has none left. Method: as above.
TEST_F(DescriptorFaultsTest, AForkServerWithoutDescriptorsIsNoEnd) {
    Seed seed;
    const Server server(test_engine(kWorkers));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.each = {.engine = LoadEngine::kTest}});
    {
        const FewDescriptors few(fork_server(server), 0);
        ASSERT_TRUE(send_signal(server.workers().front(), SIGKILL));
        ledger.wait_for(seed.between(50, 300));
    }
    expect_all_back(client, kWorkers);
    expect_kept_through_losses(ledger.finish(), 1);
    EXPECT_TRUE(wait_until([&] { return server.workers().size() == kWorkers; }));
    expect_at_rest(client);
}

// Goal: a client that has no descriptors to connect with says so, and ends. Method: the
// command-line client with a few, one more each time, until it works.
TEST_F(DescriptorFaultsTest, AClientWithoutDescriptorsSaysSo) {
    const Server server(test_engine(1));
    ASSERT_EQ(cell(server.connect().deferred("echo hi")), "hi");
    constexpr int kEnoughForZeroMq = 8;  // Below, it ends the process itself.
    for (int most = kEnoughForZeroMq;; ++most) {
        ASSERT_LT(most, 100) << "it never works";
        const auto outcome =
            run("/bin/sh", {"-c", "ulimit -n " + std::to_string(most) + "; exec \"$0\" \"$@\"",
                            shortq_cli_program().string(), "--port", std::to_string(server.port()),
                            "--wait", "1", "echo hi"});
        if (outcome.status.success()) break;
        EXPECT_FALSE(outcome.status.signalled) << describe(outcome.status) << outcome.err;
        EXPECT_THAT(outcome.err,
                    ::testing::AnyOf(HasSubstr("Too many open files"), HasSubstr("cannot connect")))
            << most;
    }
}

// Goal: a worker that can open no file says so, and lives. Method: take the descriptors of all
// workers away; a query that reads a file fails with the engine's text, others do not; then it
// works.
TEST_F(DescriptorFaultsTest, AWorkerThatCannotOpenAFileSaysSo) {
    Seed seed;
    std::filesystem::create_directory(folder_.path() / "data");
    folder_.write("data/t.csv", "i\n1\n2\n3\n");
    const Server server({"4", (folder_.path() / "data").string()});
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    const auto workers = server.workers();
    const auto read =
        "select sum(i) from read_csv('" + (folder_.path() / "data/t.csv").string() + "')";
    EXPECT_EQ(cell(client.deferred(read)), "6");
    Ledger ledger(server.endpoint(), seed,
                  {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kWork}}});
    {
        std::vector<std::unique_ptr<FewDescriptors>> few;
        for (const auto worker : workers)
            few.push_back(std::make_unique<FewDescriptors>(worker, 0));
        for (std::size_t i = 0; i < kWorkers; ++i) {
            const auto failed = client.deferred(read);
            ASSERT_FALSE(failed);
            EXPECT_EQ(failed.error().code, ErrorCode::kQueryError) << summary(failed);
            EXPECT_THAT(failed.error().message, HasSubstr("Too many open files"));
        }
        ledger.wait_for(20);
    }
    for (std::size_t i = 0; i < kWorkers; ++i) EXPECT_EQ(cell(client.deferred(read)), "6");
    EXPECT_EQ(server.workers(), workers);
    expect_kept(ledger.finish(), {});
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
