// tests/faults/client_faults_test.cpp: clients, as processes of their own, that die or stand still
// under load.
#include "tests/faults/faults.h"

namespace shortq::test {
namespace {

class ClientFaultsTest : public Faults {
protected:
    static constexpr std::size_t kWorkers = 2;

    // A process that asks for all kinds of things without an end; it has had its first answer.
    [[nodiscard]] static std::unique_ptr<Program> asking_process(const Server& server, Seed& seed,
                                                                 const std::string& name) {
        auto program = std::make_unique<Program>(
            FAULTS_CLIENT, std::vector<std::string>{server.endpoint(), name,
                                                    std::to_string(seed.next() % 1'000'000), "0"});
        EXPECT_TRUE(wait_until([&] { return program->out() == "asking\n"; })) << program->err();
        return program;
    }
    static void end(Program& program) {
        program.signal(SIGKILL);
        program.signal(SIGCONT);
        EXPECT_TRUE(program.wait());
    }
};

// Goal: a killed client's queries end with it, and nobody else notices. Method: processes with all
// kinds of requests under way, and one with a query without an end, are killed at random moments;
// the others' accounts are right, and the primary's gauges are back at nothing.
TEST_F(ClientFaultsTest, KilledTheirQueriesEndAndOthersAreServed) {
    Seed seed;
    const Server server(duckdb(kWorkers, ""));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.clients = 1});
    for (std::uint64_t round = 0; round < fewer(4); ++round) {
        const auto asking = asking_process(server, seed, "killed-" + std::to_string(round));
        ledger.wait_for(seed.between(1, 60));
        end(*asking);
    }
    const auto endless = server.start_cli(
        {"select count(*) from range(1000000000) a, range(1000000) b where a.range % 7 = b.range"});
    ASSERT_TRUE(wait_until([&] {
        return cell(client.sync("select count(*) from shortq.queries where state = 'running' and "
                                "text like '%1000000000%' and mode = 'deferred'")) == "1";
    }));
    end(*endless);
    ledger.wait_for(20);
    expect_kept(ledger.finish(), {});
    expect_at_rest(client);
    EXPECT_EQ(cell(client.sync("select sum(restarts) from shortq.workers")), "0");
}

// Goal: a client that stands still is given up after its silence, and when it comes to, it is told,
// says hello again and goes on. Method: stop processes at random moments under load, one for good
// and one for longer than a silence may be; others are served all the while.
TEST_F(ClientFaultsTest, StoppedTheyAreGivenUpAndMayComeBack) {
    Seed seed;
    const Server server(duckdb(kWorkers, ""));
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, kWorkers));
    Ledger ledger(server.endpoint(), seed, {.clients = 1});
    const auto gone = asking_process(server, seed, "gone");
    const auto back = asking_process(server, seed, "back");
    ledger.wait_for(seed.between(1, 60));
    gone->signal(SIGSTOP);
    ledger.wait_for(seed.between(1, 60));
    back->signal(SIGSTOP);
    const auto clients = [&] { return cell(client.sync("select count(*) from shortq.clients")); };
    ASSERT_EQ(clients(), "5") << "the asker, two in the ledger, two that stand still";
    ASSERT_TRUE(wait_until([&] { return clients() == "3"; }));
    back->signal(SIGCONT);
    ASSERT_TRUE(wait_until([&] { return clients() == "4"; }));
    const auto pending_of = [&](const std::string& of) {
        return cell(client.sync("select count(*) from shortq.queries where text like '%" + of +
                                "-%' and mode = 'deferred'"));
    };
    EXPECT_TRUE(wait_until([&] { return pending_of("back") != "0"; })) << "it does not go on";
    EXPECT_EQ(pending_of("gone"), "0");
    end(*gone);
    end(*back);
    ledger.wait_for(20);
    expect_kept(ledger.finish(), {});
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
