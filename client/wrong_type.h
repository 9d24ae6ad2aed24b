// client/wrong_type.h: what people read who ask a column for what it is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/columnar.h"
#include "proto/error.h"

namespace shortq::detail {

[[nodiscard]] inline tl::unexpected<Error> wrong_type(const Field& field, std::string_view wanted) {
    const auto& type = field.engine_type.empty() ? field.format : field.engine_type;
    return fail(ErrorCode::kBadRequest,
                "column \"" + field.name + "\" has type " + type + ": not " + std::string(wanted));
}

[[nodiscard]] inline tl::unexpected<Error> no_such(std::string_view name,
                                                   const std::vector<Field>& fields) {
    std::string names;
    for (const auto& field : fields) names += (names.empty() ? "" : ", ") + field.name;
    return fail(ErrorCode::kNotFound, "no column \"" + std::string(name) + "\"; there " +
                                          (names.empty() ? "are none" : "is: " + names));
}

}  // namespace shortq::detail
