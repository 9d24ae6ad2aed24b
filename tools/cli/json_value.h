// tools/cli/json_value.h: cells of any type as JSON values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shortq/column.h"
#include "shortq/table.h"

namespace shortq::cli {

// A column of a batch, or the children of a nested one, prepared for printing row after row.
//   lists are arrays; structs objects; structs without names (rows) arrays; maps objects whose keys
//   are the keys' texts; unions {"member": value}; blobs base64; JSON columns what they hold.
class JsonValue {
public:
    // `engine_type`: the type's name in the engine; it tells apart types that share a format.
    JsonValue(const Field& field, std::string_view engine_type, const Array& array);

    void append(std::string& out, std::uint64_t row) const;

private:
    enum class Shape : std::uint8_t {
        kText,
        kNumber,
        kBoolean,
        kBytes,
        kDocument,
        kList,
        kStruct,
        kMap,
        kUnion
    };

    [[nodiscard]] static Shape shape_of(const Field& field, std::string_view engine_type);
    void append_list(std::string& out, std::uint64_t row) const;
    void append_struct(std::string& out, std::uint64_t row) const;
    void append_map(std::string& out, std::uint64_t row) const;
    void append_union(std::string& out, std::uint64_t row) const;
    // The rows of the child that belong to this row of a list or map.
    [[nodiscard]] Column::Range range(std::uint64_t row) const;

    Table cells_;  // This column alone: its accessors do the reading.
    Shape shape_;
    bool named_ = true;              // A struct whose members have names.
    std::vector<std::string> keys_;  // `"name":` of each member.
    std::vector<JsonValue> children_;
};

// `"name":` of each field. Objects have each key once: a second "a" becomes "a_1".
[[nodiscard]] std::vector<std::string> json_keys(const std::vector<Field>& fields);

}  // namespace shortq::cli
