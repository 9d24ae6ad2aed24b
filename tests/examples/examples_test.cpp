// Goal: the README's programs are the ones here, and do what it says. Method: its code blocks are
// compared with the files, and each program is run against a real server.
#include <set>
#include <sstream>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

struct Example {
    std::string name;
    std::string out;
};

std::string print_name(const ::testing::TestParamInfo<Example>& info) { return info.param.name; }

class ExamplesTest : public EndToEnd, public ::testing::WithParamInterface<Example> {
protected:
    static std::string source(const std::string& name) {
        return read_file(std::filesystem::path(EXAMPLES_SOURCE) / (name + ".cpp"));
    }
};

std::multiset<std::string> sorted_lines(const std::string& text) {
    std::istringstream in(text);
    std::multiset<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.insert(line);
    return lines;
}

TEST_P(ExamplesTest, StandsInTheReadme) {
    const auto block = "```cpp\n" + source(GetParam().name) + "```\n";
    EXPECT_THAT(read_file(README), HasSubstr(block)) << "README.md has another version";
}

TEST_P(ExamplesTest, DoesWhatItSays) {
    Server server(duckdb(2,
                         "create table trade as select 'S' || (i % 5) as sym, i / 4 as price, "
                         "i::bigint as size from range(50003) t(i);"));
    Program program(std::filesystem::path(EXAMPLES_PROGRAMS) / ("example_" + GetParam().name),
                    {server.endpoint()});
    const auto status = program.wait();
    ASSERT_TRUE(status);
    EXPECT_EQ(*status, (ExitStatus{.signalled = false, .value = 0})) << program.err();
    // In any order: what runs on two workers at once ends as it likes.
    EXPECT_EQ(sorted_lines(program.out()), sorted_lines(GetParam().out));
}

INSTANTIATE_TEST_SUITE_P(
    Readme, ExamplesTest,
    ::testing::Values(Example{"connect_and_query", "S1 12500.2\nS2 12500.5\n"},
                      Example{"deferred_sync", "count 50003\nmax 12500.5\nclients 1\n"},
                      Example{"many_in_flight", "total 1250125003\n"},
                      Example{"stream_a_large_result", "1000000 rows, sum 499999500000\n"},
                      Example{"cancel_and_deadline", "timeout\ncancelled\n"}),
    print_name);

}  // namespace
}  // namespace shortq::test
