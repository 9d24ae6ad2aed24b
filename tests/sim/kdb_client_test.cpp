// tests/sim/kdb_client_test.cpp: simulated kdb+ clients notice a door that breaks their order.
#include <gmock/gmock.h>

#include "tools/sim/clients.h"
#include "tools/sim/kdb_door.h"
#include "tools/sim/primary.h"

namespace shortq::sim {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr ConnectionId kConnection{0};

// One kdb+ client that has asked twice, and a primary that does not run: the test says its replies.
// Its requests are 1 and 2, in the words 1 and 2.
struct Asked {
    Ground ground{1};
    Primary primary{ground, Record::kNothing, true};
    Clients clients{with_one_kdb_client(ground), primary};

    explicit Asked(bool second_is_sync = false) {
        primary.pause(core::Time::max());
        clients.begin();
        run([this] { return ground.now() > std::chrono::seconds(1); });  // It is there.
        ToClient welcome;
        welcome.kind = ToClient::Kind::kWelcome;
        clients.carry(kConnection, welcome);
        run([this] { return clients.waiting() == 1; });
        ground.scenario.sync = second_is_sync ? 1 : 0;
        run([this] { return clients.all_sent(); });
    }
    static Ground& with_one_kdb_client(Ground& ground) {
        ground.scenario = {};
        ground.scenario.kdb_client = 1;
        ground.scenario.clients = 1;
        ground.scenario.requests = 2;
        ground.scenario.length = std::chrono::seconds(1);
        ground.scenario.service = std::chrono::milliseconds(1);
        ground.scenario.piece_bytes = 1;
        return ground;
    }
    template <class Done>
    void run(const Done& done) {
        while (!done() && ground.time.next() != core::Time::max()) {
            ground.time.advance(ground.time.next());
            ground.time.run_next();
        }
    }
    void reply(std::uint64_t id, std::uint64_t words, core::Mode mode = core::Mode::kDeferred) {
        ToClient message;
        message.receipt.client_request = id;
        message.words = words;
        message.line = line_of(mode);
        clients.carry(kConnection, message);
    }
    const std::vector<std::string>& found() {
        run([] { return false; });
        return ground.violations;
    }
};

// Goal: the right order passes. Method: both replies in it; and one of them missing is waited for.
TEST(KdbClientTest, RepliesInTheOrderOfTheRequestsPass) {
    Asked asked;
    EXPECT_EQ(asked.clients.waiting(), 2U);
    asked.reply(1, 1);
    EXPECT_THAT(asked.found(), IsEmpty());
    EXPECT_EQ(asked.clients.waiting(), 1U);
    asked.reply(2, 2);
    EXPECT_THAT(asked.found(), IsEmpty());
    EXPECT_EQ(asked.clients.waiting(), 0U);
}

// Goal: a finished reply that passes another is found. Method: the second one's comes first.
TEST(KdbClientTest, ReplyThatPassesAnotherIsFound) {
    Asked asked;
    asked.reply(2, 2);
    EXPECT_THAT(asked.found(), Contains(HasSubstr("another one's reply came in its turn")));
}

// Goal: a mixed-up answer is found. Method: the right id, the other request's words.
TEST(KdbClientTest, ReplyToOtherWordsIsFound) {
    Asked asked;
    asked.reply(1, 2);
    EXPECT_THAT(asked.found(), ElementsAre(HasSubstr("somebody else's words")));
}

// Goal: what nobody asked is found. Method: a third reply to two requests.
TEST(KdbClientTest, UnsolicitedReplyIsFound) {
    Asked asked;
    asked.reply(1, 1);
    asked.reply(2, 2);
    asked.reply(2, 2);
    EXPECT_THAT(asked.found(), ElementsAre(HasSubstr("waits for none")));
}

// Goal: sync and deferred ones do not wait for each other. Method: the second, sync, comes first on
// its own line, which passes, and on the other's, which is found.
TEST(KdbClientTest, EachLineHasItsOwnOrder) {
    Asked asked(true);
    asked.reply(2, 2, core::Mode::kSync);
    asked.reply(1, 1);
    EXPECT_THAT(asked.found(), IsEmpty());
    EXPECT_EQ(asked.clients.waiting(), 0U);

    Asked mixed_up(true);
    mixed_up.reply(2, 2);
    EXPECT_THAT(mixed_up.found(), Contains(HasSubstr("another one's reply came in its turn")));
}

std::vector<std::uint64_t> finish(KdbDoor& door, std::uint64_t id) {
    ToClient message;
    message.receipt.client_request = id;
    std::vector<std::uint64_t> left;
    for (const auto& reply : door.finish(kConnection, message))
        left.push_back(reply.receipt.client_request);
    return left;
}

// Goal: the simulated door keeps the order. Method: deferred 1 and 3, sync 2, finished backwards.
TEST(KdbDoorTest, FinishedRepliesWaitForTheirTurn) {
    KdbDoor door;
    door.open(kConnection);
    core::RequestArrived request;
    for (const std::uint64_t id : {1U, 2U, 3U}) {
        request.client_request = id;
        request.mode = id == 2 ? core::Mode::kSync : core::Mode::kDeferred;
        door.expect(kConnection, request);
    }
    EXPECT_THAT(finish(door, 3), IsEmpty());
    EXPECT_THAT(finish(door, 2), ElementsAre(2));
    EXPECT_THAT(finish(door, 1), ElementsAre(1, 3));
    door.close(kConnection);
    EXPECT_FALSE(door.has(kConnection));
}

}  // namespace
}  // namespace shortq::sim
