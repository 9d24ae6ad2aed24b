// tools/bench/start_report.cpp: what was measured of workers' lives, for people and programs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/bench/start.h"
#include "tools/bench/statistics.h"

namespace shortq::bench {
namespace {

// What a row is compared with.
const StartRow& first_like(const std::vector<StartRow>& rows, const StartRow& row) {
    return *std::ranges::find_if(rows, [&](const StartRow& other) {
        return other.source == row.source && other.spawn == row.spawn;
    });
}

// The same with workers that load for themselves; null: was not measured, or is the row itself.
const StartRow* loaded_like(const std::vector<StartRow>& rows, const StartRow& row) {
    const auto found = std::ranges::find_if(rows, [&](const StartRow& other) {
        return other.source == row.source && other.workers == row.workers &&
               other.spawn == "exec" && row.spawn != "exec";
    });
    return found == rows.end() ? nullptr : &*found;
}

std::string name_of(const StartRow& row, std::string_view figure) {
    std::string source = row.source;
    std::ranges::replace(source, ' ', '_');
    return fmt::format("start.{}.{}.w{}.{}", source, row.spawn, row.workers, figure);
}

std::string replaced(const StartRow& row) {
    if (row.replaced_ms.empty()) return "-";
    const auto [least, most] = std::ranges::minmax(row.replaced_ms);
    return fmt::format("{:.0f} ms ({:.0f} to {:.0f}, {} kills)", median(row.replaced_ms), least,
                       most, row.replaced_ms.size());
}

std::string reloaded(const StartRow& row) {
    if (row.reload_s.empty()) return "-";
    return fmt::format("{:.2f} s, queries/s x {:.2f}", median(row.reload_s),
                       median(ratios(row.asked_during, row.asked_before)));
}

}  // namespace

std::string as_table(const std::vector<StartRow>& rows) {
    std::size_t width = 6;
    for (const auto& row : rows) width = std::max(width, row.source.size());
    std::string table = fmt::format("{:<{}}  {:<5} {:>7} {:>10} {:>6} {:>10} {:>6}  {:<24}  {}\n",
                                    "source", width, "spawn", "workers", "all ready", "ratio",
                                    "memory", "ratio", "reload", "killed one replaced");
    for (const auto& row : rows) {
        const auto& first = first_like(rows, row);
        table += fmt::format(
            "{:<{}}  {:<5} {:>7} {:>8.2f} s {:>6.2f} {:>7.0f} MB {:>6.2f}  {:<24}  {}\n",
            row.source, width, row.spawn, row.workers, median(row.ready_s),
            median(row.ready_s) / median(first.ready_s), row.memory_mb,
            row.memory_mb / first.memory_mb, reloaded(row), replaced(row));
    }
    return table;
}

std::vector<Metric> as_metrics(const std::vector<StartRow>& rows) {
    std::vector<Metric> metrics;
    for (const auto& row : rows) {
        const auto* loaded = loaded_like(rows, row);
        const auto& other = loaded != nullptr ? *loaded : first_like(rows, row);
        const auto against =
            loaded != nullptr ? std::string("exec") : fmt::format("workers: {}", other.workers);
        const auto add = [&](const char* figure, const char* unit, std::vector<double> samples,
                             std::vector<double> baseline) {
            metrics.push_back(
                {name_of(row, figure), unit, std::move(samples), against, std::move(baseline)});
        };
        add("all_ready", "s", row.ready_s, other.ready_s);
        add("pss", "MB", {row.memory_mb}, {other.memory_mb});
        if (!row.replaced_ms.empty())
            add("killed_to_answer", "ms", row.replaced_ms, other.replaced_ms);
        if (row.reload_s.empty()) continue;
        add("reload", "s", row.reload_s, other.reload_s);
        metrics.push_back({name_of(row, "reload.throughput"), "queries/s", row.asked_during,
                           "before it", row.asked_before});
    }
    return metrics;
}

}  // namespace shortq::bench
