// tests/worker/engine/judged_functions_test.cpp: every function that the library knows was judged.
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "tests/worker/engine/fixture.h"
#include "worker/engine/statement_gate.h"

namespace shortq::engine::testing {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;

struct Names {
    std::set<std::string> functions;
    std::set<std::string> pragmas;
};

Names library_names() {
    Names names;
    const auto engine = start("");
    Collector collector;
    EXPECT_TRUE(engine->run(
        {"select distinct function_name, function_type = 'pragma' from duckdb_functions()", {}},
        collector));
    const Table table = collector.table();
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
        auto& where = table.text(row, 1) == "true" ? names.pragmas : names.functions;
        where.insert(table.text(row, 0));
    }
    return names;
}

Names stored_names() {
    Names names;
    std::ifstream file(JUDGED_FUNCTIONS_FILE);
    for (std::string kind, name; file >> std::ws;) {
        if (file.peek() == '#') {
            std::getline(file, kind);
        } else if (file >> kind >> name) {
            (kind == "refused-pragma" ? names.pragmas : names.functions).insert(name);
        }
    }
    return names;
}

void remove(std::set<std::string>& from, const auto& names) {
    for (const auto& name : names) from.erase(std::string(name));
}

// No name of the library is unknown to us. Method: take what the gate refuses or allows and what
// the stored list calls harmless out of duckdb_functions(); nothing may be left.
TEST(JudgedFunctionsTest, EveryNameOfTheLibraryIsJudged) {
    Names unjudged = library_names();
    EXPECT_GT(unjudged.functions.size(), 500U);
    const Names stored = stored_names();
    remove(unjudged.functions, refused_functions());
    remove(unjudged.functions, stateful_functions());
    remove(unjudged.functions, stored.functions);
    remove(unjudged.pragmas, reading_pragmas());
    remove(unjudged.pragmas, stored.pragmas);
    EXPECT_THAT(unjudged.functions, IsEmpty());
    EXPECT_THAT(unjudged.pragmas, IsEmpty());
}

// The lists name what exists, so that a renamed function cannot slip out of them. Method: each
// listed name is looked up in the library.
TEST(JudgedFunctionsTest, EveryJudgedNameExists) {
    const Names names = library_names();
    for (const auto name : refused_functions()) {
        EXPECT_THAT(names.functions, Contains(std::string(name)));
    }
    for (const auto name : stateful_functions()) {
        EXPECT_THAT(names.functions, Contains(std::string(name)));
    }
    for (const auto name : reading_pragmas()) {
        EXPECT_THAT(names.pragmas, Contains(std::string(name)));
    }
}

// The gate looks names up by bisection. Method: the lists are sorted.
TEST(JudgedFunctionsTest, ListsAreSorted) {
    EXPECT_TRUE(std::ranges::is_sorted(refused_functions()));
    EXPECT_TRUE(std::ranges::is_sorted(stateful_functions()));
    EXPECT_TRUE(std::ranges::is_sorted(reading_pragmas()));
}

// No name is judged both ways. Method: the stored list against the gate's.
TEST(JudgedFunctionsTest, NoNameIsBothHarmlessAndRefused) {
    const Names stored = stored_names();
    for (const auto name : refused_functions()) {
        EXPECT_FALSE(stored.functions.contains(std::string(name))) << name;
    }
    for (const auto name : reading_pragmas()) {
        EXPECT_FALSE(stored.pragmas.contains(std::string(name))) << name;
    }
}

}  // namespace
}  // namespace shortq::engine::testing
