#include "primary/options.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace shortq::primary {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Result<CommandLine> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "shortq");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

// A configuration file that is gone when the test ends.
class ConfigFile {
public:
    explicit ConfigFile(const std::string& text)
        : path_(std::filesystem::temp_directory_path() /
                ("shortq-options-test-" + std::to_string(getpid()) + ".toml")) {
        std::ofstream(path_) << text;
    }
    ~ConfigFile() { std::filesystem::remove(path_); }
    ConfigFile(const ConfigFile&) = delete;
    ConfigFile& operator=(const ConfigFile&) = delete;
    [[nodiscard]] std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
};

// What a bare command line means, checked value by value against the table in the user's manual.
TEST(OptionsTest, DefaultsAreThoseOfTheManual) {
    const auto line = parse({"2", "startup.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    const auto& options = line->options;
    EXPECT_EQ(options.workers, 2U);
    EXPECT_EQ(options.source, "startup.sql");
    EXPECT_EQ(options.port, 5001);
    EXPECT_EQ(options.listen, "127.0.0.1");
    EXPECT_EQ(options.window, core::kWindowAuto);
    EXPECT_EQ(options.timeout, seconds(0));
    EXPECT_EQ(options.grace, seconds(2));
    EXPECT_EQ(options.stall, seconds(30));
    EXPECT_EQ(options.drain, seconds(30));
    EXPECT_EQ(options.load_timeout, seconds(600));
    EXPECT_EQ(options.pending_max, 100'000U);
    EXPECT_EQ(options.pending_per_client_max, 10'000U);
    EXPECT_EQ(options.pending_bytes_max, std::uint64_t{256} << 20);
    EXPECT_EQ(options.query_bytes_max, std::uint64_t{16} << 20);
    EXPECT_EQ(options.result_bytes_max, 0U);
    EXPECT_GT(options.memory_limit_bytes, 0U);
    EXPECT_GE(options.threads, 1U);
    EXPECT_FALSE(options.writable);
}

// Every option given once, each read back.
TEST(OptionsTest, EveryOptionArrivesAtItsField) {
    const auto line = parse({"-p",
                             "0",
                             "--listen",
                             "::1",
                             "--window",
                             "7",
                             "--policy",
                             "random",
                             "--timeout",
                             "1.5",
                             "--grace",
                             "0.25",
                             "--stall",
                             "12",
                             "--max-pending",
                             "10",
                             "--max-pending-per-client",
                             "5",
                             "--max-pending-bytes",
                             "1K",
                             "--max-query-bytes",
                             "2M",
                             "--max-result-bytes",
                             "3G",
                             "--memory-limit",
                             "1G",
                             "--load-timeout",
                             "9",
                             "--allow-path",
                             "/tmp",
                             "--allow-path",
                             "/usr",
                             "--engine",
                             "test",
                             "--threads",
                             "3",
                             "--spawn",
                             "exec",
                             "--writable",
                             "--drain",
                             "4",
                             "--log-level",
                             "debug",
                             "--log-format",
                             "json",
                             "auto",
                             "data"});
    ASSERT_TRUE(line) << one_line(line.error());
    const auto& options = line->options;
    EXPECT_EQ(options.port, 0);
    EXPECT_EQ(options.listen, "::1");
    EXPECT_EQ(options.window, 7U);
    EXPECT_EQ(options.policy, core::Policy::kRandom);
    EXPECT_EQ(options.timeout, milliseconds(1500));
    EXPECT_EQ(options.grace, milliseconds(250));
    EXPECT_EQ(options.stall, seconds(12));
    EXPECT_EQ(options.pending_max, 10U);
    EXPECT_EQ(options.pending_per_client_max, 5U);
    EXPECT_EQ(options.pending_bytes_max, 1024U);
    EXPECT_EQ(options.query_bytes_max, std::uint64_t{2} << 20);
    EXPECT_EQ(options.result_bytes_max, std::uint64_t{3} << 30);
    EXPECT_EQ(options.memory_limit_bytes, std::uint64_t{1} << 30);
    EXPECT_EQ(options.load_timeout, seconds(9));
    EXPECT_THAT(options.allowed_paths, testing::ElementsAre("/tmp", "/usr"));
    EXPECT_EQ(options.engine, "test");
    EXPECT_EQ(options.threads, 3U);
    EXPECT_TRUE(options.writable);
    EXPECT_EQ(options.drain, seconds(4));
    EXPECT_EQ(options.log_level, "debug");
    EXPECT_EQ(options.log_format, "json");
    EXPECT_GE(options.workers, 1U);
}

// "--" ends the options; what is behind it are arguments.
TEST(OptionsTest, NothingBehindTheMarkIsAnOption) {
    const auto line = parse({"-p", "0", "--", "2", "-x.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    EXPECT_EQ(line->options.port, 0);
    EXPECT_EQ(line->options.workers, 2U);
    EXPECT_EQ(line->options.source, "-x.sql");
}

struct BadLine {
    const char* name;
    std::vector<const char*> arguments;
    const char* message;
};

void PrintTo(const BadLine& line, std::ostream* out) { *out << line.name; }

class BadCommandLineTest : public testing::TestWithParam<BadLine> {};

// One wrong command line per rule, with the exact text that people read.
TEST_P(BadCommandLineTest, IsRefusedWithItsMessage) {
    const auto line = parse(GetParam().arguments);
    ASSERT_FALSE(line);
    EXPECT_EQ(one_line(line.error()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadCommandLineTest,
    testing::Values(
        BadLine{"NoWorkers", {}, "WORKERS: missing; usage: shortq [options] WORKERS SOURCE"},
        BadLine{"NoSource",
                {"2"},
                "SOURCE: missing; name a startup script (.sql), a DuckDB file, a Parquet or CSV "
                "file, or a folder of those"},
        BadLine{"ZeroWorkers",
                {"0", "x.sql"},
                "WORKERS: expected auto or a whole number from 1 to 1024, got '0'"},
        BadLine{"TooManyWorkers",
                {"1025", "x.sql"},
                "WORKERS: expected auto or a whole number from 1 to 1024, got '1025'"},
        BadLine{"ThirdArgument",
                {"2", "x.sql", "y.sql"},
                "y.sql: unexpected argument; usage: shortq [options] WORKERS SOURCE"},
        BadLine{"MisspeltOption",
                {"--widnow", "2", "x.sql"},
                "--widnow: unknown option; did you mean --window?"},
        BadLine{"StrangeOption",
                {"--xyzzy-plugh", "2", "x.sql"},
                "--xyzzy-plugh: unknown option; see shortq --help"},
        BadLine{"OnlyDashes", {"2", "x.sql", "---"}, "---: unknown option; see shortq --help"},
        BadLine{"OptionBehindTheMark",
                {"--", "2", "x.sql", "--port"},
                "--port: unknown option; did you mean --port?"},
        BadLine{"MissingValue", {"2", "x.sql", "--window"}, "--window: needs a value"},
        BadLine{"Window",
                {"--window", "many", "2", "x.sql"},
                "--window: expected auto or a whole number from 0 to 1000000, got 'many'"},
        BadLine{"Port",
                {"--port", "65536", "2", "x.sql"},
                "--port: expected a whole number from 0 to 65535, got '65536'"},
        BadLine{"Policy",
                {"--policy", "best", "2", "x.sql"},
                "--policy: expected shortest-queue, round-robin or random, got 'best'"},
        BadLine{"Timeout",
                {"--timeout", "soon", "2", "x.sql"},
                "--timeout: expected seconds such as 2 or 0.5, got 'soon'"},
        BadLine{"TimeoutNotANumber",
                {"--timeout", "nan", "2", "x.sql"},
                "--timeout: expected seconds such as 2 or 0.5, got 'nan'"},
        BadLine{"Size",
                {"--max-query-bytes", "1X", "2", "x.sql"},
                "--max-query-bytes: expected a size in bytes such as 4096, 256M or 1.5G, got '1X'"},
        BadLine{"Memory",
                {"--memory-limit", "1M", "2", "x.sql"},
                "--memory-limit: expected auto or a size of at least 16M, got '1M'"},
        BadLine{"Engine",
                {"--engine", "sqlite", "2", "x.sql"},
                "--engine: expected duckdb or test, got 'sqlite'"},
        BadLine{"Spawn",
                {"--spawn", "thread", "2", "x.sql"},
                "--spawn: expected fork or exec, got 'thread'"},
        BadLine{"Warm",
                {"--warm", "some", "2", "x.sql"},
                "--warm: expected auto, off or all, got 'some'"},
        BadLine{"AllowPath",
                {"--allow-path", "/no/such/folder", "2", "x.sql"},
                "--allow-path: expected a folder that exists, got '/no/such/folder'"},
        BadLine{"LogLevel",
                {"--log-level", "loud", "2", "x.sql"},
                "--log-level: expected trace, debug, info, warn, error or off, got 'loud'"},
        BadLine{"LogFormat",
                {"--log-format", "xml", "2", "x.sql"},
                "--log-format: expected text or json, got 'xml'"},
        BadLine{"ListenEverywhere",
                {"--listen", "0.0.0.0", "2", "x.sql"},
                "--listen: 0.0.0.0 is not a loopback address: it needs both --users FILE and "
                "--curve-keys FILE (shortq --make-keys makes one); or --insecure, without password "
                "and encryption"},
        BadLine{"ListenEverywhereUnencrypted",
                {"--listen", "0.0.0.0", "--users", "u", "2", "x.sql"},
                "--listen: 0.0.0.0 is not a loopback address: it needs both --users FILE and "
                "--curve-keys FILE (shortq --make-keys makes one); or --insecure, without password "
                "and encryption"},
        BadLine{"ListenEverywhereForKdbWithoutUsers",
                {"--kdb-port", "0", "--kdb-listen", "0.0.0.0", "2", "x.sql"},
                "--kdb-listen: 0.0.0.0 is not a loopback address: it needs --users FILE; or "
                "--insecure, without passwords"},
        BadLine{"KeysAndASource",
                {"2", "x.sql", "--make-keys"},
                "--make-keys: takes one name and nothing else, got 'x.sql'"},
        BadLine{"KeysWithTwoNames",
                {"--make-keys=prod", "other"},
                "--make-keys: takes one name and nothing else, got 'other'"},
        BadLine{"KeysAndAnOption",
                {"--make-keys", "prod", "--port", "0"},
                "--make-keys: takes one name and nothing else, got '--port'"},
        BadLine{"KeysAndThreeNames",
                {"--make-keys", "a", "b", "c"},
                "c: unexpected argument; usage: shortq [options] WORKERS SOURCE"},
        BadLine{"EmptyUsers",
                {"--users", "", "2", "x.sql"},
                "--users: expected the name of a file, got ''"},
        BadLine{"EmptyKeys",
                {"--curve-keys", "", "2", "x.sql"},
                "--curve-keys: expected the name of a file, got ''"},
        BadLine{
            "EmptyKeysInOneWord", {"--curve-keys=", "2", "x.sql"}, "--curve-keys: needs a value"},
        BadLine{"EmptyConfig", {"--config", "", "2", "x.sql"}, "--config: needs a value"},
        BadLine{"NoConfigFile",
                {"--config", "/no/such.toml", "2", "x.sql"},
                "--config: cannot read /no/such.toml: No such file or directory"},
        BadLine{"ConfigFolder",
                {"--config", "/", "2", "x.sql"},
                "--config: cannot read /: it is a folder"}),
    [](const auto& test) { return std::string(test.param.name); });

// An address for everybody is accepted with passwords and encryption.
TEST(OptionsTest, UsersAndKeysAllowAnyAddress) {
    const auto line =
        parse({"--users", "u", "--curve-keys", "k.secret", "--listen", "0.0.0.0", "2", "x.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    EXPECT_EQ(line->options.users, "u");
    EXPECT_EQ(line->options.curve_keys, "k.secret");
}

// Keys are made wherever nothing is served. The name stands where WORKERS would.
TEST(OptionsTest, MakeKeysNeedsNothingElse) {
    EXPECT_EQ(parse({"--make-keys"})->make_keys, "shortq");
    EXPECT_EQ(parse({"--make-keys", "/etc/shortq/prod"})->make_keys, "/etc/shortq/prod");
    EXPECT_EQ(parse({"--make-keys=prod2"})->make_keys, "prod2");
    EXPECT_FALSE(parse({"2", "x.sql"})->make_keys);
}

// An address for everybody is accepted once the user has said that this is meant.
TEST(OptionsTest, InsecureAllowsAnyAddress) {
    const auto line = parse({"--insecure", "--listen", "0.0.0.0", "2", "x.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    EXPECT_EQ(line->options.listen, "0.0.0.0");
}

// A socket of this machine is nobody else's to reach.
TEST(OptionsTest, ASocketNeedsNoInsecure) {
    const auto line = parse({"--listen", "ipc:///run/shortq", "2", "x.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    EXPECT_EQ(line->options.listen, "ipc:///run/shortq");
}

// The same key in the file and on the command line; another in the file only.
TEST(OptionsTest, CommandLineWinsOverConfigFile) {
    const ConfigFile file("window = 3\ntimeout = 1.5\nwritable = true\nallow-path = [\"/tmp\"]\n");
    const auto path = file.path();
    const auto line = parse({"--config", path.c_str(), "--window", "5", "2", "x.sql"});
    ASSERT_TRUE(line) << one_line(line.error());
    EXPECT_EQ(line->options.window, 5U);
    EXPECT_EQ(line->options.timeout, milliseconds(1500));
    EXPECT_TRUE(line->options.writable);
    EXPECT_THAT(line->options.allowed_paths, testing::ElementsAre("/tmp"));
}

struct BadConfig {
    const char* name;
    const char* text;
    const char* message;  // After the file's name.
};

void PrintTo(const BadConfig& config, std::ostream* out) { *out << config.name; }

class BadConfigTest : public testing::TestWithParam<BadConfig> {};

// One wrong file per rule, with the exact text that people read.
TEST_P(BadConfigTest, IsRefusedWithItsMessage) {
    const ConfigFile file(GetParam().text);
    const auto path = file.path();
    const auto line = parse({"--config", path.c_str(), "2", "x.sql"});
    ASSERT_FALSE(line);
    EXPECT_EQ(one_line(line.error()), path + GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadConfigTest,
    testing::Values(
        BadConfig{"MisspeltKey", "\ngrase = 1\n", ":2: unknown key 'grase'; did you mean 'grace'?"},
        BadConfig{"StrangeKey", "xyzzy-plugh = 1\n",
                  ":1: unknown key 'xyzzy-plugh'; see shortq --help"},
        BadConfig{"WrongValue", "window = -1\n",
                  ": window: expected auto or a whole number from 0 to 1000000, got '-1'"},
        BadConfig{"WrongType", "window = { a = 1 }\n",
                  ":1: window: expected a text, a number, true or false"},
        BadConfig{"EmptyUsers", "users = ''\n", ": users: expected the name of a file, got ''"},
        BadConfig{"WrongFlag", "writable = 1\n", ": writable: expected true or false, got '1'"}),
    [](const auto& test) { return std::string(test.param.name); });

// A file that is no TOML names its line; the rest of the text is the parser's own.
TEST(OptionsTest, BrokenConfigFileNamesTheLine) {
    const ConfigFile file("window = 1\ntimeout = = 2\n");
    const auto path = file.path();
    const auto line = parse({"--config", path.c_str(), "2", "x.sql"});
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().where, path + ":2");
}

// Help and version are texts to print, whatever else is missing.
TEST(OptionsTest, HelpAndVersionNeedNoArguments) {
    const auto help = parse({"--help"});
    ASSERT_TRUE(help);
    EXPECT_THAT(help->print, testing::HasSubstr("--max-pending-per-client N"));
    const auto version = parse({"--version"});
    ASSERT_TRUE(version);
    EXPECT_THAT(version->print, testing::StartsWith("shortq "));
}

// Sizes in every notation that the manual shows, and their bytes.
TEST(OptionsTest, SizesAreReadInUnitsOf1024) {
    EXPECT_EQ(parse_size("4096").value(), 4096U);
    EXPECT_EQ(parse_size("256M").value(), std::uint64_t{256} << 20);
    EXPECT_EQ(parse_size("1.5k").value(), 1536U);
    EXPECT_EQ(parse_size("2GiB").value(), std::uint64_t{2} << 30);
    EXPECT_FALSE(parse_size(""));
    EXPECT_FALSE(parse_size("-1"));
    EXPECT_FALSE(parse_size("1MM"));
}

}  // namespace
}  // namespace shortq::primary
