#include "worker/engine/duckdb_parameters.h"

#include <algorithm>
#include <type_traits>

#include "worker/engine/duckdb_errors.h"

namespace shortq::engine {
namespace {

// The statement's own names: "1", "2" for positional ones.
std::vector<std::string> names_of(duckdb_prepared_statement prepared) {
    std::vector<std::string> names;
    const idx_t count = duckdb_nparams(prepared);
    for (idx_t i = 1; i <= count; ++i) {
        names.push_back(take_string(const_cast<char*>(duckdb_parameter_name(prepared, i))));
    }
    return names;
}

bool is_positional(const std::string& name) {
    return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

std::string counted(std::size_t count) {
    return std::to_string(count) + (count == 1 ? " parameter" : " parameters");
}

std::string listed(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "$" : ", $") + name;
    return out;
}

// The name that parameter number `place` (from 1) binds to.
std::string target_of(const Parameter& parameter, std::size_t place) {
    return parameter.name.empty() ? std::to_string(place) : parameter.name;
}

Result<void> check(const std::vector<std::string>& wanted, std::span<const Parameter> given) {
    const bool positional = std::ranges::all_of(wanted, is_positional);
    const bool unnamed =
        std::ranges::all_of(given, [](const Parameter& p) { return p.name.empty(); });
    if (positional && unnamed && wanted.size() != given.size()) {
        return fail(ErrorCode::kBadRequest, "the query takes " + counted(wanted.size()) + ", " +
                                                std::to_string(given.size()) +
                                                (given.size() == 1 ? " was" : " were") + " given");
    }
    std::vector<std::string> targets;
    for (std::size_t i = 0; i < given.size(); ++i) {
        std::string target = target_of(given[i], i + 1);
        if (std::ranges::find(wanted, target) == wanted.end()) {
            return fail(ErrorCode::kBadRequest,
                        "the query has no parameter $" + target +
                            (wanted.empty() ? "; it has none" : "; it has " + listed(wanted)));
        }
        if (std::ranges::find(targets, target) != targets.end()) {
            return fail(ErrorCode::kBadRequest, "parameter $" + target + " is given twice");
        }
        targets.push_back(std::move(target));
    }
    std::vector<std::string> missing;
    std::ranges::copy_if(wanted, std::back_inserter(missing), [&](const std::string& name) {
        return std::ranges::find(targets, name) == targets.end();
    });
    if (missing.empty()) return {};
    return fail(ErrorCode::kBadRequest, "no value was given for " + listed(missing));
}

}  // namespace

DuckValue to_duckdb(const Value& value) {
    return std::visit(
        [](const auto& v) {
            using T = std::decay_t<decltype(v)>;
            if constexpr (std::is_same_v<T, Null>) {
                return DuckValue(duckdb_create_null_value());
            } else if constexpr (std::is_same_v<T, bool>) {
                return DuckValue(duckdb_create_bool(v));
            } else if constexpr (std::is_same_v<T, std::int64_t>) {
                return DuckValue(duckdb_create_int64(v));
            } else if constexpr (std::is_same_v<T, double>) {
                return DuckValue(duckdb_create_double(v));
            } else if constexpr (std::is_same_v<T, std::string>) {
                return DuckValue(duckdb_create_varchar_length(v.data(), v.size()));
            } else if constexpr (std::is_same_v<T, Blob>) {
                return DuckValue(duckdb_create_blob(
                    reinterpret_cast<const std::uint8_t*>(v.bytes.data()), v.bytes.size()));
            } else if constexpr (std::is_same_v<T, Date>) {
                return DuckValue(duckdb_create_date({v.days}));
            } else {
                return DuckValue(duckdb_create_timestamp({v.microseconds}));
            }
        },
        value);
}

Value from_duckdb(duckdb_value value, duckdb_type type) {
    if (value == nullptr || duckdb_is_null_value(value)) return Null{};
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN:
            return duckdb_get_bool(value);
        case DUCKDB_TYPE_BIGINT:
            return duckdb_get_int64(value);
        case DUCKDB_TYPE_DOUBLE:
            return duckdb_get_double(value);
        case DUCKDB_TYPE_DATE:
            return Date{duckdb_get_date(value).days};
        case DUCKDB_TYPE_TIMESTAMP:
            return Timestamp{duckdb_get_timestamp(value).micros};
        default:
            return take_string(duckdb_get_varchar(value));
    }
}

Result<void> bind_parameters(duckdb_prepared_statement prepared,
                             std::span<const Parameter> parameters) {
    const std::vector<std::string> names = names_of(prepared);
    if (auto checked = check(names, parameters); !checked) return checked;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const std::string target = target_of(parameters[i], i + 1);
        const auto place = std::ranges::find(names, target) - names.begin() + 1;
        const DuckValue value = to_duckdb(parameters[i].value);
        if (!value ||
            duckdb_bind_value(prepared, static_cast<idx_t>(place), value.get()) != DuckDBSuccess) {
            return fail(ErrorCode::kBadRequest,
                        "parameter $" + target + " has a value the engine does not take" +
                            (value ? std::string(": ") + duckdb_prepare_error(prepared) : ""));
        }
    }
    return {};
}

}  // namespace shortq::engine
