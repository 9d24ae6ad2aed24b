// Goal: SQL is cut into the tokens that colours, completion and statements need. Method: examples,
// written as the tokens' kinds and texts.
#include "tools/cli/lexer.h"

#include <gmock/gmock.h>

#include <string>

namespace shortq::cli {
namespace {

std::string tokens(std::string_view text) {
    std::string out;
    std::size_t end = 0;
    for (const auto& token : tokenize(text)) {
        EXPECT_EQ(token.begin, end) << "a gap";
        end = token.end;
        if (token.kind == TokenKind::kSpace) continue;
        out += "_cwqsn;o"[static_cast<int>(token.kind)];
        out += '(' + std::string(token.in(text)) + (token.closed ? ")" : "...");
    }
    EXPECT_EQ(end, text.size());
    return out;
}

TEST(LexerTest, WordsNumbersAndOperators) {
    EXPECT_EQ(tokens("select a1, $x+1.5e-3 from \"t\""),
              "w(select)w(a1)o(,)o($)w(x)o(+)n(1.5e-3)w(from)q(\"t\")");
    EXPECT_EQ(tokens("1_000 .5 1-1 a.b größe"), "n(1_000)n(.5)n(1)o(-)n(1)w(a)o(.)w(b)w(größe)");
    EXPECT_EQ(tokens("$1 a$b"), "o($1)w(a$b)");
    EXPECT_EQ(tokens("$12x$$;$3$$;$$"), "o($12)w(x$$);(;)o($3)s($$;$$)");
}

// As DuckDB reads them: a dollar belongs to a word, but begins a string behind a number.
TEST(LexerTest, NumbersEndWhereTheEngineEndsThem) {
    EXPECT_EQ(tokens("0xff 2E+1_0x"), "n(0)w(xff)n(2E+1_0)w(x)");
    EXPECT_EQ(tokens("0x1$$;1__0"), "n(0)w(x1$$);(;)n(1)w(__0)");
    EXPECT_EQ(tokens("1e5$$;$$"), "n(1e5)s($$;$$)");
}

TEST(LexerTest, StringsOfEveryKind) {
    EXPECT_EQ(tokens("'a''b' e'\\'' $$x;$$ $t$ $$ $t$"),
              "s('a')s('b')s(e'\\'')s($$x;$$)s($t$ $$ $t$)");
    EXPECT_EQ(tokens("like'x'"), "w(like)s('x')");
}

TEST(LexerTest, WhatIsOpenAtTheEndSaysSo) {
    EXPECT_EQ(tokens("'open; x"), "s('open; x...");
    EXPECT_EQ(tokens("\"open"), "q(\"open...");
    EXPECT_EQ(tokens("a /* b /* c */ d"), "w(a)c(/* b /* c */ d...");
    EXPECT_EQ(tokens("$t$ x"), "s($t$ x...");
    EXPECT_EQ(tokens("e'\\"), "s(e'\\...");
}

TEST(LexerTest, CommentsEndWhereTheyShould) {
    EXPECT_EQ(tokens("1 --x;\n;"), "n(1)c(--x;);(;)");
    EXPECT_EQ(tokens("1 --x;\r;"), "n(1)c(--x;);(;)");
    EXPECT_EQ(tokens("/* a /* b */ c */ d"), "c(/* a /* b */ c */)w(d)");
    EXPECT_EQ(tokens("5 - -1"), "n(5)o(-)o(-)n(1)");
}

}  // namespace
}  // namespace shortq::cli
