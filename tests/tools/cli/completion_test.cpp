// Goal: what may be typed next is offered, and nothing else. Method: a hand-made catalogue; the
// cursor is where the | stands.
#include "tools/cli/completion.h"

#include <gmock/gmock.h>

#include "tests/tools/cli/catalogue.h"

namespace shortq::cli {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> at(std::string_view text, bool sync = false) {
    const auto cursor = text.find('|');
    const auto before = text.substr(0, cursor);
    const auto word = before.find_last_of(" (,;=");
    const auto begin = word == std::string_view::npos ? 0 : word + 1;
    return complete(a_catalogue(),
                    {before.substr(0, begin), before.substr(begin), text.substr(cursor + 1), sync});
}

TEST(CompletionTest, StatementsBeginWithKeywords) {
    EXPECT_THAT(at("se|"), ElementsAre("select", "set"));
    EXPECT_THAT(at("SE|"), ElementsAre("SELECT", "SET"));
    EXPECT_THAT(at("select 1; sel|"), ElementsAre("select"));
}

TEST(CompletionTest, TablesAndSchemasFollowFrom) {
    EXPECT_THAT(at("select * from |"), ElementsAre("\"Two Words\"", "quote", "ref.", "trade"));
    EXPECT_THAT(at("from TR|"), ElementsAre("trade"));
    EXPECT_THAT(at("select * from trade, q|"), ElementsAre("quote"));
    EXPECT_THAT(at("select * from trade t join |"), Contains("quote"));
    EXPECT_THAT(at("from ref.|"), ElementsAre("ref.airports"));
    EXPECT_THAT(at("describe tr|"), ElementsAre("trade"));
    EXPECT_THAT(at("from \"Tw|"), ElementsAre("\"Two Words\""));
}

TEST(CompletionTest, ColumnsAreThoseOfTheTablesMentioned) {
    EXPECT_THAT(at("select pr| from trade"), ElementsAre("price"));
    EXPECT_THAT(at("select bi| from trade"), IsEmpty());
    EXPECT_THAT(at("from trade where s|"),
                ElementsAre("select", "set", "shortq_like(", "show", "substring(", "sum(", "sym"));
    EXPECT_THAT(at("select ci| from ref.airports"), ElementsAre("city"));
    EXPECT_THAT(at("from trade where |"), Contains("\"Odd Name\""));
    EXPECT_THAT(at("from trade where |"), Not(Contains("sum(")));
}

// Most people write what they want before where it is from.
TEST(CompletionTest, BeforeFromEveryColumnIsOffered) {
    EXPECT_THAT(at("select pr|"), ElementsAre("price"));
    EXPECT_THAT(at("select sum(bi|"), ElementsAre("bid"));
    EXPECT_THAT(at("select |"), Not(Contains("price")));
}

TEST(CompletionTest, AliasesLeadToTheirColumns) {
    EXPECT_THAT(at("select t.p| from trade t"), ElementsAre("t.price"));
    EXPECT_THAT(at("select q.| from trade as t, quote as q"), ElementsAre("q.bid", "q.sym"));
    EXPECT_THAT(at("select trade.pr| from trade"), ElementsAre("trade.price"));
    EXPECT_THAT(at("select a.i| from ref.airports a"), ElementsAre("a.iata"));
    EXPECT_THAT(at("select x.| from trade t"), IsEmpty());
}

TEST(CompletionTest, CallsAndSettingsHaveTheirPlaces) {
    EXPECT_THAT(at("call shortq_r|", true), ElementsAre("shortq_reload()"));
    EXPECT_THAT(at("call shortq_r|", false), IsEmpty());
    EXPECT_THAT(at("set t|"), ElementsAre("TimeZone", "threads"));
    EXPECT_THAT(at("set v|"), ElementsAre("variable"));
}

TEST(CompletionTest, CommandsTakeWhatTheyNeed) {
    EXPECT_THAT(at("\\f|"), ElementsAre("\\format"));
    EXPECT_THAT(at("\\format nd|"), ElementsAre("ndjson"));
    EXPECT_THAT(at("\\d ref|"), ElementsAre("ref.airports"));
    EXPECT_THAT(at("\\sync from tr|"), ElementsAre("trade"));
}

TEST(CompletionTest, NamesAreQuotedWhereSqlNeedsIt) {
    EXPECT_EQ(quoted_name("abc_1"), "abc_1");
    EXPECT_EQ(quoted_name("Abc"), "\"Abc\"");
    EXPECT_EQ(quoted_name("1a"), "\"1a\"");
    EXPECT_EQ(quoted_name("a\"b"), "\"a\"\"b\"");
    EXPECT_EQ(quoted_name(""), "\"\"");
}

}  // namespace
}  // namespace shortq::cli
