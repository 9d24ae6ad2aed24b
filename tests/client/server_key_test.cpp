// Goal: a server's key is found in a text or in a file, and a path is never taken for a key.
// Method: keys, files and near misses.
#include "client/server_key.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "tests/temporary_folder.h"

namespace shortq::detail {
namespace {

using test::TemporaryFolder;
using ::testing::HasSubstr;

const std::string kKey = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7";  // rfc.zeromq.org/spec/26.

TEST(ServerKeyTest, TextIsItself) { EXPECT_EQ(find_server_key(kKey).value(), kKey); }

TEST(ServerKeyTest, FileHasItAsALine) {
    const TemporaryFolder folder;
    const auto file = folder.write("server.public", "# ours\r\n" + kKey + "\r\n");
    EXPECT_EQ(find_server_key(file).value(), kKey);
}

// It opens nothing as a public key, and should not lie where clients are.
TEST(ServerKeyTest, TheSecretOneIsRefused) {
    const TemporaryFolder folder;
    const auto file = folder.write(
        "prod.secret", "# shortq: the server's secret key. Show it to nobody.\n" + kKey + "\n");
    const auto found = find_server_key(file);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().message,
              "no server key: \"" + file +
                  "\" is the server's secret key; it belongs to the server alone; clients take " +
                  (folder.path() / "prod.public").string());
}

// Forty letters, all of the alphabet of keys.
TEST(ServerKeyTest, PathThatLooksLikeAKeyIsAPath) {
    const std::string name(40, 'x');
    const TemporaryFolder folder;
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    EXPECT_EQ(find_server_key(name).value(), name);
    static_cast<void>(folder.write(name, kKey + "\n"));
    EXPECT_EQ(find_server_key(name).value(), kKey);
    std::filesystem::current_path(before);
}

TEST(ServerKeyTest, NearMissesAreNamed) {
    for (const std::string& text : {std::string{}, std::string("nonsense"), kKey + "0",
                                    kKey.substr(1), std::string(40, '_'), std::string(40, '#')}) {
        const auto found = find_server_key(text);
        ASSERT_FALSE(found) << text;
        EXPECT_THAT(found.error().message, HasSubstr("no server key: \"" + text + "\""));
    }
}

}  // namespace
}  // namespace shortq::detail
