// primary/auth/password_hash.h: hashes at libsodium's least cost, so that they take no time.
#include "primary/auth/password_hash.h"

#include <gmock/gmock.h>

namespace shortq::auth {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string hash_of(std::string_view password) {
    return hash_password(password, kLeastCost).value();
}

// Goal: a hash fits its password alone. Method: near misses, and bytes that C strings end at.
TEST(PasswordHashTest, MatchesItsPasswordOnly) {
    const auto hash = hash_of("Schw\xc3\xb6rt:er #1");
    EXPECT_THAT(hash, StartsWith("$argon2id$"));
    EXPECT_TRUE(matches_password(hash, "Schw\xc3\xb6rt:er #1"));
    for (const std::string_view wrong :
         {"", "schw\xc3\xb6rt:er #1", "Schw\xc3\xb6rt:er #", "Schw\xc3\xb6rt:er #1 "})
        EXPECT_FALSE(matches_password(hash, wrong)) << wrong;
    EXPECT_FALSE(matches_password(hash, std::string_view("Schw\xc3\xb6rt:er #1\0", 15)));
}

// Goal: two hashes of one password tell nothing of it. Method: compare them.
TEST(PasswordHashTest, IsSalted) { EXPECT_NE(hash_of("same"), hash_of("same")); }

// Goal: a hash's price is the one that is recommended unless told otherwise. Method: read it.
TEST(PasswordHashTest, CostsWhatIsUsualForALogin) {
    EXPECT_THAT(hash_password("x").value(), HasSubstr("m=65536,t=2,p=1"));
}

// Goal: what no door lets through is refused here. Method: both edges.
TEST(PasswordHashTest, RefusesWhatCannotTravel) {
    EXPECT_EQ(hash_password("", kLeastCost).error().message, "an empty password");
    EXPECT_TRUE(hash_password(std::string(kPasswordBytesMax, 'x'), kLeastCost));
    EXPECT_EQ(hash_password(std::string(kPasswordBytesMax + 1, 'x'), kLeastCost).error().message,
              "a password has at most 255 bytes");
}

// Goal: only whole hashes of this kind are taken for one. Method: cut one everywhere; others'
// forms.
TEST(PasswordHashTest, KnowsItsOwnForm) {
    const auto hash = hash_of("x");
    EXPECT_TRUE(is_password_hash(hash));
    for (std::size_t size = 0; size < hash.size(); ++size)
        EXPECT_FALSE(is_password_hash(hash.substr(0, size))) << size;
    for (const char* other : {"secret", "$2b$12$abcdefghijklmnopqrstuv",
                              "$argon2i$v=19$m=8,t=3,p=1$", "$argon2id$", "$6$salt$hash"})
        EXPECT_FALSE(is_password_hash(other)) << other;
    EXPECT_FALSE(is_password_hash(hash + std::string(1, '\0') + "x"));
}

}  // namespace
}  // namespace shortq::auth
