// Goal: objects are what KX's documentation prints, and survive both byte orders. Method: its
// examples as bytes (code.kx.com/q/kb/serialization), random objects, and damage of every kind.
#include "proto/kdb/object.h"

#include <gmock/gmock.h>

#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;
using shortq::test::from_hex;
using shortq::test::to_hex;
using test::decoded;
using test::shown;

using Ints = std::vector<std::int32_t>;

struct Example {
    const char* bytes;  // Of -8!: the whole message.
    Object object;
};

Object table_of(Object columns) {
    std::vector<Object> parts;
    parts.push_back(std::move(columns));
    return vector_of(Type::kTable, std::move(parts));
}

// flip enlist[`NAME]!enlist enlist VALUE
Object tiny_table(const char* name, std::int32_t value) {
    return table_of(
        test::dictionary(test::symbols({name}), list_of({vector_of(Type::kInt, Ints{value})})));
}

std::vector<Example> examples() {
    const Object bytes = vector_of(Type::kByte, std::vector<std::uint8_t>{0, 1, 2, 3, 4});
    const Object two_columns =
        list_of({vector_of(Type::kInt, Ints{2}), vector_of(Type::kInt, Ints{3})});
    const Object lambda = vector_of(
        Type::kLambda, std::vector<Object>{atom_of(Type::kSymbol, std::vector<std::string>{"d"}),
                                           text_of("{x+y}")});
    return {
        {"01000000 0d000000 fa 01000000", atom_of(Type::kInt, Ints{1})},
        {"01000000 11000000 f9 01000000 00000000",
         atom_of(Type::kLong, std::vector<std::int64_t>{1})},
        {"01000000 12000000 06 00 01000000 01000000", vector_of(Type::kInt, Ints{1})},
        {"01000000 13000000 04 00 05000000 0001020304", bytes},
        {"01000000 19000000 00 00 01000000 04 00 05000000 0001020304", list_of({bytes})},
        {"01000000 21000000 63 0b 00 02000000 6100 6200 06 00 02000000 02000000 03000000",
         test::dictionary(test::symbols({"a", "b"}), vector_of(Type::kInt, Ints{2, 3}))},
        {"01000000 2f000000 62 00 63 0b 00 02000000 6100 6200 00 00 02000000 "
         "06 00 01000000 02000000 06 00 01000000 03000000",
         table_of(test::dictionary(test::symbols({"a", "b"}), two_columns))},
        {"01000000 3f000000 63 62 00 63 0b 00 01000000 6100 00 00 01000000 06 00 01000000 02000000 "
         "62 00 63 0b 00 01000000 6200 00 00 01000000 06 00 01000000 03000000",
         test::dictionary(tiny_table("a", 2), tiny_table("b", 3))},
        {"01000000 16000000 64 6400 0a 00 05000000 7b782b797d", lambda},
        {"01000000 0a000000 65 00", Object{}},
    };
}

TEST(ObjectTest, DocumentedExamplesAreReadAndWritten) {
    for (const Example& example : examples()) {
        const Bytes message = from_hex(example.bytes);
        EXPECT_EQ(to_hex(encode_message(example.object, Kind::kAsync)), to_hex(message));
        const Object object = decoded(std::span(message).subspan(kHeaderBytes));
        EXPECT_EQ(shown(object), shown(example.object));
        EXPECT_EQ(object.items.index(), example.object.items.index());
    }
}

TEST(ObjectTest, BigEndianTurnsEveryNumber) {
    const Object object = list_of({atom_of(Type::kInt, Ints{1}), test::longs({2}),
                                   atom_of(Type::kShort, std::vector<std::int16_t>{3})});
    EXPECT_EQ(to_hex(encode_message(object, Kind::kSync, ByteOrder::kBig)),
              to_hex(from_hex("00010000 00000024 00 00 00000003 fa 00000001 "
                              "07 00 00000001 0000000000000002 fb 0003")));
}

TEST(ObjectTest, RandomObjectsSurviveBothByteOrders) {
    std::mt19937_64 random(11);
    for (int i = 0; i < 2000; ++i) {
        const Object object = test::random_object(random, 4);
        for (const ByteOrder order : {ByteOrder::kLittle, ByteOrder::kBig}) {
            const Bytes body = test::body_of(object, order);
            ASSERT_EQ(shown(decoded(body, order)), shown(object)) << "object " << i;
        }
    }
}

TEST(ObjectTest, TruncatedObjectsAreErrors) {
    std::mt19937_64 random(12);
    for (int i = 0; i < 200; ++i) {
        const Bytes body = test::body_of(test::random_object(random, 3));
        for (std::size_t size = 0; size < body.size(); ++size) {
            const auto copy = shortq::test::copy_of(std::span(body).first(size));
            ASSERT_FALSE(decode(copy, ByteOrder::kLittle)) << to_hex(copy);
        }
    }
}

TEST(ObjectTest, DamagedObjectsDoNoHarm) {
    for (const Example& example : examples()) {
        const Bytes body = test::body_of(example.object);
        shortq::test::for_each_damage(body, [](const Bytes& damaged) {
            const auto object = decode(damaged, ByteOrder::kLittle);
            if (object) {
                EXPECT_EQ(to_hex(test::body_of(*object)), to_hex(damaged));
            }
        });
    }
}

TEST(ObjectTest, CountsAreNotBelieved) {
    for (const char* body :
         {"07 00 ffffff7f", "07 00 ffffffff", "0b 00 ffffff7f", "00 00 ffffff7f", "68 ffffff7f",
          "02 00 00000010", "f9 00", "2c 00 00000000", "03 00", "70 00", "65 00 00"}) {
        EXPECT_FALSE(decode(from_hex(body), ByteOrder::kLittle)) << body;
    }
}

TEST(ObjectTest, DepthIsBounded) {
    const auto nested = [](std::size_t depth) {
        Object object = list_of({});
        for (; depth > 1; --depth) {
            std::vector<Object> items;
            items.push_back(std::move(object));
            object = list_of(std::move(items));
        }
        return test::body_of(object);
    };
    EXPECT_TRUE(decode(nested(kDepthMax), ByteOrder::kLittle));
    EXPECT_FALSE(decode(nested(kDepthMax + 1), ByteOrder::kLittle));
}

TEST(ObjectTest, TypesHaveNames) {
    EXPECT_EQ(name_of_type(-7), "long");
    EXPECT_EQ(name_of_type(7), "long vector");
    EXPECT_EQ(name_of_type(0), "list");
    EXPECT_EQ(name_of_type(98), "table");
    EXPECT_EQ(name_of_type(127), "sorted dictionary");
    EXPECT_EQ(name_of_type(-128), "error");
    EXPECT_EQ(name_of_type(44), "type 44");
    for (int type = -128; type < 128; ++type)
        EXPECT_FALSE(name_of_type(static_cast<std::int8_t>(type)).empty());
}

}  // namespace
}  // namespace shortq::kdb
