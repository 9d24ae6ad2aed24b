// primary/auth/gate.h: who guesses waits, in virtual time.
#include "primary/auth/gate.h"

#include <gmock/gmock.h>

#include <vector>

namespace shortq::auth {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

// A gate and its clock; every attempt that gets through is judged by `right`.
class GateTest : public testing::Test {
protected:
    Attempt attempt(std::string user, std::string address) {
        return {std::move(user), Secret("x"), std::move(address), [](Verdict) {}};
    }
    void add(const std::string& user, const std::string& address = "10.0.0.7") {
        auto added = attempt(user, address);
        ASSERT_TRUE(gate_.add(added));
    }
    // How long until what was added is looked at.
    milliseconds judge(bool right) {
        const auto begun = now_;
        auto next = gate_.next(now_);
        while (!next) {
            now_ = gate_.next_wake().value();
            next = gate_.next(now_);
        }
        EXPECT_FALSE(next->busy);
        gate_.judged(now_, next->attempt, right);
        return std::chrono::duration_cast<milliseconds>(now_ - begun);
    }
    milliseconds wrong(const std::string& user, const std::string& address = "10.0.0.7") {
        add(user, address);
        return judge(false);
    }
    milliseconds right(const std::string& user, const std::string& address = "10.0.0.7") {
        add(user, address);
        return judge(true);
    }

    Gate gate_;
    Time now_{std::chrono::hours{1}};
};

// Goal: a few mistakes cost nothing, then each costs twice the last, up to a limit. Method: ten.
TEST_F(GateTest, GuessingBecomesSlow) {
    std::vector<int> waits;
    for (int i = 0; i < 10; ++i) waits.push_back(static_cast<int>(wrong("alice").count()));
    EXPECT_THAT(waits, ElementsAre(0, 0, 0, 250, 500, 1000, 2000, 4000, 8000, 8000));
}

// Goal: waiting is no tell-tale: the right password waits as long. Method: five wrong, one right.
TEST_F(GateTest, TheRightPasswordWaitsAsLong) {
    for (int i = 0; i < 5; ++i) wrong("alice");
    EXPECT_EQ(right("alice"), milliseconds(1000));
    EXPECT_EQ(right("alice"), milliseconds(0)) << "a success is the end of it";
}

// Goal: guesses that are sent all at once do not get around it. Method: ten together.
TEST_F(GateTest, ManyAtOnceTakeTurns) {
    for (int i = 0; i < 10; ++i) add("alice");
    const auto begun = now_;
    for (int i = 0; i < 10; ++i) judge(false);
    EXPECT_EQ(now_ - begun, milliseconds(250 + 500 + 1000 + 2000 + 4000 + 8000 + 8000));
}

// Goal: neither the user elsewhere nor anybody else waits. Method: after guesses at alice from one
// address, others take their turn while the guesser's next attempt is held.
TEST_F(GateTest, NobodyElseWaits) {
    for (int i = 0; i < 6; ++i) wrong("alice");
    add("alice");
    EXPECT_FALSE(gate_.next(now_));
    EXPECT_EQ(right("alice", "10.0.0.8"), milliseconds(0));
    EXPECT_EQ(right("bob"), milliseconds(0));
    EXPECT_EQ(gate_.waiting(), 1U);
}

// Goal: to try many names is guessing too. Method: a name each, from one address.
TEST_F(GateTest, ManyNamesFromOneAddressWait) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(wrong("user" + std::to_string(i)), milliseconds(0)) << i;
    EXPECT_EQ(wrong("another"), milliseconds(250));
    EXPECT_EQ(right("bob"), milliseconds(500));
    EXPECT_EQ(wrong("yet another"), milliseconds(0)) << "half a second has passed since the last";
    EXPECT_EQ(right("bob"), milliseconds(1000)) << "bob's success does not wash the address clean";
    EXPECT_EQ(wrong("another", "10.0.0.8"), milliseconds(0));
}

// Goal: what is long ago does not count. Method: ten quiet minutes.
TEST_F(GateTest, ForgetsAfterAWhile) {
    for (int i = 0; i < 6; ++i) wrong("alice");
    now_ += minutes(11);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(wrong("alice"), milliseconds(0));
    EXPECT_EQ(wrong("alice"), milliseconds(250));
}

// Goal: what waits is bounded, for one address and for all. Method: more than may.
TEST_F(GateTest, BoundsWhoWaits) {
    for (int i = 0; i < 6; ++i) wrong("alice");
    for (int i = 0; i < 20; ++i) add("alice");
    int busy = 0;
    while (const auto next = gate_.next(now_)) busy += next->busy ? 1 : 0;
    EXPECT_EQ(busy, 4);
    EXPECT_EQ(gate_.waiting(), 16U);

    Gate small(GateRules{.waiting_max = 2});
    auto first = attempt("a", "10.0.0.7");
    auto second = attempt("b", "10.0.0.7");
    auto third = attempt("c", "10.0.0.7");
    EXPECT_TRUE(small.add(first));
    EXPECT_TRUE(small.add(second));
    EXPECT_FALSE(small.add(third));
    EXPECT_EQ(third.user, "c") << "still the caller's";
}

// Goal: memory is bounded though addresses are not; the latest guessers are known. Method: 100 of
// them with room for 10.
TEST_F(GateTest, BoundsWhatItRemembers) {
    Gate small(GateRules{.records_max = 10});
    for (int i = 0; i < 100; ++i) {
        now_ += milliseconds(1);
        small.judged(now_, attempt("alice", "10.0.1." + std::to_string(i)), false);
    }
    EXPECT_EQ(small.failures(attempt("alice", "10.0.1.99")), 1U);
    EXPECT_EQ(small.failures(attempt("alice", "10.0.1.0")), 0U);
}

// Goal: the end reaches all who wait. Method: one ready, some held.
TEST_F(GateTest, DropsAll) {
    for (int i = 0; i < 6; ++i) wrong("alice");
    for (int i = 0; i < 3; ++i) add("alice");
    EXPECT_FALSE(gate_.next(now_));
    add("bob");
    int dropped = 0;
    while (const auto next = gate_.drop()) dropped += next->busy ? 1 : 0;
    EXPECT_EQ(dropped, 4);
    EXPECT_EQ(gate_.waiting(), 0U);
}

// Goal: who can change their address at will gains nothing. Method: addresses of each kind.
TEST(NetworkOfTest, IsWhatAPeerCannotChange) {
    EXPECT_EQ(network_of("10.0.0.7"), "10.0.0.7");
    EXPECT_EQ(network_of("::ffff:10.0.0.7"), "10.0.0.7");
    EXPECT_EQ(network_of("2001:db8:1:2:aaaa::1"), network_of("2001:db8:1:2:bbbb::2"));
    EXPECT_NE(network_of("2001:db8:1:2::1"), network_of("2001:db8:1:3::1"));
    EXPECT_EQ(network_of(":1000:1000:4242"), ":1000:1000");
    EXPECT_EQ(network_of(""), "");
    EXPECT_EQ(network_of("nonsense"), "nonsense");
}

}  // namespace
}  // namespace shortq::auth
