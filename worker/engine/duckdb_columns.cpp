#include "worker/engine/duckdb_columns.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "worker/engine/duckdb_handles.h"

namespace shortq::engine {
namespace {

const std::byte* validity_of(duckdb_vector vector) {
    return reinterpret_cast<const std::byte*>(duckdb_vector_get_validity(vector));
}

const std::byte* data_of(duckdb_vector vector) {
    return static_cast<const std::byte*>(duckdb_vector_get_data(vector));
}

bool valid_at(const std::byte* bits, std::size_t row) {
    return bits == nullptr || (std::to_integer<unsigned>(bits[row / 8]) >> (row % 8) & 1U) != 0;
}

// Validity and values of a fixed width.
class FixedColumn : public VectorColumn {
public:
    FixedColumn(std::size_t width, const std::shared_ptr<BlockPool>& pool)
        : validity_(pool), values_(pool), width_(width) {}

    void append(duckdb_vector vector, std::size_t rows) override {
        validity_.append(validity_of(vector), rows);
        values_.append(data_of(vector), rows * width_);
    }
    [[nodiscard]] std::size_t bytes() const override { return validity_.bytes() + values_.size(); }
    [[nodiscard]] Array take() override {
        Array array;
        validity_.take_into(array);
        array.buffers.push_back(values_.take());
        return array;
    }

protected:
    ValidityBuilder validity_;
    ByteBuilder values_;

private:
    std::size_t width_;
};

// DuckDB keeps a decimal in as few bytes as its digits need; Arrow's has 16.
template <class Stored>
class DecimalColumn final : public FixedColumn {
public:
    explicit DecimalColumn(const std::shared_ptr<BlockPool>& pool) : FixedColumn(kWidth, pool) {}

    void append(duckdb_vector vector, std::size_t rows) override {
        validity_.append(validity_of(vector), rows);
        const auto* from = data_of(vector);
        auto* to = values_.extend(rows * kWidth);
        for (std::size_t row = 0; row < rows; ++row) {
            Stored stored = 0;
            std::memcpy(&stored, from + row * sizeof stored, sizeof stored);
            const std::array<std::int64_t, 2> wide{stored, stored < 0 ? -1 : 0};
            std::memcpy(to + row * kWidth, wide.data(), kWidth);
        }
    }

private:
    static constexpr std::size_t kWidth = 16;
};

// DuckDB has a byte for each boolean, Arrow a bit.
class BooleanColumn final : public VectorColumn {
public:
    explicit BooleanColumn(const std::shared_ptr<BlockPool>& pool)
        : validity_(pool), values_(pool) {}

    void append(duckdb_vector vector, std::size_t rows) override {
        validity_.append(validity_of(vector), rows);
        values_.append_bools(data_of(vector), rows);
    }
    [[nodiscard]] std::size_t bytes() const override { return validity_.bytes() + values_.bytes(); }
    [[nodiscard]] Array take() override {
        Array array;
        validity_.take_into(array);
        array.buffers.push_back(values_.take());
        return array;
    }

private:
    ValidityBuilder validity_;
    BitBuilder values_;
};

// Texts and blobs. DuckDB keeps 12 bytes in the string itself, and points to longer ones.
class TextColumn final : public VectorColumn {
public:
    explicit TextColumn(const std::shared_ptr<BlockPool>& pool)
        : validity_(pool), offsets_(pool), data_(pool) {}

    [[nodiscard]] bool can_append(duckdb_vector vector, std::size_t rows) const override {
        return data_.size() + length_of(vector, rows) <= kLastOffset;
    }

    void append(duckdb_vector vector, std::size_t rows) override {
        const auto* valid = validity_of(vector);
        validity_.append(valid, rows);
        if (offsets_.size() == 0) append_offset(offsets_.extend(sizeof(std::int32_t)), 0);
        auto end = data_.size();
        auto* offset = offsets_.extend(rows * sizeof(std::int32_t));
        auto* to = data_.extend(length_of(vector, rows));
        const auto* texts = texts_of(vector);
        for (std::size_t row = 0; row < rows; ++row, offset += sizeof(std::int32_t)) {
            if (valid_at(valid, row)) {
                const auto [text, length] = text_of(texts[row]);
                if (length > 0) std::memcpy(to, text, length);  // Else there may be no place.
                to += length;
                end += length;
            }
            append_offset(offset, end);
        }
    }

    [[nodiscard]] std::size_t bytes() const override {
        return validity_.bytes() + offsets_.size() + data_.size();
    }
    [[nodiscard]] Array take() override {
        Array array;
        validity_.take_into(array);
        array.buffers.push_back(offsets_.take());
        array.buffers.push_back(data_.take());
        return array;
    }

private:
    static constexpr auto kLastOffset =
        static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());

    static const duckdb_string_t* texts_of(duckdb_vector vector) {
        return static_cast<const duckdb_string_t*>(duckdb_vector_get_data(vector));
    }
    static std::pair<const char*, std::size_t> text_of(const duckdb_string_t& text) {
        constexpr std::uint32_t kInlined = 12;
        const auto length = text.value.inlined.length;
        return {length <= kInlined ? text.value.inlined.inlined : text.value.pointer.ptr, length};
    }
    static std::size_t length_of(duckdb_vector vector, std::size_t rows) {
        const auto* valid = validity_of(vector);
        const auto* texts = texts_of(vector);
        std::size_t length = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            if (valid_at(valid, row)) length += texts[row].value.inlined.length;
        }
        return length;
    }
    static void append_offset(std::byte* to, std::size_t value) {
        const auto offset = static_cast<std::int32_t>(value);
        std::memcpy(to, &offset, sizeof offset);
    }

    ValidityBuilder validity_;
    ByteBuilder offsets_;
    ByteBuilder data_;
};

// Indices, and all of the type's values with each batch.
class EnumColumn final : public FixedColumn {
public:
    EnumColumn(std::size_t width, Array values, const std::shared_ptr<BlockPool>& pool)
        : FixedColumn(width, pool), values_of_type_(std::move(values)) {}
    [[nodiscard]] Array take() override {
        Array array = FixedColumn::take();
        array.dictionary.push_back(values_of_type_);
        return array;
    }

private:
    Array values_of_type_;
};

Array values_of(duckdb_logical_type type, const std::shared_ptr<BlockPool>& pool) {
    ByteBuilder offsets(pool);
    ByteBuilder data(pool);
    const auto append_end = [&] {
        const auto end = static_cast<std::int32_t>(data.size());
        offsets.append(&end, sizeof end);
    };
    append_end();
    const auto count = duckdb_enum_dictionary_size(type);
    for (idx_t i = 0; i < count; ++i) {
        const std::string value = take_string(duckdb_enum_dictionary_value(type, i));
        data.append(value.data(), value.size());
        append_end();
    }
    Array array;
    array.length = count;
    array.buffers = {Buffer{}, offsets.take(), data.take()};
    return array;
}

// Types whose vectors are as Arrow wants them, once `format` is what it is for them.
struct Plain {
    duckdb_type type;
    std::string_view format;  // Or how it begins, if it ends in ':'.
    std::size_t width;
};
constexpr std::array kPlain{
    Plain{DUCKDB_TYPE_TINYINT, "c", 1},         Plain{DUCKDB_TYPE_SMALLINT, "s", 2},
    Plain{DUCKDB_TYPE_INTEGER, "i", 4},         Plain{DUCKDB_TYPE_BIGINT, "l", 8},
    Plain{DUCKDB_TYPE_UTINYINT, "C", 1},        Plain{DUCKDB_TYPE_USMALLINT, "S", 2},
    Plain{DUCKDB_TYPE_UINTEGER, "I", 4},        Plain{DUCKDB_TYPE_UBIGINT, "L", 8},
    Plain{DUCKDB_TYPE_FLOAT, "f", 4},           Plain{DUCKDB_TYPE_DOUBLE, "g", 8},
    Plain{DUCKDB_TYPE_HUGEINT, "d:38,0", 16},   Plain{DUCKDB_TYPE_DATE, "tdD", 4},
    Plain{DUCKDB_TYPE_TIME, "ttu", 8},          Plain{DUCKDB_TYPE_TIMESTAMP, "tsu:", 8},
    Plain{DUCKDB_TYPE_TIMESTAMP_S, "tss:", 8},  Plain{DUCKDB_TYPE_TIMESTAMP_MS, "tsm:", 8},
    Plain{DUCKDB_TYPE_TIMESTAMP_NS, "tsn:", 8}, Plain{DUCKDB_TYPE_TIMESTAMP_TZ, "tsu:", 8},
};

std::unique_ptr<VectorColumn> decimal_column(duckdb_logical_type type, const Field& field,
                                             const std::shared_ptr<BlockPool>& pool) {
    if (std::ranges::count(field.format, ',') != 1) return nullptr;  // Not of 128 bits.
    switch (duckdb_decimal_internal_type(type)) {
        case DUCKDB_TYPE_SMALLINT:
            return std::make_unique<DecimalColumn<std::int16_t>>(pool);
        case DUCKDB_TYPE_INTEGER:
            return std::make_unique<DecimalColumn<std::int32_t>>(pool);
        case DUCKDB_TYPE_BIGINT:
            return std::make_unique<DecimalColumn<std::int64_t>>(pool);
        case DUCKDB_TYPE_HUGEINT:
            return std::make_unique<FixedColumn>(16, pool);
        default:
            return nullptr;
    }
}

std::unique_ptr<VectorColumn> enum_column(duckdb_logical_type type, const Field& field,
                                          const std::shared_ptr<BlockPool>& pool) {
    if (field.dictionary.size() != 1 || field.dictionary.front().format != "u") return nullptr;
    const auto stored = duckdb_enum_internal_type(type);
    const auto plain = std::ranges::find(kPlain, stored, &Plain::type);
    if (plain == kPlain.end() || plain->format != field.format) return nullptr;
    return std::make_unique<EnumColumn>(plain->width, values_of(type, pool), pool);
}

}  // namespace

bool VectorColumn::can_append(duckdb_vector /*vector*/, std::size_t /*rows*/) const { return true; }

std::unique_ptr<VectorColumn> vector_column(duckdb_logical_type type, const Field& field,
                                            const std::shared_ptr<BlockPool>& pool) {
    const auto id = duckdb_get_type_id(type);
    const bool text = field.format == "u" || field.format == "z";
    if (id == DUCKDB_TYPE_DECIMAL) return decimal_column(type, field, pool);
    if (id == DUCKDB_TYPE_ENUM) return enum_column(type, field, pool);
    if (!field.dictionary.empty() || !field.children.empty()) return nullptr;
    if ((id == DUCKDB_TYPE_VARCHAR || id == DUCKDB_TYPE_BLOB) && text)
        return std::make_unique<TextColumn>(pool);
    if (id == DUCKDB_TYPE_BOOLEAN && field.format == "b")
        return std::make_unique<BooleanColumn>(pool);
    const auto plain = std::ranges::find(kPlain, id, &Plain::type);
    if (plain == kPlain.end()) return nullptr;
    const bool alike = plain->format.ends_with(':') ? field.format.starts_with(plain->format)
                                                    : field.format == plain->format;
    return alike ? std::make_unique<FixedColumn>(plain->width, pool) : nullptr;
}

}  // namespace shortq::engine
