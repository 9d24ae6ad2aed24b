// tests/worker/engine/sql_lexer_test.cpp: tokens, statements and lines, and texts made to mislead.
#include "worker/engine/sql_lexer.h"

#include <gmock/gmock.h>

namespace shortq::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(std::string_view sql) {
    std::vector<std::string> out;
    for (const Statement& statement : split_statements(sql)) out.emplace_back(statement.text);
    return out;
}

// The tokens of a text that is one statement.
std::vector<std::string> tokens(std::string_view sql) {
    std::vector<std::string> out;
    const auto statements = split_statements(sql);
    EXPECT_EQ(statements.size(), 1U) << sql;
    for (const Token& token : statements.at(0).tokens) out.emplace_back(token.text());
    return out;
}

// Only semicolons outside quotes and comments divide. Method: one of each around a semicolon.
TEST(SqlLexerTest, OnlyTopLevelSemicolonsDivide) {
    EXPECT_THAT(texts("select 1; select 2"), ElementsAre("select 1", "select 2"));
    EXPECT_THAT(texts("select ';'"), ElementsAre("select ';'"));
    EXPECT_THAT(texts("select 'it''s;'; x"), ElementsAre("select 'it''s;'", "x"));
    EXPECT_THAT(texts("select \"a;\"\";b\""), ElementsAre("select \"a;\"\";b\""));
    EXPECT_THAT(texts("select $$a;b$$; x"), ElementsAre("select $$a;b$$", "x"));
    EXPECT_THAT(texts("select $t$a;$$;b$t$; x"), ElementsAre("select $t$a;$$;b$t$", "x"));
    EXPECT_THAT(texts("a -- ; b\n; c"), ElementsAre("a", "c"));
    EXPECT_THAT(texts("a /* ; /* ; */ ; */ b; c"), ElementsAre("a /* ; /* ; */ ; */ b", "c"));
}

// Texts without a token are no statement. Method: blanks, comments and semicolons only.
TEST(SqlLexerTest, BlankTextHasNoStatement) {
    for (const char* sql :
         {"", "  \n\t", ";", " ; ;; ", "-- only this", "/* a */ ; -- b", "\xC2\xA0"}) {
        EXPECT_THAT(texts(sql), IsEmpty()) << sql;
    }
}

// Each statement knows the line of its first token. Method: comments and blank lines before it.
TEST(SqlLexerTest, StatementsKnowTheirLine) {
    const auto statements = split_statements("-- one\n\nselect\n 1;\n/* five\n six */ select 2; x");
    ASSERT_EQ(statements.size(), 3U);
    EXPECT_EQ(statements[0].line, 3U);
    EXPECT_EQ(statements[1].line, 6U);
    EXPECT_EQ(statements[2].line, 6U);
}

// A backslash escapes in E'..' only. Method: the same text with and without the prefix; with a
// wrong rule the name after it would hide in the string.
TEST(SqlLexerTest, BackslashesEscapeOnlyInEscapeStrings) {
    EXPECT_THAT(tokens(R"(select '\' , f())"), ElementsAre("select", R"('\')", ",", "f", "(", ")"));
    EXPECT_THAT(tokens(R"(select E'\' , f()')"), ElementsAre("select", R"(E'\' , f()')"));
    EXPECT_THAT(tokens(R"(select fooE'\' , f())"),
                ElementsAre("select", "fooE", R"('\')", ",", "f", "(", ")"));
}

// A dollar quote needs its tag in full; `$1` and `$name` are parameters, and a dollar inside a name
// starts nothing. Method: each next to what it could be taken for.
TEST(SqlLexerTest, DollarsQuoteOnlyWithATag) {
    EXPECT_THAT(tokens("select $1, $name"), ElementsAre("select", "$1", ",", "$name"));
    EXPECT_THAT(tokens("a$b$ f() $b$"), ElementsAre("a$b$", "f", "(", ")", "$b$"));
    EXPECT_THAT(tokens("$x1$ f() $x1$"), ElementsAre("$x1$ f() $x1$"));
    EXPECT_THAT(tokens("$1$ f() $1$"), ElementsAre("$1", "$", "f", "(", ")", "$1", "$"));
}

// A comment divides words as a blank does, and Unicode spaces are blanks, as for DuckDB. Method: a
// name and its parenthesis with something invisible between.
TEST(SqlLexerTest, CommentsAndUnicodeSpacesEndAWord) {
    for (const char* sql :
         {"f()", "f ()", "f/**/()", "f--\n()", "f\xC2\xA0()", "f\xE2\x80\x83()", "f\xE3\x80\x80()",
          "\xEF\xBB\xBF"
          "f()"}) {
        EXPECT_THAT(tokens(sql), ElementsAre("f", "(", ")")) << sql;
    }
}

// A number takes no letters with it. Method: a name glued to one.
TEST(SqlLexerTest, NamesDoNotHideInNumbers) {
    EXPECT_THAT(tokens("1f()"), ElementsAre("1", "f", "(", ")"));
    EXPECT_THAT(tokens("0x1f$$a"), ElementsAre("0", "x1f$$a"));
    EXPECT_THAT(tokens("1_000.5e"), ElementsAre("1_000.5", "e"));
}

// An exponent is part of its number, so that a dollar behind it begins a string, as for DuckDB.
TEST(SqlLexerTest, ExponentsAreNoWords) {
    EXPECT_THAT(tokens("1_000.5e3 1E-5,"), ElementsAre("1_000.5e3", "1E-5", ","));
    EXPECT_THAT(tokens("1e5$$ f() $$"), ElementsAre("1e5", "$$ f() $$"));
}

// What is never closed reaches to the end and is not lost. Method: every kind of quote.
TEST(SqlLexerTest, UnterminatedQuotesReachToTheEnd) {
    for (const char* sql : {"select 'a; b", "select \"a; b", "select $q$a; b", "select E'a\\"}) {
        EXPECT_THAT(texts(sql), ElementsAre(sql));
    }
    EXPECT_THAT(texts("select 1 /* a; b"), ElementsAre("select 1"));
}

// Cutting a text anywhere neither crashes nor reads outside it. Method: every prefix and suffix of
// a text with every construct; tokens must lie inside it.
TEST(SqlLexerTest, EveryPieceOfATextIsLegal) {
    const std::string sql =
        "select E'\\'', $t$x$t$, \"q\"\"q\", 1.5e3 /* /* */ */ -- c\n, $1, ?2, \xE2\x80\x83 a$b;x";
    for (std::size_t begin = 0; begin < sql.size(); ++begin) {
        for (std::size_t length = 0; begin + length <= sql.size(); ++length) {
            const std::string piece = sql.substr(begin, length);
            for (const Statement& statement : split_statements(piece)) {
                ASSERT_FALSE(statement.tokens.empty());
                for (const Token& token : statement.tokens) {
                    ASSERT_GT(token.length, 0U);
                    ASSERT_GE(token.begin, piece.data());
                    ASSERT_LE(token.begin + token.length, piece.data() + piece.size());
                }
            }
        }
    }
}

// Quoting undoes itself. Method: names and texts that hold the quote.
TEST(SqlLexerTest, QuotedNamesReadBackAsThemselves) {
    const std::string quoted = quote_identifier("a\"b; c");
    EXPECT_EQ(quoted, "\"a\"\"b; c\"");
    const auto statements = split_statements(quoted);
    ASSERT_EQ(statements.size(), 1U);
    EXPECT_EQ(word_of(statements[0].tokens[0]), "a\"b; c");
    EXPECT_EQ(quote_literal("it's"), "'it''s'");
}

// Unicode spaces between tokens become plain ones, those in texts, names and dollar quotes stay.
// Method: each place; texts without any give nothing.
TEST(SqlLexerTest, WideSpacesBetweenTokensBecomePlain) {
    EXPECT_EQ(with_plain_spaces("select\xC2\xA0"
                                "1,\xE3\x80\x80\xEF\xBB\xBF"
                                "2"),
              "select 1,  2");
    EXPECT_EQ(with_plain_spaces("x\xE2\x80\x83 '\xC2\xA0' \"\xC2\xA0\" $$\xC2\xA0$$"),
              "x  '\xC2\xA0' \"\xC2\xA0\" $$\xC2\xA0$$");
    EXPECT_EQ(with_plain_spaces("$$$$\xC2\xA0$$ $\xC2\xA0$"), "$$$$ $$ $\xC2\xA0$");
    EXPECT_EQ(with_plain_spaces("$\xC2\xA0$ 1"), "$ $ 1");
    for (const char* text :
         {"", "select 1", "select '\xC2\xA0'", "select \xC3\xA9", "\xC2", "\xFF"}) {
        EXPECT_EQ(with_plain_spaces(text), std::nullopt) << text;
    }
}

}  // namespace
}  // namespace shortq::engine
