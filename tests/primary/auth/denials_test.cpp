// primary/auth/denials.h: lines for the log, in virtual time.
#include "primary/auth/denials.h"

#include <gmock/gmock.h>

namespace shortq::auth {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::steady_clock::time_point kStart{std::chrono::hours{1}};

// Goal: who is told of, and how. Method: a known name, none, an address from nowhere.
TEST(DenialsTest, NameKnownUsersOnly) {
    Denials denials;
    EXPECT_EQ(denials.line(kStart, "alice", "10.0.0.7"),
              "denied: a wrong password for 'alice', from 10.0.0.7");
    EXPECT_EQ(denials.line(kStart, "", "::1"), "denied: an unknown user, from ::1");
    EXPECT_EQ(denials.line(kStart, "", ""), "denied: an unknown user, from an unknown address");
    EXPECT_THAT(*denials.line(kStart, "", "\x1b[2J\n"), Not(HasSubstr("\n")));
}

// Goal: an attack does not fill the disk, and is not hidden either. Method: a thousand at once,
// then a quiet while.
TEST(DenialsTest, AreFewHoweverManyThereWere) {
    Denials denials;
    int told = 0;
    for (int i = 0; i < 1000; ++i) told += denials.line(kStart, "alice", "10.0.0.7") ? 1 : 0;
    EXPECT_EQ(told, 20);
    EXPECT_EQ(denials.line(kStart + seconds(10), "", "10.0.0.7"),
              "denied: an unknown user, from 10.0.0.7 (980 more were not told)");
}

}  // namespace
}  // namespace shortq::auth
