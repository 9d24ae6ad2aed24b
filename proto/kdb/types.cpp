#include "proto/kdb/types.h"

#include <array>
#include <string_view>

namespace shortq::kdb {
namespace {

constexpr std::array<std::string_view, 20> kVectors{
    "list", "boolean",  "guid",     "",       "byte",   "short",     "int",
    "long", "real",     "float",    "char",   "symbol", "timestamp", "month",
    "date", "datetime", "timespan", "minute", "second", "time"};
constexpr std::array<std::string_view, 14> kOthers{"table",
                                                   "dictionary",
                                                   "function",
                                                   "(::) or a primitive function",
                                                   "operator",
                                                   "iterator",
                                                   "projection",
                                                   "composition",
                                                   "function that an iterator made",
                                                   "function that an iterator made",
                                                   "function that an iterator made",
                                                   "function that an iterator made",
                                                   "function that an iterator made",
                                                   "function that an iterator made"};

std::string_view known_name(int type) {
    const int vector = type < 0 ? -type : type;
    if (type == static_cast<int>(Type::kError)) return "error";
    if (type == static_cast<int>(Type::kSortedDictionary)) return "sorted dictionary";
    if (vector < static_cast<int>(kVectors.size()))
        return kVectors[static_cast<std::size_t>(vector)];
    const int other = type - static_cast<int>(Type::kTable);
    if (other < 0 || other >= static_cast<int>(kOthers.size())) return {};
    return kOthers[static_cast<std::size_t>(other)];
}

}  // namespace

std::string name_of_type(std::int8_t type) {
    const std::string_view known = known_name(type);
    if (known.empty()) return "type " + std::to_string(type);
    std::string name(known);
    if (type > 0 && type < static_cast<int>(kVectors.size())) name += " vector";
    return name;
}

}  // namespace shortq::kdb
