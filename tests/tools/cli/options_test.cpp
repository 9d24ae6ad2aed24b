// Goal: the command line means what interfaces say, and mistakes are named. Method: argument lists.
#include "tools/cli/options.h"

#include <gmock/gmock.h>

namespace shortq::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<CommandLine> parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "shortq-cli");
    return parse_options(static_cast<int>(arguments.size()), arguments.data());
}

TEST(CliOptionsTest, DefaultsAreThoseOfTheManual) {
    const auto options = parse({"select 1"}).value().options;
    EXPECT_THAT(options.connect.endpoints, ElementsAre("tcp://127.0.0.1:5001"));
    EXPECT_FALSE(options.connect.wait_until_ready);
    EXPECT_FALSE(options.sync);
    EXPECT_FALSE(options.format);
    EXPECT_EQ(options.query.timeout.count(), 0);
    EXPECT_EQ(options.query.priority, RequestPriority::kNormal);
    EXPECT_EQ(options.repeat, 1U);
    EXPECT_THAT(options.queries, ElementsAre("select 1"));
}

TEST(CliOptionsTest, WhereToConnect) {
    EXPECT_THAT(parse({"-H", "db", "-p", "7", "q"})->options.connect.endpoints,
                ElementsAre("tcp://db:7"));
    EXPECT_THAT(parse({"-H", "::1", "q"})->options.connect.endpoints,
                ElementsAre("tcp://[::1]:5001"));
    EXPECT_THAT(
        parse({"--connect", "tcp://a:1", "--connect", "tcp://b:2", "q"})->options.connect.endpoints,
        ElementsAre("tcp://a:1", "tcp://b:2"));
    EXPECT_FALSE(parse({"--connect", "tcp://a:1", "-p", "7", "q"}));
}

TEST(CliOptionsTest, EveryOptionArrives) {
    const auto options = parse({"--sync", "--timeout",  "1.5",      "--wait",
                                "30",     "--priority", "high",     "--min-generation",
                                "3",      "--repeat",   "10",       "--concurrency",
                                "4",      "--stats",    "--format", "ndjson",
                                "-f",     "x.sql",      "a",        "b"})
                             .value()
                             .options;
    EXPECT_TRUE(options.sync);
    EXPECT_EQ(options.query.timeout.count(), 1500);
    EXPECT_TRUE(options.connect.wait_until_ready);
    EXPECT_EQ(options.connect.connect_timeout.count(), 30000);
    EXPECT_EQ(options.query.priority, RequestPriority::kHigh);
    EXPECT_EQ(options.query.min_generation, 3U);
    EXPECT_EQ(options.repeat, 10U);
    EXPECT_EQ(options.concurrency, 4U);
    EXPECT_TRUE(options.stats);
    EXPECT_EQ(options.format, Format::kNdjson);
    EXPECT_EQ(options.file, "x.sql");
    EXPECT_THAT(options.queries, ElementsAre("a", "b"));
}

TEST(CliOptionsTest, MistakesAreNamed) {
    EXPECT_EQ(parse({"--frmat", "csv", "q"}).error().message,
              "--frmat: unknown option; did you mean --format?");
    EXPECT_EQ(parse({"--prio=high", "q"}).error().message,
              "--prio: unknown option; did you mean --priority?");
    EXPECT_EQ(parse({"--nonsense", "q"}).error().message, "--nonsense: unknown option");
    EXPECT_THAT(parse({"--format", "xml", "q"}).error().message, HasSubstr("xml"));
    EXPECT_THAT(parse({"--priority", "urgent", "q"}).error().message, HasSubstr("urgent"));
    EXPECT_EQ(parse({"-p", "70000", "q"}).error().message,
              "--port: expected a whole number from 1 to 65535, got '70000'");
    EXPECT_EQ(parse({"--timeout", "-1", "q"}).error().message,
              "--timeout: expected seconds such as 2 or 0.5, got '-1'");
    for (const auto* text : {"soon", "nan", "1s", ""}) {
        EXPECT_THAT(parse({"--timeout", text, "q"}).error().message,
                    HasSubstr("expected seconds such as 2 or 0.5, got '"));
    }
    EXPECT_EQ(parse({"--repeat", "0", "q"}).error().message,
              "--repeat: expected a whole number from 1 to 1000000000, got '0'");
    EXPECT_EQ(parse({"--min-generation", "x", "q"}).error().message,
              "--min-generation: expected a whole number from 0 to 4294967295, got 'x'");
    EXPECT_FALSE(parse({"--timeout"}));
}

TEST(CliOptionsTest, ProgressIsAutomaticUnlessToldOtherwise) {
    EXPECT_EQ(parse({"q"})->options.progress, Switch::kAuto);
    EXPECT_EQ(parse({"--progress", "on", "q"})->options.progress, Switch::kOn);
    EXPECT_EQ(parse({"--progress", "off", "q"})->options.progress, Switch::kOff);
    EXPECT_FALSE(parse({"--progress", "maybe", "q"}));
}

TEST(CliOptionsTest, HelpAndVersionOnlyPrint) {
    EXPECT_THAT(parse({"--help"})->print, HasSubstr("Usage: shortq-cli"));
    EXPECT_EQ(parse({"--version"})->print, "shortq-cli " + std::string(version()) + "\n");
}

TEST(CliOptionsTest, ParametersKeepTheirOrderAndTakeOneValueEach) {
    const auto options = parse({"--param", "-5", "--param", "x", "select ?, ?"}).value().options;
    EXPECT_THAT(options.parameters,
                ElementsAre(Parameter{"", std::int64_t{-5}}, Parameter{"", std::string("x")}));
    EXPECT_THAT(options.queries, ElementsAre("select ?, ?"));
}

TEST(CliOptionsTest, OnlyCanonicalNumbersAreNumbers) {
    EXPECT_EQ(parse_parameter("0"), Value(std::int64_t{0}));
    EXPECT_EQ(parse_parameter("-42"), Value(std::int64_t{-42}));
    EXPECT_EQ(parse_parameter("9223372036854775807"), Value(std::int64_t{INT64_MAX}));
    EXPECT_EQ(parse_parameter("1.5"), Value(1.5));
    EXPECT_EQ(parse_parameter("-0.25"), Value(-0.25));
    EXPECT_EQ(parse_parameter("1.5e3"), Value(1500.0));
    for (const auto* text : {"", "007", "-0", "+1", "1.", ".5", "1e5", "nan", "0x10", " 1", "1 ",
                             "9223372036854775808", "NULL", "2024-01-01", "1\n"}) {
        EXPECT_EQ(parse_parameter(text), Value(std::string(text))) << text;
    }
}

}  // namespace
}  // namespace shortq::cli
