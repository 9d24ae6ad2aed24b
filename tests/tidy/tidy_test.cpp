// Goal: the house rules hold in every file of the project, and the check can fail. Method: reads
// all sources under the project's folder; then gives each rule one seeded bad text, and a good one.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/tidy/rules.h"

namespace shortq::tidy {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::array<std::string_view, 6> kFolders{"proto",   "client", "worker",
                                                   "primary", "tools",  "tests"};

std::string read(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<fs::path> project_files() {
    const fs::path root = SHORTQ_SOURCE_DIR;
    std::vector<fs::path> files{root / "CMakeLists.txt"};
    for (const auto& folder : kFolders) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.is_regular_file()) files.push_back(entry.path());
        }
    }
    return files;
}

TEST(TidyTest, EveryFileKeepsTheRules) {
    std::vector<std::string> findings;
    const auto files = project_files();
    for (const auto& file : files) {
        const auto path = fs::relative(file, SHORTQ_SOURCE_DIR).generic_string();
        for (auto& finding : check_file(path, read(file))) findings.push_back(std::move(finding));
    }
    EXPECT_THAT(findings, IsEmpty());
    EXPECT_GT(files.size(), 30U) << "the walk did not see the project";
}

// A text that breaks exactly one rule, and words of the finding it must cause.
struct Seed {
    const char* name;
    const char* path;
    const char* line;
    const char* finding;
};
void PrintTo(const Seed& seed, std::ostream* out) { *out << seed.name; }

class TidySeedTest : public testing::TestWithParam<Seed> {};

std::string with_line(const Seed& seed, std::string_view line) {
    const std::string_view path = seed.path;
    if (path.ends_with(".txt")) return fmt::format("{}\n", line);
    const auto* guard = path.ends_with(".h") ? "#pragma once\n" : "\n";
    return fmt::format("// {}: a text that a test made.\n{}{}\n", path, guard, line);
}

TEST_P(TidySeedTest, TheBadLineIsFoundAndNothingElse) {
    const Seed& seed = GetParam();
    EXPECT_THAT(check_file(seed.path, with_line(seed, seed.line)),
                ElementsAre(HasSubstr(seed.finding)));
    EXPECT_THAT(check_file(seed.path, with_line(seed, "")), IsEmpty());
}

constexpr const char* kUp = "is not on a floor below";
constexpr const char* kFolder = "does not belong in this folder";
constexpr const char* kShows = "must not show in this header";

INSTANTIATE_TEST_SUITE_P(
    Rules, TidySeedTest,
    testing::Values(
        Seed{"ProtoSeesClient", "proto/a.cpp", "#include \"shortq/client.h\"", kUp},
        Seed{"ProtoSeesCore", "proto/a.h", "#include \"primary/core/types.h\"", kUp},
        Seed{"EngineSeesWorker", "worker/engine/a.cpp", "#include \"worker/loop.h\"", kUp},
        Seed{"WorkerSeesPrimary", "worker/a.cpp", "#include \"primary/wire.h\"", kUp},
        Seed{"CoreSeesPrimary", "primary/core/a.h", "#include \"primary/wire.h\"", kUp},
        Seed{"CoreSeesEngine", "primary/core/a.h", "#include \"worker/engine/engine.h\"", kUp},
        Seed{"PrimarySeesWorker", "primary/a.cpp", "#include \"worker/loop.h\"", kUp},
        Seed{"PrimarySeesTools", "primary/a.cpp", "  #  include \"tools/a.h\"", kUp},
        Seed{"ToolsSeePrimary", "tools/cli/a.cpp", "#include \"primary/wire.h\"", kUp},
        Seed{"ToolsSeeTests", "tools/cli/a.cpp", "#include \"tests/tidy/rules.h\"", kUp},
        Seed{"NextDoor", "worker/a.cpp", "#include \"b.h\"", "from the project's folder"},
        Seed{"DuckdbInWorker", "worker/a.cpp", "#include <duckdb.h>", kFolder},
        Seed{"DuckdbInPrimary", "primary/a.cpp", "#include <duckdb.h>", kFolder},
        Seed{"DuckdbInEngineInterface", "worker/engine/engine.h", "#include <duckdb.h>", kShows},
        Seed{"DuckdbInTools", "tools/a.h", "#include <duckdb.h>", kFolder},
        Seed{"ZmqInProto", "proto/a.cpp", "#include <zmq.hpp>", kFolder},
        Seed{"ZmqInCore", "primary/core/a.cpp", "#include <zmq.h>", kFolder},
        Seed{"ZmqInEngine", "worker/engine/a.cpp", "#include <zmq.hpp>", kFolder},
        Seed{"ZmqInPublicHeader", "client/include/shortq/a.h", "#include <zmq.hpp>", kShows},
        Seed{"MsgpackInPrimary", "primary/a.cpp", "#include <msgpack.hpp>", kFolder},
        Seed{"MsgpackInProtoHeader", "proto/a.h", "#include <msgpack/v3/pack.hpp>", kShows},
        Seed{"BoostInWorker", "worker/a.cpp", "#include <boost/process.hpp>", kFolder},
        Seed{"BoostInPrimaryHeader", "primary/a.h", "#include <boost/process/child.hpp>", kShows},
        Seed{"LogInProto", "proto/a.cpp", "#include <spdlog/spdlog.h>", kFolder},
        Seed{"ThreadInCore", "primary/core/a.cpp", "#include <thread>", "does no IO"},
        Seed{"ClockInCore", "primary/core/a.cpp", "auto t = std::chrono::steady_clock::now();",
             "never asks for it"},
        Seed{"UsingNamespace", "worker/a.h", "using namespace std;", "using namespace"},
        Seed{"Glob", "worker/CMakeLists.txt", "file(GLOB sources *.cpp)", "never globbed"},
        Seed{"GlobRecurse", "CMakeLists.txt", "  FILE( glob_recurse s *.cpp)", "never globbed"}),
    [](const auto& seed) { return seed.param.name; });

TEST(TidyTest, AFileWithoutAPurposeIsFound) {
    EXPECT_THAT(check_file("worker/a.cpp", "#include <string>\n"),
                ElementsAre(HasSubstr("what the file is for")));
    EXPECT_THAT(check_file("worker/a.cpp", ""), ElementsAre(HasSubstr("what the file is for")));
    EXPECT_THAT(check_file("worker/a.cpp", "// a.cpp\n"),
                ElementsAre(HasSubstr("what the file is for")));
}

TEST(TidyTest, ASourceMayLeaveItsPurposeToItsHeader) {
    EXPECT_THAT(check_file("client/a.cpp", "#include \"client/a.h\"\n"), IsEmpty());
    EXPECT_THAT(check_file("client/client.cpp", "#include \"shortq/client.h\"\n"), IsEmpty());
    EXPECT_THAT(check_file("client/a.cpp", "#include \"client/b.h\"\n"),
                ElementsAre(HasSubstr("what the file is for")));
}

TEST(TidyTest, AHeaderWithoutAGuardIsFound) {
    EXPECT_THAT(check_file("worker/a.h", "// worker/a.h: has no guard at all.\n"),
                ElementsAre(HasSubstr("#pragma once")));
}

TEST(TidyTest, FindingsNameTheLine) {
    EXPECT_THAT(check_file("worker/a.cpp", "// worker/a.cpp: for a test.\n\n#include \"b.h\"\n"),
                ElementsAre(HasSubstr("worker/a.cpp:3: ")));
}

TEST(TidyTest, WhatTheHouseAllowsPasses) {
    constexpr std::string_view kGood =
        "// primary/a.cpp: for a test.\n"
        "#include <boost/process.hpp>\n#include <zmq.hpp>\n#include <thread>\n"
        "#include \"primary/core/types.h\"\n#include \"worker/engine/engine.h\"\n"
        "using namespace std::chrono_literals;\n";
    EXPECT_THAT(check_file("primary/a.cpp", kGood), IsEmpty());
}

}  // namespace
}  // namespace shortq::tidy
