// tools/bench/memory_report.cpp: what was measured of workers' memory, for people and programs.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/bench/memory.h"
#include "tools/bench/statistics.h"

namespace shortq::bench {
namespace {

// What a row is compared with.
const MemoryRow& first_like(const std::vector<MemoryRow>& rows, const MemoryRow& row) {
    return *std::ranges::find_if(rows, [&](const MemoryRow& other) {
        return other.source == row.source && other.spawn == row.spawn;
    });
}

std::string name_of(const MemoryRow& row, std::string_view figure) {
    std::string source = row.source;
    std::ranges::replace(source, ' ', '_');
    return fmt::format("memory.{}.{}.w{}.{}", source, row.spawn, row.workers, figure);
}

std::string replaced(const MemoryRow& row) {
    if (row.replaced_ms.empty()) return "-";
    const auto [least, most] = std::ranges::minmax(row.replaced_ms);
    return fmt::format("{:.0f} ms ({:.0f} to {:.0f}, {} kills)", median(row.replaced_ms), least,
                       most, row.replaced_ms.size());
}

}  // namespace

std::string as_table(const std::vector<MemoryRow>& rows) {
    std::size_t width = 6;
    for (const auto& row : rows) width = std::max(width, row.source.size());
    std::string table =
        fmt::format("{:<{}}  {:<5} {:>7} {:>10} {:>6} {:>10} {:>6}  {}\n", "source", width, "spawn",
                    "workers", "all ready", "ratio", "memory", "ratio", "killed one replaced");
    for (const auto& row : rows) {
        const auto& first = first_like(rows, row);
        table += fmt::format("{:<{}}  {:<5} {:>7} {:>8.2f} s {:>6.2f} {:>7.0f} MB {:>6.2f}  {}\n",
                             row.source, width, row.spawn, row.workers, median(row.ready_s),
                             median(row.ready_s) / median(first.ready_s), row.memory_mb,
                             row.memory_mb / first.memory_mb, replaced(row));
    }
    return table;
}

std::vector<Metric> as_metrics(const std::vector<MemoryRow>& rows) {
    std::vector<Metric> metrics;
    for (const auto& row : rows) {
        const auto& first = first_like(rows, row);
        const auto against = fmt::format("workers: {}", first.workers);
        const auto add = [&](const char* figure, const char* unit, std::vector<double> samples,
                             std::vector<double> baseline) {
            metrics.push_back(
                {name_of(row, figure), unit, std::move(samples), against, std::move(baseline)});
        };
        add("all_ready", "s", row.ready_s, first.ready_s);
        add("pss", "MB", {row.memory_mb}, {first.memory_mb});
        if (!row.replaced_ms.empty())
            add("killed_to_answer", "ms", row.replaced_ms, first.replaced_ms);
    }
    return metrics;
}

}  // namespace shortq::bench
