#include "worker/engine/duckdb_types.h"

#include <array>
#include <utility>

#include "worker/engine/duckdb_handles.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

// The library knows this type, the C header does not yet.
constexpr auto kGeometry = static_cast<duckdb_type>(40);

constexpr std::array<std::pair<duckdb_type, std::string_view>, 34> kPlainTypes{{
    {kGeometry, "GEOMETRY"},
    {DUCKDB_TYPE_BOOLEAN, "BOOLEAN"},
    {DUCKDB_TYPE_TINYINT, "TINYINT"},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT"},
    {DUCKDB_TYPE_INTEGER, "INTEGER"},
    {DUCKDB_TYPE_BIGINT, "BIGINT"},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT"},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT"},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER"},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT"},
    {DUCKDB_TYPE_FLOAT, "FLOAT"},
    {DUCKDB_TYPE_DOUBLE, "DOUBLE"},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP"},
    {DUCKDB_TYPE_DATE, "DATE"},
    {DUCKDB_TYPE_TIME, "TIME"},
    {DUCKDB_TYPE_INTERVAL, "INTERVAL"},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT"},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT"},
    {DUCKDB_TYPE_VARCHAR, "VARCHAR"},
    {DUCKDB_TYPE_BLOB, "BLOB"},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S"},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS"},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS"},
    {DUCKDB_TYPE_UUID, "UUID"},
    {DUCKDB_TYPE_BIT, "BIT"},
    {DUCKDB_TYPE_TIME_TZ, "TIME WITH TIME ZONE"},
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"},
    {DUCKDB_TYPE_ANY, "ANY"},
    {DUCKDB_TYPE_BIGNUM, "BIGNUM"},
    {DUCKDB_TYPE_SQLNULL, "NULL"},
    {DUCKDB_TYPE_STRING_LITERAL, "VARCHAR"},
    {DUCKDB_TYPE_INTEGER_LITERAL, "INTEGER"},
    {DUCKDB_TYPE_TIME_NS, "TIME_NS"},
    {DUCKDB_TYPE_INVALID, "UNKNOWN"},
}};

std::string plain_name(duckdb_type id) {
    for (const auto& [plain, name] : kPlainTypes) {
        if (plain == id) return std::string(name);
    }
    return "UNKNOWN";
}

std::string enum_name(duckdb_logical_type type) {
    std::string out = "ENUM(";
    const idx_t count = duckdb_enum_dictionary_size(type);
    for (idx_t i = 0; i < count; ++i) {
        if (i > 0) out += ", ";
        out += quote_literal(take_string(duckdb_enum_dictionary_value(type, i)));
    }
    return out += ')';
}

// Quoted only where it must be, as DuckDB's typeof() does.
std::string member_name(const std::string& name) {
    const bool plain =
        !name.empty() && (name[0] < '0' || name[0] > '9') &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
    return plain ? name : quote_identifier(name);
}

// Shared by STRUCT and UNION, whose C functions differ only in their names.
template <class Count, class Name, class Child>
std::string members(duckdb_logical_type type, std::string head, Count count, Name name,
                    Child child) {
    head += '(';
    for (idx_t i = 0; i < count(type); ++i) {
        if (i > 0) head += ", ";
        const LogicalType member(child(type, i));
        head += member_name(take_string(name(type, i))) + ' ' + type_name(member.get());
    }
    return head += ')';
}

}  // namespace

std::string type_name(duckdb_logical_type type) {
    if (std::string alias = take_string(duckdb_logical_type_get_alias(type)); !alias.empty()) {
        return alias;
    }
    const duckdb_type id = duckdb_get_type_id(type);
    switch (id) {
        case DUCKDB_TYPE_DECIMAL:
            return "DECIMAL(" + std::to_string(duckdb_decimal_width(type)) + ',' +
                   std::to_string(duckdb_decimal_scale(type)) + ')';
        case DUCKDB_TYPE_ENUM:
            return enum_name(type);
        case DUCKDB_TYPE_LIST:
            return type_name(LogicalType(duckdb_list_type_child_type(type)).get()) + "[]";
        case DUCKDB_TYPE_ARRAY:
            return type_name(LogicalType(duckdb_array_type_child_type(type)).get()) + '[' +
                   std::to_string(duckdb_array_type_array_size(type)) + ']';
        case DUCKDB_TYPE_MAP:
            return "MAP(" + type_name(LogicalType(duckdb_map_type_key_type(type)).get()) + ", " +
                   type_name(LogicalType(duckdb_map_type_value_type(type)).get()) + ')';
        case DUCKDB_TYPE_STRUCT:
            return members(type, "STRUCT", duckdb_struct_type_child_count,
                           duckdb_struct_type_child_name, duckdb_struct_type_child_type);
        case DUCKDB_TYPE_UNION:
            return members(type, "UNION", duckdb_union_type_member_count,
                           duckdb_union_type_member_name, duckdb_union_type_member_type);
        default:
            return plain_name(id);
    }
}

duckdb_type host_type(std::string_view name) {
    constexpr std::array kHostTypes{DUCKDB_TYPE_BIGINT,  DUCKDB_TYPE_DOUBLE, DUCKDB_TYPE_VARCHAR,
                                    DUCKDB_TYPE_BOOLEAN, DUCKDB_TYPE_DATE,   DUCKDB_TYPE_TIMESTAMP,
                                    DUCKDB_TYPE_BLOB};
    for (const duckdb_type type : kHostTypes) {
        if (plain_name(type) == name) return type;
    }
    return DUCKDB_TYPE_INVALID;
}

}  // namespace shortq::engine
