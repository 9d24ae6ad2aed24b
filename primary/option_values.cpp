// primary/option_values.cpp: values of options, as users write them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "primary/options.h"

namespace shortq::primary {
namespace {

// from_chars that must use all of `text`.
template <class Number>
bool parse_all(std::string_view text, Number& number) {
    const char* end = text.data() + text.size();
    const auto [used, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && used == end && !text.empty();
}

// The power of 1024 that a size's suffix stands for; negative: not a suffix.
int suffix_power(std::string_view suffix) {
    if (suffix.empty()) return 0;
    const auto power = std::string_view("KMGT").find(
        static_cast<char>(std::toupper(static_cast<unsigned char>(suffix.front()))));
    const auto rest = suffix.substr(1);
    if (power == std::string_view::npos || !(rest.empty() || rest == "B" || rest == "iB"))
        return -1;
    return static_cast<int>(power) + 1;
}

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
    const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
    const int power = suffix_power(text.substr(digits));
    double number = 0;
    const double bytes = parse_all(text.substr(0, digits), number) && power >= 0
                             ? number * std::pow(1024.0, power)
                             : -1.0;
    if (bytes < 0 || bytes > 1e18) {
        return fail(
            ErrorCode::kBadRequest,
            fmt::format("expected a size in bytes such as 4096, 256M or 1.5G, got '{}'", text));
    }
    return static_cast<std::uint64_t>(bytes);
}

Result<std::chrono::nanoseconds> parse_seconds(std::string_view text) {
    constexpr double kSecondsMax = 1e9;
    double seconds = -1;
    if (!parse_all(text, seconds) || !(seconds >= 0) || seconds > kSecondsMax) {
        return fail(ErrorCode::kBadRequest,
                    fmt::format("expected seconds such as 2 or 0.5, got '{}'", text));
    }
    return std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
}

Result<std::uint64_t> parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
    std::uint64_t number = 0;
    if (!parse_all(text, number) || number < least || number > most) {
        return fail(
            ErrorCode::kBadRequest,
            fmt::format("expected a whole number from {} to {}, got '{}'", least, most, text));
    }
    return number;
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(2, name.size() / 2) + 1;
    for (const auto& candidate : known) {
        const auto distance = edit_distance(name, candidate);
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

}  // namespace shortq::primary
