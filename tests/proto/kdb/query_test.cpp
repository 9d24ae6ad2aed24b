// Goal: what clients send becomes SQL and parameters; anything else an error that helps. Method:
// one body per form and type, in both byte orders; every null; damage.
#include "proto/kdb/query.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;
using testing::HasSubstr;

// A query that does not point into bytes that are gone.
struct Read {
    std::string text;
    Parameters parameters;
    bool operator==(const Read&) const = default;
};

Read read(const Object& object) {
    Read little;
    for (const ByteOrder order : {ByteOrder::kBig, ByteOrder::kLittle}) {
        const Bytes body = test::body_of(object, order);
        const auto query = read_query(body, order);
        if (!query) return {"error: " + query.error().message, {}};
        if (!*query) return {"ignored", {}};
        const Read result{std::string((*query)->text), (*query)->parameters};
        if (order == ByteOrder::kLittle) {
            EXPECT_EQ(result, little) << "the orders differ";
        }
        little = result;
    }
    return little;
}

Object symbol(std::string text) {
    return atom_of(Type::kSymbol, std::vector<std::string>{std::move(text)});
}
template <class T>
Object atom(Type type, T value) {
    return atom_of(type, std::vector<T>{value});
}
Object whole(std::int64_t value) { return atom(Type::kLong, value); }

Object lambda() {
    return vector_of(Type::kLambda, std::vector<Object>{symbol(""), text_of("{x y}")});
}

// The only parameter of a query that has one.
shortq::Value parameter(const Object& object) {
    const Read query = read(list_of({text_of("select ?"), object}));
    EXPECT_EQ(query.parameters.size(), 1U) << query.text;
    return query.parameters.empty() ? shortq::Value{} : query.parameters[0].value;
}
std::string refusal(const Object& object) {
    return read(list_of({text_of("select ?"), whole(1), object})).text;
}

TEST(QueryTest, ATextIsAQuery) {
    EXPECT_EQ(read(text_of("select 1")), (Read{"select 1", {}}));
    EXPECT_EQ(read(text_of("")), (Read{"", {}}));
    EXPECT_EQ(read(atom_of(Type::kChar, std::string("x"))), (Read{"x", {}}));
    EXPECT_EQ(read(text_of("select 'j\xc3\xb6rg'")).text, "select 'j\xc3\xb6rg'");
}

TEST(QueryTest, WhiteSpaceWithoutParametersIsBlank) {
    const auto is_blank = [](const Object& object) {
        const Bytes body = test::body_of(object);
        return read_query(body, ByteOrder::kLittle).value()->is_blank();
    };
    EXPECT_TRUE(is_blank(text_of("")));
    EXPECT_TRUE(is_blank(text_of(" \t\r\n")));
    EXPECT_TRUE(is_blank(atom_of(Type::kChar, std::string(" "))));
    EXPECT_TRUE(is_blank(list_of({text_of("")})));
    EXPECT_TRUE(is_blank(list_of({symbol(""), list_of({})})));
    EXPECT_TRUE(is_blank(list_of({lambda(), text_of(".o.ex"), text_of("")})));
    EXPECT_FALSE(is_blank(list_of({text_of(""), whole(1)})));
    EXPECT_FALSE(is_blank(text_of(std::string_view("\0", 1))));
    EXPECT_FALSE(is_blank(text_of("-- nothing")));
    EXPECT_FALSE(is_blank(text_of(";")));
}

TEST(QueryTest, AListIsATextAndParameters) {
    const Parameters two{{"", std::int64_t{1}}, {"", std::string("a")}};
    for (const Object& text : {text_of("f"), atom_of(Type::kChar, std::string("f")), symbol("f")}) {
        EXPECT_EQ(read(list_of({text})), (Read{"f", {}}));
        EXPECT_EQ(read(list_of({text, whole(1), symbol("a")})), (Read{"f", two}));
        EXPECT_EQ(read(list_of({text, list_of({whole(1), symbol("a")})})), (Read{"f", two}));
        EXPECT_EQ(read(list_of({text, list_of({})})), (Read{"f", {}}));
    }
}

TEST(QueryTest, JdbcsWrappingIsTakenOff) {
    const Parameters one{{"", std::int64_t{1}}};
    const Object call = text_of(".o.ex");
    EXPECT_EQ(read(list_of({call, text_of("sql")})), (Read{"sql", {}}));
    EXPECT_EQ(read(list_of({call, text_of("sql"), whole(1)})), (Read{"sql", one}));
    EXPECT_EQ(read(list_of({lambda(), call, text_of("sql")})), (Read{"sql", {}}));
    EXPECT_EQ(read(list_of({lambda(), symbol(".o.ex"), text_of("sql"), whole(1)})),
              (Read{"sql", one}));
    EXPECT_EQ(read(list_of({text_of("{x y}"), call, text_of("sql")})), (Read{"sql", {}}));
    EXPECT_EQ(read(list_of({text_of("{x y}"), call, text_of("sql"), list_of({whole(1)})})),
              (Read{"sql", one}));
    // Alone, the name is a parameter like any other.
    EXPECT_EQ(read(list_of({text_of("select ?"), call})),
              (Read{"select ?", {{"", std::string(".o.ex")}}}));
}

TEST(QueryTest, AnErrorObjectIsIgnored) {
    EXPECT_EQ(read(vector_of(Type::kError, std::string("what"))).text, "ignored");
}

TEST(QueryTest, OtherObjectsAreErrorsThatNameTheType) {
    EXPECT_THAT(read(whole(1)).text, HasSubstr("type -7 (long) is not a query"));
    EXPECT_THAT(read(test::longs({1})).text, HasSubstr("type 7 (long vector)"));
    EXPECT_THAT(read(symbol("a")).text, HasSubstr("type -11 (symbol)"));
    EXPECT_THAT(read(Object{}).text, HasSubstr("type 101"));
    EXPECT_THAT(read(lambda()).text, HasSubstr("type 100 (function)"));
    EXPECT_THAT(read(list_of({whole(1)})).text, HasSubstr("begins with an item of kdb+ type -7"));
    EXPECT_THAT(read(list_of({lambda(), whole(1)})).text, HasSubstr("type 100 (function)"));
    EXPECT_THAT(read(list_of({lambda()})).text, HasSubstr("type 100 (function)"));
    EXPECT_THAT(read(list_of({text_of(".o.ex"), whole(1)})).text, HasSubstr("argument of .o.ex"));
    EXPECT_THAT(read(list_of({})).text, HasSubstr("an empty list of kdb+ type 0 (list) is not a"));
    EXPECT_THAT(read(text_of("\xff")).text, HasSubstr("not UTF-8"));
}

TEST(QueryTest, AtomsBecomeParameters) {
    EXPECT_EQ(parameter(atom(Type::kBoolean, std::uint8_t{1})), shortq::Value(true));
    EXPECT_EQ(parameter(atom(Type::kByte, std::uint8_t{200})), shortq::Value(std::int64_t{200}));
    EXPECT_EQ(parameter(atom(Type::kShort, std::int16_t{-2})), shortq::Value(std::int64_t{-2}));
    EXPECT_EQ(parameter(atom(Type::kInt, 3)), shortq::Value(std::int64_t{3}));
    EXPECT_EQ(parameter(whole(1LL << 60)), shortq::Value(std::int64_t{1} << 60));
    EXPECT_EQ(parameter(atom(Type::kReal, 1.5F)), shortq::Value(1.5));
    EXPECT_EQ(parameter(atom(Type::kFloat, -2.5)), shortq::Value(-2.5));
    EXPECT_EQ(parameter(atom_of(Type::kChar, std::string("c"))), shortq::Value(std::string("c")));
    EXPECT_EQ(parameter(symbol("sym")), shortq::Value(std::string("sym")));
    EXPECT_EQ(parameter(symbol("")), shortq::Value(std::string()));
    EXPECT_EQ(parameter(text_of("text")), shortq::Value(std::string("text")));
    EXPECT_EQ(parameter(text_of("")), shortq::Value(std::string()));
    EXPECT_EQ(parameter(vector_of(Type::kByte, std::vector<std::uint8_t>{1, 0})),
              shortq::Value(Blob{std::string("\1\0", 2)}));
    Guid guid{};
    guid[0] = 0xab;
    guid[15] = 1;
    EXPECT_EQ(parameter(atom(Type::kGuid, guid)),
              shortq::Value(std::string("ab000000-0000-0000-0000-000000000001")));
}

TEST(QueryTest, DatesAndTimesMoveToTheEnginesEpoch) {
    EXPECT_EQ(parameter(atom(Type::kDate, 1)), shortq::Value(Date{10'958}));
    EXPECT_EQ(parameter(atom(Type::kMonth, 1)), shortq::Value(Date{10'988}));
    EXPECT_EQ(parameter(atom(Type::kMonth, -1)), shortq::Value(Date{10'926}));
    constexpr std::int64_t kEpoch = 946'684'800'000'000;
    EXPECT_EQ(parameter(atom(Type::kTimestamp, std::int64_t{1000})),
              shortq::Value(Timestamp{kEpoch + 1}));
    EXPECT_EQ(parameter(atom(Type::kTimestamp, std::int64_t{-1000})),
              shortq::Value(Timestamp{kEpoch - 1}));
    // What an engine's timestamp cannot hold is not cut.
    EXPECT_EQ(parameter(atom(Type::kTimestamp, std::int64_t{1999})),
              shortq::Value(std::string("2000-01-01 00:00:00.000001999")));
    EXPECT_EQ(parameter(atom(Type::kTimestamp, std::int64_t{-1})),
              shortq::Value(std::string("1999-12-31 23:59:59.999999999")));
    EXPECT_EQ(parameter(atom(Type::kTimestamp, std::int64_t{758'021'400'000'000'123})),
              shortq::Value(std::string("2024-01-08 09:30:00.000000123")));
    EXPECT_EQ(parameter(atom(Type::kTimestamp, kNullLong + 2)),
              shortq::Value(std::string("1707-09-22 00:12:43.145224194")));
    EXPECT_EQ(parameter(atom(Type::kDatetime, 0.5)),
              shortq::Value(Timestamp{kEpoch + 43'200'000'000}));
    EXPECT_EQ(parameter(atom(Type::kMinute, 61)), shortq::Value(std::string("01:01:00")));
    EXPECT_EQ(parameter(atom(Type::kSecond, 3661)), shortq::Value(std::string("01:01:01")));
    EXPECT_EQ(parameter(atom(Type::kTime, 1500)), shortq::Value(std::string("00:00:01.5")));
    EXPECT_EQ(parameter(atom(Type::kTimespan, std::int64_t{-90'000'000'000'001})),
              shortq::Value(std::string("-25:00:00.000000001")));
}

TEST(QueryTest, InfiniteDatesStayInfinite) {
    EXPECT_EQ(parameter(atom(Type::kDate, kInfiniteInt)), shortq::Value(Date{kInfiniteInt}));
    EXPECT_EQ(parameter(atom(Type::kDate, -kInfiniteInt)), shortq::Value(Date{-kInfiniteInt}));
    EXPECT_EQ(parameter(atom(Type::kTimestamp, kInfiniteLong)),
              shortq::Value(Timestamp{kInfiniteLong}));
    EXPECT_EQ(parameter(atom(Type::kDatetime, -std::numeric_limits<double>::infinity())),
              shortq::Value(Timestamp{-kInfiniteLong}));
}

TEST(QueryTest, NullsBecomeNull) {
    for (const Object& null :
         {atom(Type::kShort, kNullShort), atom(Type::kInt, kNullInt), whole(kNullLong),
          atom(Type::kReal, std::nanf("")), atom(Type::kFloat, std::nan("")),
          atom(Type::kTimestamp, kNullLong), atom(Type::kMonth, kNullInt),
          atom(Type::kDate, kNullInt), atom(Type::kDatetime, std::nan("")),
          atom(Type::kTimespan, kNullLong), atom(Type::kMinute, kNullInt),
          atom(Type::kSecond, kNullInt), atom(Type::kTime, kNullInt), atom(Type::kGuid, Guid{}),
          Object{}}) {
        EXPECT_EQ(parameter(null), shortq::Value(Null{})) << test::shown(null);
    }
}

TEST(QueryTest, WhatIsNoParameterIsNamedWithItsNumber) {
    EXPECT_THAT(refusal(test::longs({1})), HasSubstr("parameter 2, of kdb+ type 7 (long vector)"));
    EXPECT_THAT(refusal(list_of({})), HasSubstr("type 0 (list)"));
    EXPECT_THAT(refusal(test::dictionary(test::symbols({}), test::longs({}))),
                HasSubstr("type 99 (dictionary)"));
    EXPECT_THAT(refusal(vector_of(Type::kError, std::string("x"))), HasSubstr("-128 (error)"));
    EXPECT_THAT(refusal(lambda()), HasSubstr("cannot be a statement's parameter"));
    EXPECT_THAT(refusal(text_of("\xff")), HasSubstr("is not UTF-8"));
    EXPECT_THAT(refusal(atom(Type::kDate, kInfiniteInt - 1)), HasSubstr("out of the range"));
    EXPECT_THAT(refusal(atom(Type::kMonth, kInfiniteInt - 1)), HasSubstr("out of the range"));
    EXPECT_THAT(refusal(atom(Type::kMinute, 2'013'268'480)), HasSubstr("out of the range"));
    EXPECT_THAT(refusal(atom(Type::kSecond, kInfiniteInt)), HasSubstr("out of the range"));
    EXPECT_THAT(refusal(atom(Type::kTimespan, kInfiniteLong)), HasSubstr("out of the range"));
    EXPECT_THAT(refusal(atom(Type::kDatetime, 1e300)), HasSubstr("out of the range"));
}

TEST(QueryTest, ParametersAreCounted) {
    std::vector<Object> items(4097, whole(1));
    items[0] = text_of("select ?");
    EXPECT_EQ(read(list_of(items)).parameters.size(), 4096U);
    items.push_back(whole(1));
    EXPECT_THAT(read(list_of(items)).text, HasSubstr("4097 parameters; at most 4096"));
}

// What is wrong is the count, not what the list holds.
TEST(QueryTest, CountsThatDoNotFitTheMessageAreNamed) {
    const auto refused = [](std::string_view hex) {
        const auto query = read_query(shortq::test::from_hex(hex), ByteOrder::kLittle);
        return query ? "accepted" : query.error().message;
    };
    // A list, its attribute, its count.
    EXPECT_THAT(
        refused("00 00 ffffff7f"),
        HasSubstr("count of its list does not fit: 2147483647 items would have to be in 0"));
    EXPECT_THAT(refused("00 00 03000000 f661 f662"),
                HasSubstr("does not fit: 3 items would have to be in 4 bytes"));
    EXPECT_THAT(refused("00 00 ffffffff"), HasSubstr("count of its list is missing or negative"));
    EXPECT_THAT(refused("00 00 ff"), HasSubstr("count of its list is missing or negative"));
    // The text `f`, and a list of parameters.
    EXPECT_THAT(refused("00 00 02000000 f56600 00 00 00e1f505"),
                HasSubstr("does not fit: 100000000 items would have to be in 0 bytes"));
    // A char vector, alone and in a list.
    EXPECT_THAT(refused("0a 00 ffffff7f 61"), HasSubstr("cut short, or its count is wrong"));
    EXPECT_THAT(refused("0a 00 ffffffff 61"), HasSubstr("cut short, or its count is wrong"));
    EXPECT_THAT(refused("00 00 01000000 0a 00 ffffff7f"),
                HasSubstr("cut short, or its count is wrong"));
}

TEST(QueryTest, DamagedBodiesDoNoHarm) {
    for (const Object& object :
         {text_of("select 1"), list_of({symbol("f"), whole(1), text_of("a"), list_of({})}),
          list_of({lambda(), text_of(".o.ex"), text_of("sql"), list_of({whole(1)})})}) {
        const Bytes body = test::body_of(object);
        for (std::size_t size = 0; size < body.size(); ++size) {
            EXPECT_FALSE(
                read_query(shortq::test::copy_of(std::span(body).first(size)), ByteOrder::kLittle));
        }
        shortq::test::for_each_damage(body, [](const Bytes& damaged) {
            const auto query = read_query(damaged, ByteOrder::kLittle);
            if (!query) {
                EXPECT_FALSE(query.error().message.empty());
            }
        });
    }
}

}  // namespace
}  // namespace shortq::kdb
