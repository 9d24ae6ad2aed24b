// Goal: ticks are the same every time and hold what demo and tests rely on. Method: runs the script
// twice through the engine into two folders, compares the files, and queries one of them.
#include "tools/ticks/script.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "worker/engine/engine.h"

namespace shortq::ticks {
namespace {

namespace fs = std::filesystem;
using testing::SizeIs;

class TickScriptTest : public testing::Test {
protected:
    void SetUp() override {
        std::string name = (fs::temp_directory_path() / "shortq-ticks-test.XXXXXX").string();
        ASSERT_NE(::mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { fs::remove_all(folder_); }

    // Loads `text` as a startup script: a script fails as a whole if one of its statements does.
    [[nodiscard]] Result<void> run(const std::string& text) const {
        const fs::path script = folder_ / "script.sql";
        std::ofstream(script) << text;
        auto engine = engine::make_engine("duckdb", {});
        if (!engine) return tl::unexpected(engine.error());
        return (*engine)->load(script);
    }

    [[nodiscard]] fs::path make(const std::string& name, const TickOptions& options) const {
        const fs::path target = folder_ / name;
        fs::create_directories(target);
        const auto done = run(tick_script(options, target));
        EXPECT_TRUE(done) << done.error().message;
        return target;
    }

    // Fails unless `condition` holds for the ticks in `ticks`.
    void expect_true(const fs::path& ticks, const std::string& condition) const {
        const auto done =
            run(fmt::format("CREATE VIEW trade AS FROM read_parquet('{0}/trade/*/*.parquet');\n"
                            "CREATE VIEW quote AS FROM read_parquet('{0}/quote/*/*.parquet');\n"
                            "SELECT CASE WHEN {1} THEN 1 ELSE error('does not hold') END;",
                            ticks.string(), condition));
        EXPECT_TRUE(done) << condition << ": " << done.error().message;
    }

    fs::path folder_;
};

std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_regular_file()) continue;
        std::ifstream stream(entry.path(), std::ios::binary);
        files[fs::relative(entry.path(), folder).string()] = {
            std::istreambuf_iterator<char>(stream), {}};
    }
    return files;
}

constexpr std::uint64_t kTrades = 600;

TickOptions small() {
    TickOptions options;
    options.days = 2;
    options.trades_per_day = kTrades;
    return options;
}

TEST_F(TickScriptTest, TheSameOptionsGiveTheSameBytes) {
    const auto first = contents(make("first", small()));
    EXPECT_THAT(first, SizeIs(4));  // Two tables, two days.
    EXPECT_EQ(first, contents(make("second", small())));
}

TEST_F(TickScriptTest, AnotherNumberOfRowsGivesOtherBytes) {
    auto options = small();
    options.trades_per_day += 1;
    EXPECT_NE(contents(make("first", small())), contents(make("second", options)));
}

TEST_F(TickScriptTest, RowsAreAsManyAsAskedFor) {
    const auto ticks = make("ticks", small());
    expect_true(ticks, "(SELECT count(*) FROM trade) = 1200");
    expect_true(ticks, "(SELECT count(*) FROM quote) = 6000");
    expect_true(ticks, "(SELECT count(*) FROM trade WHERE date = '2024-01-09') = 600");
}

TEST_F(TickScriptTest, ADozenTradesAreBlocks) {
    expect_true(make("ticks", small()), "(SELECT count(*) FROM trade WHERE size > 50000) = 12");
    auto options = small();
    options.trades_per_day = 3000;
    expect_true(make("more", options), "(SELECT count(*) FROM trade WHERE size > 50000) = 12");
}

TEST_F(TickScriptTest, ValuesMakeSense) {
    const auto ticks = make("ticks", small());
    expect_true(ticks, "(SELECT bool_and(bid < ask AND bid > 0 AND bsize > 0) FROM quote)");
    expect_true(ticks, "(SELECT bool_and(time::DATE = date) FROM trade)");
    expect_true(ticks,
                "(SELECT bool_and(price > 0 AND size > 0 AND sym IS NOT NULL"
                " AND exchange IS NOT NULL) FROM trade)");
    expect_true(ticks, "(SELECT count(DISTINCT sym) FROM trade) = 10");
}

TEST_F(TickScriptTest, AFailingStatementFailsTheScript) {
    const auto ticks = make("ticks", small());
    EXPECT_FALSE(run(fmt::format("SELECT error('x') FROM read_parquet('{}/trade/*/*.parquet');",
                                 ticks.string())));
}

TEST_F(TickScriptTest, AFolderNameWithAQuoteWorks) {
    EXPECT_THAT(contents(make("it's", small())), SizeIs(4));
}

}  // namespace
}  // namespace shortq::ticks
