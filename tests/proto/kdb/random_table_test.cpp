// Goal: every type of result becomes the kdb+ vector that it must, whatever the batches and nulls.
// Method: seeded columns whose vectors are computed apart; the message is decoded and compared.
#include <gmock/gmock.h>

#include "tests/proto/kdb/columns.h"
#include "tests/proto/kdb/objects.h"

namespace shortq::kdb {
namespace {

using shortq::test::Bytes;

// The columns of a table's message.
std::vector<Object> columns_of(const Bytes& message) {
    const Object table = test::decoded(std::span(message).subspan(kHeaderBytes));
    const auto* parts = std::get_if<std::vector<Object>>(&table.items);
    if (parts == nullptr || parts->size() != 1) return {};
    const auto& dictionary = std::get<std::vector<Object>>(parts->front().items);
    return std::get<std::vector<Object>>(dictionary[1].items);
}

void compare(const std::vector<test::ColumnCase>& columns, std::mt19937_64& random) {
    Error error;
    const auto batches = test::batches_of(columns, random);
    const Bytes message = test::table_message(test::schema_of(columns), batches, error);
    ASSERT_FALSE(message.empty()) << error.message;
    const auto written = columns_of(message);
    ASSERT_EQ(written.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].field.format == "+m") continue;  // Has a test of its own.
        EXPECT_EQ(test::shown(written[i]), test::shown(columns[i].expected))
            << columns[i].field.engine_type << " of " << columns[i].rows << " rows";
    }
}

TEST(RandomTableTest, EveryTypeWithAndWithoutNulls) {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        std::mt19937_64 random(seed);
        const std::size_t rows = 1 + random() % 60;
        compare(test::every_column(random, rows, seed % 2 == 0), random);
        if (HasFailure()) {
            FAIL() << "seed " << seed;
        }
    }
}

TEST(RandomTableTest, TablesOfAFewColumnsInAnyOrder) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        std::mt19937_64 random(seed);
        auto columns = test::every_column(random, 1 + random() % 30, random() % 2 == 0);
        std::shuffle(columns.begin(), columns.end(), random);
        columns.resize(1 + random() % 5);
        compare(columns, random);
        if (HasFailure()) {
            FAIL() << "seed " << seed;
        }
    }
}

TEST(RandomTableTest, WithoutRowsColumnsKeepTheirTypes) {
    std::mt19937_64 random(1);
    const auto columns = test::every_column(random, 0, false);
    Error error;
    const auto written = columns_of(test::table_message(test::schema_of(columns), {}, error));
    ASSERT_EQ(written.size(), columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].field.format == "+m") continue;
        EXPECT_EQ(test::shown(written[i]), test::shown(columns[i].expected))
            << columns[i].field.engine_type;
    }
}

}  // namespace
}  // namespace shortq::kdb
