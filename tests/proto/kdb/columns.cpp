// tests/proto/kdb/columns.cpp: see the header.
#include "tests/proto/kdb/columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>

#include "tests/proto/arrays.h"
#include "tests/proto/kdb/objects.h"

namespace shortq::kdb::test {
namespace {

using shortq::test::buffer_of;
using shortq::test::text_buffer;
__extension__ using Int128 = __int128;

template <class T>
using Cells = std::vector<std::optional<T>>;

template <class T>
std::span<const std::optional<T>> part(const Cells<T>& cells, std::size_t begin, std::size_t end) {
    return std::span(cells).subspan(begin, end - begin);
}

// Bits from the lowest up, and how many are clear.
struct Validity {
    Buffer buffer{};
    std::int64_t nulls = 0;
};
template <class T>
Validity validity_of(std::span<const std::optional<T>> cells) {
    std::vector<std::uint8_t> bits((cells.size() + 7) / 8);
    std::int64_t nulls = 0;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        nulls += cells[i] ? 0 : 1;
        if (cells[i]) bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << (i % 8));
    }
    return {nulls == 0 ? Buffer{} : buffer_of(bits), nulls};
}

template <class T>
Array fixed_array(std::span<const std::optional<T>> cells) {
    std::vector<T> values;
    for (const auto& cell : cells) values.push_back(cell.value_or(T{}));
    auto [validity, nulls] = validity_of(cells);
    return {.length = static_cast<std::int64_t>(cells.size()),
            .null_count = nulls,
            .buffers = {validity, buffer_of(values)}};
}

Array text_array(std::span<const std::optional<std::string>> cells) {
    std::vector<std::int32_t> offsets{0};
    std::string data;
    for (const auto& cell : cells) {
        data += cell.value_or("hidden");  // A null's bytes are nobody's business.
        offsets.push_back(static_cast<std::int32_t>(data.size()));
    }
    auto [validity, nulls] = validity_of(cells);
    return {.length = static_cast<std::int64_t>(cells.size()),
            .null_count = nulls,
            .buffers = {validity, buffer_of(offsets), text_buffer(data)}};
}

Array bit_array(std::span<const std::optional<bool>> cells) {
    std::vector<std::uint8_t> bits((cells.size() + 7) / 8);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i].value_or(false))
            bits[i / 8] = static_cast<std::uint8_t>(bits[i / 8] | 1U << (i % 8));
    }
    auto [validity, nulls] = validity_of(cells);
    return {.length = static_cast<std::int64_t>(cells.size()),
            .null_count = nulls,
            .buffers = {validity, buffer_of(bits)}};
}

class Maker {
public:
    Maker(std::mt19937_64& random, std::size_t rows, bool nulls)
        : random_(random), rows_(rows), nulls_(nulls) {}

    std::vector<ColumnCase> make() {
        add_numbers();
        add_wide_numbers();
        add_times();
        add_texts();
        add_nested();
        return std::move(columns_);
    }

private:
    template <class T, class Value>
    Cells<T> cells(Value value) {
        Cells<T> made;
        for (std::size_t i = 0; i < rows_; ++i) {
            const bool null = nulls_ && (i == 0 || random_() % 4 == 0);
            made.push_back(null ? std::nullopt : std::optional<T>(value()));
        }
        return made;
    }
    std::int64_t between(std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
    }

    template <class T, class Slice>
    void add(std::string format, std::string type, Cells<T> cells, Slice slice, Object expected) {
        Field field{.name = "c" + std::to_string(columns_.size()),
                    .format = std::move(format),
                    .engine_type = std::move(type)};
        columns_.push_back({std::move(field), cells.size(),
                            [cells, slice](std::size_t begin, std::size_t end) {
                                return slice(part(cells, begin, end));
                            },
                            std::move(expected)});
    }

    // A column of numbers that becomes a vector of `to`.
    template <class From, class To, class Convert>
    void add_fixed(std::string format, std::string type, const Cells<From>& cells, Type to, To null,
                   Convert convert) {
        std::vector<To> values;
        for (const auto& cell : cells)
            values.push_back(cell ? static_cast<To>(convert(*cell)) : null);
        add(std::move(format), std::move(type), cells, fixed_array<From>,
            vector_of(to, std::move(values)));
    }
    template <class From, class To>
    void add_whole(std::string format, std::string type, Type to, To null) {
        const auto values = cells<From>([&] { return static_cast<From>(random_()); });
        add_fixed(std::move(format), std::move(type), values, to, null, [](From v) { return v; });
    }

    void add_numbers() {
        add_whole<std::int8_t>("c", "TINYINT", Type::kShort, kNullShort);
        add_whole<std::uint8_t>("C", "UTINYINT", Type::kShort, kNullShort);
        add_whole<std::int16_t>("s", "SMALLINT", Type::kShort, kNullShort);
        add_whole<std::uint16_t>("S", "USMALLINT", Type::kInt, kNullInt);
        add_whole<std::int32_t>("i", "INTEGER", Type::kInt, kNullInt);
        add_whole<std::uint32_t>("I", "UINTEGER", Type::kLong, kNullLong);
        add_whole<std::int64_t>("l", "BIGINT", Type::kLong, kNullLong);
        const auto real = [&] { return static_cast<double>(between(-1000, 1000)) / 7; };
        add_fixed("f", "FLOAT", cells<float>([&] { return static_cast<float>(real()); }),
                  Type::kReal, std::nanf(""), [](float v) { return v; });
        add_fixed("g", "DOUBLE", cells<double>(real), Type::kFloat, std::nan(""),
                  [](double v) { return v; });
        add_fixed("d:9,2,32", "DECIMAL(9,2)", cells<std::int32_t>([&] {
                      return static_cast<std::int32_t>(between(-1000, 1000));
                  }),
                  Type::kFloat, std::nan(""), [](std::int32_t v) { return v / 100.0; });
        const auto bits = cells<bool>([&] { return random_() % 2 == 0; });
        const bool any_null = std::ranges::any_of(bits, [](const auto& bit) { return !bit; });
        std::vector<std::uint8_t> plain;
        std::vector<std::int16_t> shorts;
        for (const auto& bit : bits) {
            plain.push_back(bit.value_or(false) ? 1 : 0);
            shorts.push_back(bit ? static_cast<std::int16_t>(*bit) : kNullShort);
        }
        add("b", "BOOLEAN", bits, bit_array,
            any_null ? vector_of(Type::kShort, shorts) : vector_of(Type::kBoolean, plain));
    }

    void add_wide_numbers() {
        const auto small = [&] { return between(0, 1LL << 60); };
        add_fixed("L", "UBIGINT",
                  cells<std::uint64_t>([&] { return static_cast<std::uint64_t>(small()); }),
                  Type::kLong, kNullLong, [](std::uint64_t v) { return v; });
        add_fixed("d:38,0", "HUGEINT", cells<Int128>([&] { return Int128{-small()}; }), Type::kLong,
                  kNullLong, [](Int128 v) { return v; });
        // One value that does not fit turns the whole column.
        auto large = cells<std::uint64_t>([&] { return static_cast<std::uint64_t>(small()); });
        auto huge = cells<Int128>([&] { return Int128{small()}; });
        const bool any = rows_ > 1;
        if (any) {
            large.back() = std::uint64_t{1} << 63U;
            huge.back() = Int128{-3} << 64U;
        }
        if (!any) return;
        add_fixed("L", "UBIGINT", large, Type::kFloat, std::nan(""),
                  [](std::uint64_t v) { return v; });
        add_fixed("d:38,0", "HUGEINT", huge, Type::kFloat, std::nan(""),
                  [](Int128 v) { return v; });
    }

    void add_times() {
        constexpr std::int64_t kDay = 86'400'000'000'000;
        constexpr std::int64_t kEpochNanos = 10'957 * kDay;
        add_fixed("tdD", "DATE", cells<std::int32_t>([&] {
                      return static_cast<std::int32_t>(between(-1e6, 1e6));
                  }),
                  Type::kDate, kNullInt, [](std::int32_t v) { return v - 10'957; });
        for (const auto& [unit, nanos] : std::vector<std::pair<std::string, std::int64_t>>{
                 {"s", 1'000'000'000}, {"m", 1'000'000}, {"u", 1'000}, {"n", 1}}) {
            const auto times = cells<std::int64_t>([&, by = nanos] {
                return between(-5'000'000 * 1'000'000'000'000 / by, 8'000'000'000'000'000'000 / by);
            });
            add_fixed("ts" + unit + ":UTC", "TIMESTAMP", times, Type::kTimestamp, kNullLong,
                      [&, by = nanos](std::int64_t v) { return v * by - kEpochNanos; });
        }
        add_fixed("ttu", "TIME", cells<std::int64_t>([&] { return between(0, 86'400'000'000); }),
                  Type::kTimespan, kNullLong, [](std::int64_t v) { return v * 1000; });
        add_fixed("ttn", "TIME_NS", cells<std::int64_t>([&] { return between(0, kDay); }),
                  Type::kTimespan, kNullLong, [](std::int64_t v) { return v; });
        struct Interval {
            std::int32_t months = 0;
            std::int32_t days = 0;
            std::int64_t nanos = 0;
        };
        add_fixed("tin", "INTERVAL", cells<Interval>([&] {
                      return Interval{0, static_cast<std::int32_t>(between(-1000, 1000)),
                                      between(-kDay, kDay)};
                  }),
                  Type::kTimespan, kNullLong, [](Interval v) { return v.days * kDay + v.nanos; });
    }

    std::string word(std::size_t longest) {
        std::string text(random_() % longest, ' ');
        for (char& c : text) c = static_cast<char>('a' + random_() % 26);
        return text;
    }

    void add_texts() {
        const auto texts = cells<std::string>([&] { return word(20); });
        std::vector<std::string> plain;
        std::vector<Object> vectors;
        std::vector<Object> blobs;
        for (const auto& text : texts) {
            plain.push_back(text.value_or(""));
            vectors.push_back(text_of(plain.back() + (text ? std::string(1, '\0') : "")));
            blobs.push_back(vector_of(
                Type::kByte, std::vector<std::uint8_t>(plain.back().begin(), plain.back().end())));
        }
        add("u", "VARCHAR", texts, text_array, symbols(plain));
        add("z", "BLOB", texts, text_array, list_of(blobs));
        auto with_nul = texts;
        for (auto& text : with_nul) {
            if (text) text->push_back('\0');
        }
        const bool any = std::ranges::any_of(with_nul, [](const auto& t) { return t.has_value(); });
        if (any) add("u", "VARCHAR", with_nul, text_array, list_of(vectors));
        add_guids();
        add_enum(texts.size());
    }

    void add_guids() {
        std::vector<Guid> guids;
        const auto uuids = cells<std::string>([&] {
            Guid guid;
            std::string hex;
            for (std::size_t i = 0; i < guid.size(); ++i) {
                guid[i] = static_cast<std::uint8_t>(random_());
                char digits[3];
                std::snprintf(digits, sizeof digits, "%02x", guid[i]);
                if (i == 4 || i == 6 || i == 8 || i == 10) hex += '-';
                hex += digits;
            }
            guids.push_back(guid);
            return hex;
        });
        std::vector<Guid> expected;
        for (std::size_t i = 0, next = 0; i < uuids.size(); ++i)
            expected.push_back(uuids[i] ? guids[next++] : Guid{});
        add("u", "UUID", uuids, text_array, vector_of(Type::kGuid, expected));
    }

    void add_enum(std::size_t) {
        const std::vector<std::string> values{"bid", "ask", ""};
        const auto indices =
            cells<std::uint8_t>([&] { return static_cast<std::uint8_t>(random_() % 3); });
        std::vector<std::string> plain;
        for (const auto& index : indices) plain.push_back(index ? values[*index] : "");
        const Cells<std::string> dictionary(values.begin(), values.end());
        add(
            "C", "ENUM('bid', 'ask', '')", indices,
            [dictionary](std::span<const std::optional<std::uint8_t>> part_of) {
                Array array = fixed_array(part_of);
                array.dictionary = {text_array(dictionary)};
                return array;
            },
            symbols(plain));
        columns_.back().field.dictionary = {Field{.format = "u"}};
    }

    void add_nested();

    std::mt19937_64& random_;
    std::size_t rows_;
    bool nulls_;
    std::vector<ColumnCase> columns_;
};

// LIST(BIGINT), STRUCT(a SMALLINT, b VARCHAR) and MAP(VARCHAR, DOUBLE) over the same cells.
using Numbers = std::vector<std::optional<std::int64_t>>;

Array list_array(std::span<const std::optional<Numbers>> cells) {
    Numbers all;
    std::vector<std::int32_t> offsets{0};
    for (const auto& cell : cells) {
        if (cell) all.insert(all.end(), cell->begin(), cell->end());
        offsets.push_back(static_cast<std::int32_t>(all.size()));
    }
    auto [validity, nulls] = validity_of(cells);
    return {.length = static_cast<std::int64_t>(cells.size()),
            .null_count = nulls,
            .buffers = {validity, buffer_of(offsets)},
            .children = {fixed_array<std::int64_t>(all)}};
}

// The cell's number of items, and its first item as a text.
Array struct_array(std::span<const std::optional<Numbers>> cells) {
    Cells<std::int16_t> counts;
    Cells<std::string> firsts;
    for (const auto& cell : cells) {
        counts.push_back(cell ? static_cast<std::int16_t>(cell->size()) : std::int16_t{77});
        firsts.push_back(cell && cell->empty() ? std::nullopt : std::optional<std::string>("t"));
    }
    auto [validity, nulls] = validity_of(cells);
    return {.length = static_cast<std::int64_t>(cells.size()),
            .null_count = nulls,
            .buffers = {validity},
            .children = {fixed_array<std::int16_t>(counts), text_array(firsts)}};
}

Array map_array(std::span<const std::optional<Numbers>> cells) {
    Array array = list_array(cells);
    Cells<std::string> keys;
    for (std::int64_t i = 0; i < array.children[0].length; ++i)
        keys.push_back("k" + std::to_string(i % 3));
    Array values = std::move(array.children[0]);
    const std::int64_t length = values.length;
    array.children = {Array{.length = length,
                            .buffers = {Buffer{}},
                            .children = {text_array(keys), std::move(values)}}};
    return array;
}

Object long_vector(const Numbers& numbers) {
    std::vector<std::int64_t> values;
    for (const auto& number : numbers) values.push_back(number.value_or(kNullLong));
    return longs(values);
}

Object struct_object(const std::optional<Numbers>& cell) {
    const auto count = cell ? static_cast<std::int16_t>(cell->size()) : kNullShort;
    const std::string first = cell && !cell->empty() ? "t" : "";
    return dictionary(symbols({"a", "x"}),
                      list_of({atom_of(Type::kShort, std::vector<std::int16_t>{count}),
                               atom_of(Type::kSymbol, std::vector<std::string>{first})}));
}

void Maker::add_nested() {
    const auto lists = cells<Numbers>([&] {
        Numbers numbers;
        for (auto left = random_() % 4; left > 0; --left)
            numbers.push_back(random_() % 3 == 0 ? std::nullopt
                                                 : std::optional<std::int64_t>(between(-9, 9)));
        return numbers;
    });
    std::vector<Object> vectors;
    std::vector<Object> structs;
    for (const auto& list : lists) {
        vectors.push_back(long_vector(list.value_or(Numbers{})));
        structs.push_back(struct_object(list));
    }
    const Field item{.name = "item", .format = "l"};
    add("+l", "BIGINT[]", lists, list_array, list_of(vectors));
    columns_.back().field.children = {item};
    add("+s", "STRUCT(a SMALLINT, \"\" VARCHAR)", lists, struct_array, list_of(structs));
    columns_.back().field.children = {Field{.name = "a", .format = "s"}, Field{.format = "u"}};
    add("+m", "MAP(VARCHAR, BIGINT)", lists, map_array, list_of({}));
    columns_.back().field.children = {Field{
        .name = "entries",
        .format = "+s",
        .children = {Field{.name = "key", .format = "u"}, Field{.name = "value", .format = "l"}}}};
    columns_.back().expected = Object{};  // Its keys depend on the batches: see the table test.
}

}  // namespace

std::vector<ColumnCase> every_column(std::mt19937_64& random, std::size_t rows, bool nulls) {
    return Maker(random, rows, nulls).make();
}

Schema schema_of(std::span<const ColumnCase> columns) {
    Schema schema;
    for (const ColumnCase& column : columns) schema.fields.push_back(column.field);
    return schema;
}

std::vector<Batch> batches_of(std::span<const ColumnCase> columns, std::mt19937_64& random) {
    const Schema schema = schema_of(columns);
    const std::size_t rows = columns.empty() ? 0 : columns.front().rows;
    std::vector<Batch> batches;
    for (std::size_t begin = 0; begin < rows;) {
        const std::size_t end = std::min(rows, begin + 1 + random() % 20);
        Batch batch{.rows = static_cast<std::int64_t>(end - begin)};
        for (const ColumnCase& column : columns) batch.columns.push_back(column.slice(begin, end));
        const auto frames = proto::split(batch);
        auto assembled = proto::assemble(schema, frames.layout, frames.buffers);
        if (!assembled) throw std::runtime_error(assembled.error().message);
        batches.push_back(std::move(*assembled));
        begin = end;
    }
    return batches;
}

std::vector<std::byte> table_message(const Schema& schema, std::span<const Batch> batches,
                                     Error& error, TableOptions options) {
    auto table = TableWriter::make(schema, options);
    if (!table) {
        error = table.error();
        return {};
    }
    for (const Batch& batch : batches) {
        if (const auto measured = table->measure(batch); !measured) {
            error = measured.error();
            return {};
        }
    }
    std::vector<std::byte> out;
    append_table(*table, Kind::kResponse, batches, out);
    EXPECT_EQ(table->message_bytes(), out.size());
    return out;
}

}  // namespace shortq::kdb::test
