#include "tests/soak/plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::soak {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Far beyond what a loaded machine needs: a request that has waited so long is lost.
constexpr seconds kPatience{90};
constexpr seconds kMargin{15};  // Beyond a deadline.

// Every result names its version twice, from the file and from the copy in memory.
constexpr const char* kVersions =
    "(select version from d.about) as a, (select version from about) as b";
constexpr const char* kNeverEnds = "(select count(*) from range(1000000000000) a, range(1000) b)";

std::string summing(std::uint64_t number, std::int64_t times) {
    return fmt::format(
        "select {}::bigint as n, {}, (select sum(x)::bigint // {} from d.t, range({})) as s, "
        "(select sum(x)::bigint from t) as c",
        number, kVersions, times, times);
}

std::string text_of(const Plan& plan, Random& random) {
    const auto number = plan.number;
    switch (plan.kind) {
        case Kind::kShort:
            return summing(number, 1);
        case Kind::kMedium:
            return summing(number, random.between(20, 100));
        case Kind::kLong:
            return summing(number, random.between(500, 2500));
        case Kind::kParameter:
            return fmt::format(
                "select ?::bigint as n, {}, (select sum(x)::bigint from d.t) as s, "
                "(select sum(x)::bigint from t) as c /* {} */",
                kVersions, number);
        case Kind::kLarge:
            return fmt::format(
                "select {}::bigint as n, (select version from d.about) as v, x from "
                "t, range({})",
                number, plan.repeat);
        case Kind::kError:
        case Kind::kSyncError:
            return fmt::format("select error('soak {}')", number);
        case Kind::kMissing:
            return fmt::format("select x from missing_{}", number);
        case Kind::kRefused:
            return fmt::format("create table written_{} (i int)", number);
        case Kind::kSpilling:
            return fmt::format(
                "select {}::bigint as n, count(distinct i)::bigint as l from range({}) r(i)",
                number, plan.expected);
        case Kind::kHeavy:
            return fmt::format("select {}::bigint as n, length(?)::bigint as l", number);
        case Kind::kEndless:
        case Kind::kForever:
        case Kind::kSyncEndless:
            return fmt::format("select {}::bigint as n, {} as c", number, kNeverEnds);
        case Kind::kSync:
            return fmt::format("select {}::bigint as n, sum(range)::bigint as s from range({})",
                               number, random.between(1, 1000));
        case Kind::kSyncView:
            return fmt::format("select {}::bigint as n, count(*) as c from shortq.{}", number,
                               random.one_of(std::vector<std::string>{"workers", "queries", "stats",
                                                                      "clients", "settings"}));
    }
    return {};
}

void set_outcomes(Plan& plan) {
    const auto only = [&](ErrorCode code) {
        plan.may_succeed = false;
        plan.may_fail.add(code);
    };
    if (!plan.sync) plan.may_fail.add(ErrorCode::kWorkerLost);
    if (plan.options.timeout.count() > 0) plan.may_fail.add(ErrorCode::kTimeout);
    switch (plan.kind) {
        case Kind::kError:
        case Kind::kMissing:
        case Kind::kSyncError:
            return only(ErrorCode::kQueryError);
        case Kind::kRefused:
            return only(ErrorCode::kReadOnly);
        case Kind::kEndless:
        case Kind::kSyncEndless:
            return only(ErrorCode::kTimeout);
        case Kind::kForever:
            return only(ErrorCode::kCancelled);
        default:
            return;
    }
}

bool needs_deadline(Kind kind) { return kind == Kind::kEndless || kind == Kind::kSyncEndless; }

void set_options(Plan& plan, Random& random, const Versions& versions) {
    plan.options.priority = static_cast<RequestPriority>(random.between(0, 2));
    if (needs_deadline(plan.kind)) {
        plan.options.timeout = random.milliseconds(100, 1200);
    } else if (plan.kind != Kind::kForever && random.one_in(6)) {
        plan.options.timeout = random.milliseconds(20, 3000);
    }
    if (!plan.sync && random.one_in(5)) {
        plan.options.min_generation = versions.generation();
        plan.least_version = versions.least(plan.options.min_generation);
    }
    const bool deadline = plan.options.timeout.count() > 0;
    plan.patience = deadline ? plan.options.timeout + kMargin : milliseconds(kPatience);
}

std::string wrong(const char* what, std::int64_t got, std::int64_t expected) {
    return fmt::format("{} is {}, not {}", what, got, expected);
}

// Whether a version may have answered.
std::optional<std::string> fault_of_version(const Plan& plan, std::int64_t version,
                                            std::uint32_t generation, const Versions& versions) {
    const auto oldest = std::max(plan.options.min_generation, plan.least_generation);
    if (generation < oldest) return wrong("the generation", generation, oldest) + " or later";
    const auto least = std::max(plan.least_version, versions.least(generation));
    if (version < least)
        return wrong("the version", version, least) +
               fmt::format(" or later, at generation {}", generation);
    const auto newest = versions.newest();
    if (newest != 0 && version > newest) return wrong("the version", version, newest);
    return std::nullopt;
}

std::int64_t cell(const Table& table, std::size_t column) {
    return table.integer(0, column).value_or(-1);
}

std::optional<std::string> fault_of_sum(const Plan& plan, const Table& table,
                                        const Versions& versions) {
    if (table.columns() != 5)
        return wrong("the number of columns", std::int64_t(table.columns()), 5);
    const auto version = cell(table, 1);
    if (cell(table, 2) != version) return wrong("the copy's version", cell(table, 2), version);
    for (const std::size_t sum : {3U, 4U}) {
        if (cell(table, sum) != checksum(version))
            return wrong("a sum", cell(table, sum), checksum(version)) +
                   fmt::format(" as of version {}", version);
    }
    return fault_of_version(plan, version, table.facts().generation, versions);
}

}  // namespace

const char* name_of(Kind kind) noexcept {
    switch (kind) {
        case Kind::kShort:
            return "short";
        case Kind::kParameter:
            return "parameter";
        case Kind::kMedium:
            return "medium";
        case Kind::kLong:
            return "long";
        case Kind::kLarge:
            return "large";
        case Kind::kError:
            return "error";
        case Kind::kMissing:
            return "missing";
        case Kind::kRefused:
            return "refused";
        case Kind::kSpilling:
            return "spilling";
        case Kind::kHeavy:
            return "heavy";
        case Kind::kEndless:
            return "endless";
        case Kind::kForever:
            return "forever";
        case Kind::kSync:
            return "sync";
        case Kind::kSyncError:
            return "sync error";
        case Kind::kSyncView:
            return "sync view";
        case Kind::kSyncEndless:
            return "sync endless";
    }
    return "?";
}

Kind draw(Random& random, const Mix& mix) {
    std::int64_t sum = 0;
    for (const auto& [kind, weight] : mix) sum += weight;
    auto left = random.between(1, sum);
    for (const auto& [kind, weight] : mix) {
        left -= weight;
        if (left <= 0) return kind;
    }
    return mix.back().first;
}

Plan make_plan(Random& random, Kind kind, std::uint64_t number, const Versions& versions) {
    Plan plan;
    plan.number = number;
    plan.kind = kind;
    plan.sync = kind >= Kind::kSync;
    if (kind == Kind::kLarge) plan.repeat = random.one_in(8) ? 30 : random.between(1, 8);
    if (kind == Kind::kParameter)
        plan.parameters.push_back({{}, static_cast<std::int64_t>(number)});
    if (kind == Kind::kSpilling) plan.expected = random.between(2'000'000, 4'000'000);
    if (kind == Kind::kHeavy) {
        plan.expected = random.between(1'000'000, 6'000'000);
        plan.parameters.push_back({{}, std::string(std::size_t(plan.expected), 'x')});
    }
    plan.text = text_of(plan, random);
    set_options(plan, random, versions);
    set_outcomes(plan);
    return plan;
}

void allow_cancel(Plan& plan) { plan.may_fail.add(ErrorCode::kCancelled); }

void allow_restart(Plan& plan) {
    if (plan.sync || plan.kind == Kind::kLarge) plan.may_fail.add(ErrorCode::kConnection);
}

std::optional<std::string> fault_of_error(const Plan& plan, const Error& error) {
    const auto told = fmt::format("{}: {} ({})", name_of(error.code), error.message, error.where);
    // A worker may have too little memory for it, even if it spills.
    const bool too_big = error.code == ErrorCode::kQueryError && plan.kind == Kind::kSpilling &&
                         error.message.find("Out of Memory") != std::string::npos;
    if (too_big) return std::nullopt;
    if (!plan.may_fail.has(error.code)) return "an error that it should not get: " + told;
    const bool own_words = error.code == ErrorCode::kQueryError;
    if (own_words && error.message.find(std::to_string(plan.number)) == std::string::npos)
        return "another one's error: " + told;
    return std::nullopt;
}

std::optional<std::string> fault_of_result(const Plan& plan, const Table& table,
                                           const Versions& versions) {
    if (!plan.may_succeed) return fmt::format("a result of {} rows to what has none", table.rows());
    if (plan.kind == Kind::kLarge) {
        LargeCheck check(plan);
        check.add(table);
        return check.finish(table.facts(), versions);
    }
    if (table.rows() != 1) return wrong("the number of rows", std::int64_t(table.rows()), 1);
    if (cell(table, 0) != std::int64_t(plan.number))
        return wrong("its number", cell(table, 0), std::int64_t(plan.number));
    if (plan.sync) return std::nullopt;
    const auto& facts = table.facts();
    if (facts.worker == 0) return "a reply of nobody's";
    if (facts.rows != 1) return wrong("its facts' number of rows", std::int64_t(facts.rows), 1);
    if (plan.kind == Kind::kSpilling || plan.kind == Kind::kHeavy) {
        if (cell(table, 1) == plan.expected) return std::nullopt;
        return wrong("the second column", cell(table, 1), plan.expected);
    }
    return fault_of_sum(plan, table, versions);
}

void LargeCheck::add(const Table& piece) {
    if (piece.columns() != 3 && !fault_)
        fault_ = wrong("the number of columns", std::int64_t(piece.columns()), 3);
    for (std::size_t batch = 0; batch < piece.batches().size() && !fault_; ++batch)
        add_batch(piece, batch);
}

void LargeCheck::add_batch(const Table& piece, std::size_t batch) {
    const auto numbers = piece.values<std::int64_t>(batch, 0);
    const auto versions = piece.values<std::int64_t>(batch, 1);
    const auto values = piece.values<std::int64_t>(batch, 2);
    if (!numbers || !versions || !values) {
        fault_ = "a column that is no BIGINT";
        return;
    }
    if (!versions->empty() && version_ == 0) version_ = (*versions)[0];
    for (std::size_t row = 0; row < values->size(); ++row) {
        if ((*numbers)[row] != std::int64_t(plan_.number)) {
            fault_ = wrong("its number", (*numbers)[row], std::int64_t(plan_.number));
        } else if ((*versions)[row] != version_) {
            fault_ = wrong("a row's version", (*versions)[row], version_);
        }
        if (fault_) return;
        sum_ += (*values)[row];
    }
    rows_ += std::int64_t(values->size());
}

std::optional<std::string> LargeCheck::finish(const ReplyFacts& facts, const Versions& versions) {
    if (fault_) return fault_;
    if (rows_ != kRows * plan_.repeat)
        return wrong("the number of rows", rows_, kRows * plan_.repeat);
    if (std::int64_t(facts.rows) != rows_)
        return wrong("its facts' number of rows", std::int64_t(facts.rows), rows_);
    if (sum_ != checksum(version_) * plan_.repeat)
        return wrong("the sum", sum_, checksum(version_) * plan_.repeat);
    return fault_of_version(plan_, version_, facts.generation, versions);
}

}  // namespace shortq::soak
