// primary/auth/users.h: one file per rule, with its exact message.
#include "primary/auth/users.h"

#include <gmock/gmock.h>

#include "primary/auth/password_hash.h"

namespace shortq::auth {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string hash() {
    static const auto kHash = hash_password("x", kLeastCost).value();
    return kHash;
}

// Goal: what a hand-edited file looks like is read. Method: comments, blanks, CRLF, no last
// newline.
TEST(UsersTest, ReadsLinesCommentsAndBlanks) {
    const auto users = parse_users("# who may come in\n\nalice:" + hash() +
                                       "\r\n   \n  b\xc3\xb6"
                                       "b@desk:" +
                                       hash() + "  ",
                                   "users");
    ASSERT_TRUE(users) << users.error().message;
    EXPECT_THAT(*users, UnorderedElementsAre(Pair("alice", hash()), Pair("b\xc3\xb6"
                                                                         "b@desk",
                                                                         hash())));
}

struct Bad {
    std::string line;
    std::string message;
};

// Goal: each mistake is told with its line, and never with what may be a password. Method: a table.
TEST(UsersTest, SaysWhatIsWrongAndWhereButNotTheSecret) {
    const std::string not_a_hash =
        "what follows the name is not an Argon2id hash ($argon2id$...); shortq-cli --hash-password "
        "makes one";
    const std::string bad_name =
        "a name has no blank, colon or control character, and does not begin with #";
    const Bad cases[] = {
        {"hunter2", "expected NAME:HASH; shortq-cli --hash-password makes such a line"},
        {":" + hash(), "the name is empty"},
        {"bob:hunter2", not_a_hash},
        {"bob:", not_a_hash},
        {"bob:x:" + hash(), not_a_hash},
        {"bob:" + hash().substr(0, 60), not_a_hash},
        {"b ob:" + hash(), bad_name},
        {"b\x1b[31mob:" + hash(), bad_name},
        {"b\xffob:" + hash(), "the name is not UTF-8"},
        {std::string(129, 'b') + ":" + hash(), "the name has more than 128 bytes"},
        {"alice:" + hash(), "the user 'alice' is there twice"},
    };
    for (const auto& [line, message] : cases) {
        const auto users =
            parse_users("# first\nalice:" + hash() + "\n" + line + "\n", "etc/users");
        ASSERT_FALSE(users) << line;
        EXPECT_EQ(users.error().message, message);
        EXPECT_EQ(users.error().where, "etc/users:3");
        EXPECT_THAT(users.error().message, Not(HasSubstr("hunter2")));
    }
}

// Goal: a file that lets nobody in is a mistake. Method: only a comment.
TEST(UsersTest, NeedsAUser) {
    for (const char* text : {"", "\n\n", "# nobody\n"}) {
        const auto users = parse_users(text, "users");
        ASSERT_FALSE(users);
        EXPECT_EQ(users.error().message,
                  "has no user; shortq-cli --hash-password makes a line for one");
    }
}

}  // namespace
}  // namespace shortq::auth
