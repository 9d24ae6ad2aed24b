// tests/primary/fingerprint_test.cpp: which queries count as alike.
#include "primary/fingerprint.h"

#include <gtest/gtest.h>

#include <string>

namespace shortq::primary {
namespace {

// Goal: literals do not count. Method: pairs that differ in them alone.
TEST(FingerprintTest, LiteralsDoNotCount) {
    const auto same = [](std::string_view a, std::string_view b) {
        EXPECT_EQ(fingerprint_of(a), fingerprint_of(b)) << a << " and " << b;
    };
    same("select 1", "select 23456");
    same("select 1.5e-3", "select 7e-10");
    same("where sym = 'A'", "where sym = 'it''s long'");
    same("where sym = ''", "where sym = 'x'");
    same("select  *\n from t", "select * from t");
    same("sleep 1", "sleep 1000");
    same("select 0x1F, 1_000", "select 7, 2");
    same("select 'open", "select '");
}

// Goal: everything else does. Method: pairs that run differently.
TEST(FingerprintTest, AllElseCounts) {
    const auto differ = [](std::string_view a, std::string_view b) {
        EXPECT_NE(fingerprint_of(a), fingerprint_of(b)) << a << " and " << b;
    };
    differ("select a from t1", "select a from t2");
    differ("select \"1\" from t", "select \"2\" from t");
    differ("select \"it's 1\"", "select \"it's 2\"");
    differ("select \"a\"\"1\"", "select \"a\"\"2\"");
    differ("select 1", "select 1, 2");
    differ("select 'a'", "select a");
    differ("select x", "select X");
    differ("", " ");
    differ("a'b'", "a'b'c");
    EXPECT_NE(fingerprint_of(""), 0U);
}

// Goal: long texts cost little and are told apart by their length. Method: 16 MB.
TEST(FingerprintTest, LongTextsAreToldApartByTheirLength) {
    const std::string long_text(16'000'000, 'x');
    EXPECT_NE(fingerprint_of(long_text), fingerprint_of(long_text + "y"));
    EXPECT_EQ(fingerprint_of(long_text), fingerprint_of(std::string(16'000'000, 'x')));
}

}  // namespace
}  // namespace shortq::primary
