// primary/auth/authenticator.h: the real thread and clock, with hashes that take no time.
#include "primary/auth/authenticator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <future>
#include <memory>
#include <vector>

#include "primary/auth/password_hash.h"

namespace shortq::auth {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr GateRules kPatient{.free_per_user = 1000, .free_per_address = 1000};
constexpr HashCost kNoticeable{1, std::size_t{16} << 20};  // Some milliseconds.

Users users(HashCost cost = kLeastCost) {
    return {{"alice", hash_password("wonderland", cost).value()},
            {"bob", hash_password("builder", cost).value()}};
}

std::future<Verdict> ask(Authenticator& authenticator, std::string user, std::string_view password,
                         std::string address = "10.0.0.7") {
    auto promise = std::make_shared<std::promise<Verdict>>();
    auto verdict = promise->get_future();
    authenticator.check({std::move(user), Secret(password), std::move(address),
                         [promise](Verdict told) { promise->set_value(told); }});
    return verdict;
}

// Goal: a name and its own password get in, nothing else does. Method: each wrong way.
TEST(AuthenticatorTest, AcceptsTheRightPairOnly) {
    Authenticator authenticator(users(), kPatient);
    EXPECT_EQ(ask(authenticator, "alice", "wonderland").get(), Verdict::kAccepted);
    EXPECT_EQ(ask(authenticator, "bob", "builder").get(), Verdict::kAccepted);
    const std::pair<const char*, const char*> wrong[] = {{"alice", "builder"},
                                                         {"bob", "wonderland"},
                                                         {"carol", "wonderland"},
                                                         {"alice", ""},
                                                         {"", ""},
                                                         {"Alice", "wonderland"},
                                                         {"alicewonder", "land"},
                                                         {"alice", "wonderland "}};
    for (const auto& [user, password] : wrong)
        EXPECT_EQ(ask(authenticator, user, password).get(), Verdict::kDenied) << user;
    EXPECT_EQ(authenticator.denied(), std::size(wrong));
    EXPECT_EQ(ask(authenticator, "alice", "wonderland").get(), Verdict::kAccepted);
}

// Goal: a thousand that come back cost one hash. Method: at the usual price a thousand would take a
// minute.
TEST(AuthenticatorTest, RemembersWhoWasRight) {
    Authenticator authenticator({{"alice", hash_password("wonderland").value()}});
    std::vector<std::future<Verdict>> verdicts;
    const auto begun = steady_clock::now();
    for (int i = 0; i < 1000; ++i) verdicts.push_back(ask(authenticator, "alice", "wonderland"));
    for (auto& verdict : verdicts) EXPECT_EQ(verdict.get(), Verdict::kAccepted);
    EXPECT_LT(steady_clock::now() - begun, seconds(15));
}

// Goal: what is remembered opens no side door: a wrong password is wrong beside it, and a guesser
// waits before it is looked up. Method: guess at a remembered pair from one address.
TEST(AuthenticatorTest, AGuesserWaitsEvenForARememberedPair) {
    Authenticator authenticator(users(), {.free_per_user = 2, .first_wait = milliseconds(300)});
    EXPECT_EQ(ask(authenticator, "alice", "wonderland", "10.0.0.8").get(), Verdict::kAccepted);
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(ask(authenticator, "alice", "guess", "10.0.0.7").get(), Verdict::kDenied);
    const auto begun = steady_clock::now();
    auto held = ask(authenticator, "alice", "wonderland", "10.0.0.7");
    EXPECT_EQ(ask(authenticator, "alice", "wonderland", "10.0.0.8").get(), Verdict::kAccepted);
    EXPECT_EQ(ask(authenticator, "bob", "builder", "10.0.0.7").get(), Verdict::kAccepted);
    EXPECT_EQ(held.get(), Verdict::kAccepted);
    EXPECT_GE(steady_clock::now() - begun, milliseconds(250));
}

// Goal: how long a denial takes does not tell who exists. Method: the quickest of some, each kind.
TEST(AuthenticatorTest, AnUnknownUserTakesAsLong) {
    Authenticator authenticator(users(kNoticeable), kPatient);
    const auto quickest = [&](const std::string& user) {
        auto best = steady_clock::duration::max();
        for (int i = 0; i < 5; ++i) {
            const auto begun = steady_clock::now();
            EXPECT_EQ(ask(authenticator, user, "guess").get(), Verdict::kDenied);
            best = std::min(best, steady_clock::now() - begun);
        }
        return best;
    };
    const auto known = quickest("alice");
    EXPECT_GT(quickest("nobody"), known / 3);
}

// Goal: a password that was changed no longer opens, though it was remembered. Method: replace.
TEST(AuthenticatorTest, ForgetsWhenUsersAreReplaced) {
    Authenticator authenticator(users(), kPatient);
    EXPECT_EQ(ask(authenticator, "alice", "wonderland").get(), Verdict::kAccepted);
    EXPECT_EQ(ask(authenticator, "bob", "builder").get(), Verdict::kAccepted);
    authenticator.replace({{"alice", hash_password("changed", kLeastCost).value()}});
    EXPECT_EQ(ask(authenticator, "alice", "wonderland").get(), Verdict::kDenied);
    EXPECT_EQ(ask(authenticator, "bob", "builder").get(), Verdict::kDenied);
    EXPECT_EQ(ask(authenticator, "alice", "changed").get(), Verdict::kAccepted);
}

// Goal: each gets exactly one verdict, at the end too. Method: destroy it with one held up.
TEST(AuthenticatorTest, AnswersWhoWaitsWhenItEnds) {
    std::future<Verdict> held;
    {
        Authenticator authenticator(users(), {.free_per_user = 1,
                                              .first_wait = std::chrono::hours(1),
                                              .longest_wait = std::chrono::hours(1)});
        EXPECT_EQ(ask(authenticator, "alice", "guess").get(), Verdict::kDenied);
        held = ask(authenticator, "alice", "wonderland");
        EXPECT_EQ(ask(authenticator, "bob", "builder").get(), Verdict::kAccepted);
    }
    EXPECT_EQ(held.get(), Verdict::kBusy);
}

// Goal: too many are sent away at once. Method: room for one, which is held up.
TEST(AuthenticatorTest, SendsAwayWhomItHasNoRoomFor) {
    Authenticator authenticator(users(), {.free_per_user = 1,
                                          .first_wait = std::chrono::hours(1),
                                          .longest_wait = std::chrono::hours(1),
                                          .waiting_max = 1});
    EXPECT_EQ(ask(authenticator, "alice", "guess").get(), Verdict::kDenied);
    const auto held = ask(authenticator, "alice", "guess");
    EXPECT_EQ(ask(authenticator, "bob", "builder").get(), Verdict::kBusy);
}

}  // namespace
}  // namespace shortq::auth
