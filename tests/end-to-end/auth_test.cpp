// Users, passwords and encryption against a real server: who gets in, who does not and hears why,
// and what the log says of it.
#include <sys/stat.h>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// One user, alice, whose password is made by shortq-cli as an operator does; and a pair of keys.
class AuthTest : public EndToEnd {
protected:
    void SetUp() override {
        const auto line =
            run(shortq_cli_program(), {"--hash-password", "--user", "alice"}, "wonderland\n");
        ASSERT_EQ(line.status, kSucceeded) << line.err;
        ASSERT_THAT(line.out, StartsWith("alice:$argon2id$"));
        users_ = private_file("users", "# operators\n" + line.out);
        ASSERT_EQ(make_keys("server").status, kSucceeded);
    }

    std::string private_file(const std::string& name, const std::string& text) {
        const auto path = folder_.write(name, text);
        EXPECT_EQ(::chmod(path.c_str(), 0600), 0);
        return path;
    }
    Outcome make_keys(const std::string& name) {
        return run(shortq_program(), {"--make-keys", path(name)});
    }
    std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

    std::vector<std::string> guarded(bool encrypted) {
        std::vector<std::string> options{"--users", users_};
        if (encrypted) options.insert(options.end(), {"--curve-keys", path("server.secret")});
        return test_engine(1, options);
    }
    static ConnectOptions as(const std::string& user, const std::string& password,
                             const std::string& server_key = {}) {
        ConnectOptions options;
        options.user = user;
        options.password = password;
        options.server_key = server_key;
        return options;
    }
    static std::string refusal(const Server& server, ConnectOptions options) {
        options.endpoints = {server.endpoint()};
        const auto begun = Clock::now();
        const auto client = Client::connect(std::move(options));
        EXPECT_LT(since(begun), kPatience);
        return client ? "let in"
                      : std::string(name_of(client.error().code)) + ": " + client.error().message;
    }

    std::string users_;
};

constexpr const char* kWrong = "denied: wrong user name or password";

// Goal: a user's own password opens, nothing else does, and nothing tells users from strangers.
// Method: each way, without encryption and with it; then what the log says.
TEST_F(AuthTest, OnlyTheRightPasswordOpens) {
    for (const bool encrypted : {false, true}) {
        const std::string key = encrypted ? path("server.public") : "";
        const Server server(guarded(encrypted));
        auto client = server.connect(as("alice", "wonderland", key));
        EXPECT_EQ(cell(client.deferred("echo hello")), "hello");
        EXPECT_EQ(cell(client.sync("select \"user\" from shortq.clients")), "alice");
        EXPECT_EQ(refusal(server, as("alice", "looking-glass", key)), kWrong);
        EXPECT_EQ(refusal(server, as("mistyped-s3cret", "wonderland", key)), kWrong);
        const char* nothing = "denied: this server wants a user's name and a password";
        EXPECT_EQ(refusal(server, as("alice", "", key)), nothing);
        EXPECT_EQ(refusal(server, as("", "", key)), nothing);
        EXPECT_THAT(server.log(),
                    AllOf(HasSubstr("denied: a wrong password for 'alice', from 127.0.0.1"),
                          HasSubstr("denied: an unknown user, from 127.0.0.1"),
                          Not(HasSubstr("looking-glass")), Not(HasSubstr("wonderland")),
                          Not(HasSubstr("mistyped-s3cret")), Not(HasSubstr("argon2"))));
    }
}

// Goal: who does not encrypt where it is required, or with another's key, is refused and told why,
// well before the time to connect is over. Method: each mismatch.
TEST_F(AuthTest, EncryptionIsNotOptional) {
    ASSERT_EQ(make_keys("other").status, kSucceeded);
    const Server server(guarded(true));
    EXPECT_THAT(refusal(server, as("alice", "wonderland")), HasSubstr("--server-key"));
    EXPECT_THAT(refusal(server, as("alice", "wonderland", path("other.public"))),
                HasSubstr("is the server key its own"));
    EXPECT_THAT(refusal(server, as("alice", "wonderland", path("none.public"))),
                StartsWith("bad_request: no server key:"));
    auto client = server.connect(as("alice", "wonderland", path("server.public")));
    EXPECT_EQ(cell(client.deferred("echo still here")), "still here");

    const Server open(test_engine(1));
    EXPECT_THAT(refusal(open, as("alice", "wonderland", path("server.public"))),
                HasSubstr("--curve-keys"));
}

// Goal: guessing becomes slow for the guesser. Method: seven in a row; the last four wait a
// quarter, a half, one and two seconds.
TEST_F(AuthTest, GuessingBecomesSlow) {
    const Server server(guarded(false));
    const auto begun = Clock::now();
    for (int i = 0; i < 7; ++i) {
        auto options = as("alice", "guess" + std::to_string(i));
        options.connect_timeout = kPatience;
        EXPECT_EQ(refusal(server, options), kWrong);
    }
    EXPECT_GE(since(begun), milliseconds(3700));
}

// Goal: the command line takes a password from where it belongs, and says 3 when it is wrong.
// Method: a file, a wrong one, none.
TEST_F(AuthTest, TheCommandLineTakesAPassword) {
    const Server server(guarded(true));
    const auto right = private_file("right", "wonderland\n");
    const auto wrong = private_file("wrong", "guess\n");
    const std::vector<std::string> common{"--user", "alice", "--server-key", path("server.public")};
    const auto ask = [&](std::vector<std::string> more) {
        more.insert(more.end(), common.begin(), common.end());
        more.emplace_back("echo hello");
        return server.cli(more);
    };
    const auto accepted = ask({"--password-file", right});
    EXPECT_EQ(accepted.status, kSucceeded) << accepted.err;
    EXPECT_THAT(accepted.out, HasSubstr("hello"));
    const auto denied = ask({"--password-file", wrong});
    EXPECT_EQ(denied.status, kNoConnection);
    EXPECT_THAT(denied.err, StartsWith(kWrong));
    EXPECT_EQ(ask({}).status, kNoConnection);
    EXPECT_EQ(ask({"--password-file", path("none")}).status, kUsage);
    const auto secret = server.cli({"--server-key", path("server.secret"), "echo hello"});
    EXPECT_EQ(secret.status, kUsage);
    EXPECT_THAT(secret.err, HasSubstr("clients take " + path("server.public")));
}

// Goal: a hash is made of the password that a connection would take. Method: a file, which wins;
// the variable; nothing at all, which is an error.
TEST_F(AuthTest, AHashIsOfTheSamePassword) {
    const auto right = private_file("right", "wonderland\n");
    const auto hash = [&](const std::vector<std::string>& more, const std::string& variable) {
        std::vector<std::string> words{"SHORTQ_PASSWORD=" + variable, shortq_cli_program(),
                                       "--hash-password", "--user", "alice"};
        words.insert(words.end(), more.begin(), more.end());
        return run("/usr/bin/env", words);
    };
    const auto opens = [&](const Outcome& made) {
        EXPECT_EQ(made.status, kSucceeded) << made.err;
        private_file("users", made.out);
        const Server server(guarded(false));
        return refusal(server, as("alice", "wonderland"));
    };
    EXPECT_EQ(opens(hash({"--password-file", right}, "guess")), "let in");
    EXPECT_EQ(opens(hash({}, "wonderland")), "let in");
    EXPECT_EQ(hash({}, "").status, kUsage);
    EXPECT_EQ(hash({"--password-file", path("none")}, "wonderland").status, kUsage);
}

// Goal: the password outlives the server. Method: kill it, start another one at its port.
TEST_F(AuthTest, APasswordSurvivesAReconnect) {
    auto first = std::make_unique<Server>(guarded(true));
    const auto port = first->port();
    auto client = first->connect(as("alice", "wonderland", path("server.public")));
    EXPECT_EQ(cell(client.deferred("echo one")), "one");
    first.reset();
    const Server second(guarded(true), port);
    EXPECT_EQ(cell(client.deferred("echo two", {}, within(kPatience))), "two");
}

// Goal: users change without a restart, and a mistake in the file changes nothing. Method: reload.
TEST_F(AuthTest, UsersAreReadAgainAtAReload) {
    const Server server(guarded(false));
    auto client = server.connect(as("alice", "wonderland"));
    const auto bob = run(shortq_cli_program(), {"--hash-password", "--user", "bob"}, "builder\n");
    private_file("users", bob.out);
    EXPECT_TRUE(client.sync("call shortq_reload()"));
    EXPECT_EQ(refusal(server, as("bob", "builder")), "let in");
    EXPECT_EQ(refusal(server, as("alice", "wonderland")), kWrong);
    EXPECT_EQ(cell(client.deferred("echo still here")), "still here");
    private_file("users", "bob:builder\n");
    const auto mistaken = client.sync("call shortq_reload()");
    ASSERT_FALSE(mistaken);
    EXPECT_THAT(mistaken.error().message, HasSubstr("the old users stay"));
    EXPECT_THAT(mistaken.error().where, HasSubstr("users"));
    EXPECT_EQ(cell(client.sync("select max(id) from shortq.generations")), "2");
    EXPECT_EQ(refusal(server, as("bob", "builder")), "let in");
    EXPECT_THAT(server.log(), HasSubstr("the old users stay"));
}

// Goal: what cannot be safe does not start. Method: files that others may read, and none.
TEST_F(AuthTest, RefusesFilesThatOthersMayRead) {
    const auto start = [&](const std::vector<std::string>& options) {
        auto arguments = test_engine(1, options);
        arguments.insert(arguments.begin(), {"--port", "0"});
        return run(shortq_program(), arguments);
    };
    ASSERT_EQ(::chmod(users_.c_str(), 0644), 0);
    const auto open = start({"--users", users_});
    EXPECT_EQ(open.status, kFailed);
    EXPECT_THAT(open.err, HasSubstr("chmod 600"));
    const auto swapped = start({"--curve-keys", path("server.public")});
    EXPECT_EQ(swapped.status, kFailed);
    EXPECT_THAT(swapped.err, AllOf(HasSubstr("is the public key, for clients; the secret one is " +
                                             path("server.secret")),
                                   Not(HasSubstr("chmod"))));
    ASSERT_EQ(::chmod(path("server.public").c_str(), 0600), 0);
    EXPECT_EQ(start({"--curve-keys", path("server.public")}).status, kFailed);
    EXPECT_EQ(start({"--curve-keys", path("none")}).status, kFailed);
    EXPECT_EQ(make_keys("server").status, kFailed) << "it must not overwrite";
}

}  // namespace
}  // namespace shortq::test
