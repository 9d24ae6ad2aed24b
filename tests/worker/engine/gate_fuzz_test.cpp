// tests/worker/engine/gate_fuzz_test.cpp: odd spellings do not hide a call from the gate.
#include <gmock/gmock.h>

#include <array>
#include <random>

#include "tests/worker/engine/fixture.h"

namespace shortq::engine::testing {
namespace {

// Makes queries that call setseed() amid quotes, comments and spaces that need not end.
class Spellings {
public:
    std::string next() {
        const std::string call = std::string(pick(kNames)) + noise(1) + "(0.123)";
        switch (rng_() % 5) {
            case 0:
                return "select " + noise(4) + ", " + call + noise(3);
            case 1:
                return "select '" + noise(3) + "', " + call + noise(2) + "'";
            case 2:
                return "select E'" + noise(3) + "', " + call + " --" + noise(2);
            case 3:
                return "select $" + noise(1) + "$" + noise(3) + "$" + noise(1) + "$, " + call;
            default:
                return "select 1 as \"" + noise(3) + "\", " + call + " /*" + noise(2) + "*/";
        }
    }

private:
    template <std::size_t N>
    std::string_view pick(const std::array<std::string_view, N>& from) {
        return from[rng_() % N];
    }
    std::string noise(std::size_t most) {
        std::string out;
        for (auto left = rng_() % (most + 1); left > 0; --left) out += pick(kFragments);
        return out;
    }

    static constexpr std::array<std::string_view, 4> kNames{"setseed", "SetSeed", "\"setseed\"",
                                                            "main.setseed"};
    static constexpr std::array<std::string_view, 44> kFragments{"'",
                                                                 "''",
                                                                 "\"",
                                                                 "\"\"",
                                                                 "E'",
                                                                 "x'",
                                                                 "U&'",
                                                                 "U&\"",
                                                                 "$$",
                                                                 "$$",
                                                                 "$$",
                                                                 "$",
                                                                 "$a$",
                                                                 "$1",
                                                                 "?",
                                                                 "--",
                                                                 "--\n",
                                                                 "--\r",
                                                                 "/*",
                                                                 "*/",
                                                                 "\n",
                                                                 "\v",
                                                                 "\\",
                                                                 "\\'",
                                                                 "1",
                                                                 "1_0",
                                                                 "x",
                                                                 "\xC3\xA9",
                                                                 "\xC2\xA0",
                                                                 "\xE3\x80\x80",
                                                                 " ",
                                                                 ",",
                                                                 "'a'",
                                                                 "||",
                                                                 " as ",
                                                                 ".",
                                                                 ":",
                                                                 "\xE2\x80\x8B",
                                                                 "\xEF\xBB\xBF",
                                                                 "(",
                                                                 ")",
                                                                 ";",
                                                                 "{",
                                                                 "1 as "};

    std::mt19937 rng_{1};  // The same texts in each run.
};

// No spelling reaches setseed(). Method: after each text, random() must not give what it gives
// right after the call; a script that makes the call shows what that is. Some texts must be
// answered, or nothing has been tried.
TEST(GateFuzzTest, NoSpellingHidesACall) {
    const TempFolder folder;
    const auto seeded = start(folder.write("seeded.sql", "select setseed(0.123);"));
    const std::string caught = ask(*seeded, "select random()");
    const auto engine = start("");
    Spellings spellings;
    int answered = 0;
    for (int i = 0; i < 20000; ++i) {
        const std::string text = spellings.next();
        Collector collector;
        const auto done = engine->run({text, {}}, collector);
        if (!done && done.error().code == ErrorCode::kReadOnly) continue;
        answered += done ? 1 : 0;
        ASSERT_NE(ask(*engine, "select random()"), caught) << text;
        ASSERT_FALSE(engine->sick()) << text;
    }
    EXPECT_GT(answered, 50);
}

}  // namespace
}  // namespace shortq::engine::testing
