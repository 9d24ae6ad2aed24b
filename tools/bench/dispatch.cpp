#include "tools/bench/dispatch.h"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "tools/bench/load.h"

namespace shortq::bench {
namespace {

constexpr std::size_t kKibibyte = 1024;
constexpr std::size_t kMebibyte = kKibibyte * kKibibyte;

std::string size_name(std::size_t bytes) {
    if (bytes % kMebibyte == 0) return fmt::format("{}MiB", bytes / kMebibyte);
    if (bytes % kKibibyte == 0) return fmt::format("{}KiB", bytes / kKibibyte);
    return fmt::format("{}B", bytes);
}

bool is_large(const DispatchCell& cell) { return cell.payload_bytes >= kMebibyte; }

// ---- Figures

// Who is measured, in this order.
enum Side : std::uint8_t { kClient, kRaw, kProxy, kDirect };

// A figure is one side divided by another.
struct Figure {
    const char* suffix;
    Side side;
    Side baseline;
    const char* against;
};
constexpr std::array<Figure, 3> kFigures{{{"", kClient, kProxy, "zmq_proxy"},
                                          {".raw", kRaw, kProxy, "zmq_proxy"},
                                          {".to_direct", kClient, kDirect, "no middleman"}}};

struct Quantity {
    const char* name;
    const char* unit;
    double Achieved::*member;
    double scale;
};

std::vector<Quantity> quantities(const DispatchCell& cell) {
    constexpr double kMegabyte = 1e6;
    std::vector<Quantity> all{{"throughput", "requests/s", &Achieved::per_second, 1}};
    if (is_large(cell)) {
        all.front().unit = "MB/s";
        all.front().scale = static_cast<double>(cell.payload_bytes) / kMegabyte;
    }
    if (cell.depth == 1) {
        all.push_back({"p50", "us", &Achieved::p50_us, 1});
        all.push_back({"p99", "us", &Achieved::p99_us, 1});
    }
    return all;
}

std::string figure_name(const DispatchCell& cell, const Quantity& quantity, const Figure& figure) {
    return fmt::format("{}.{}{}", cell.name(), quantity.name, figure.suffix);
}

std::vector<double> samples_of(const std::vector<Achieved>& achieved, const Quantity& quantity) {
    std::vector<double> samples;
    samples.reserve(achieved.size());
    for (const auto& one : achieved) samples.push_back(one.*quantity.member * quantity.scale);
    return samples;
}

// ---- Measuring

struct Targets {
    ShortqTargets shortq;
    std::unique_ptr<Target> proxy;
    std::unique_ptr<Target> direct;
};

Result<Targets> start(const Site& site, const std::string& window) {
    auto shortq = start_shortq(site, window);
    if (!shortq) return tl::unexpected(shortq.error());
    auto proxy = start_proxy(site);
    if (!proxy) return tl::unexpected(proxy.error());
    auto direct = start_direct(site);
    if (!direct) return tl::unexpected(direct.error());
    return Targets{std::move(*shortq), std::move(*proxy), std::move(*direct)};
}

Result<void> measure_cell(const DispatchCell& cell, const DispatchOptions& options,
                          const Targets& targets, std::vector<Metric>& out) {
    const Load load{cell.clients, cell.depth, std::string(cell.payload_bytes, 'x'),
                    options.measured / 4, options.measured};
    const auto side = [&](const std::unique_ptr<Target>& target) {
        return [&load, &target] { return measure(*target, load); };
    };
    const auto achieved =
        interleave<Achieved>(options.rounds, {side(targets.shortq.client), side(targets.shortq.raw),
                                              side(targets.proxy), side(targets.direct)});
    if (!achieved) return tl::unexpected(achieved.error());
    for (const auto& quantity : quantities(cell)) {
        for (const auto& figure : kFigures) {
            out.push_back({figure_name(cell, quantity, figure), quantity.unit,
                           samples_of((*achieved)[figure.side], quantity), figure.against,
                           samples_of((*achieved)[figure.baseline], quantity)});
        }
    }
    return {};
}

// ---- Cells

struct Shape {
    unsigned clients;
    unsigned depth;
};
constexpr std::array<Shape, 4> kShapes{{{1, 1}, {1, 64}, {8, 8}, {64, 1}}};
constexpr std::array<unsigned, 4> kWorkers{1, 2, 4, 16};
constexpr std::array<Transport, 2> kTransports{Transport::kTcp, Transport::kIpc};
constexpr std::array<std::size_t, 3> kPayloads{32, kKibibyte, kMebibyte};
constexpr unsigned kUsualWorkers = 4;

// Those of the matrix that are wanted, in its order: cells of one site are neighbours.
template <class Wanted>
std::vector<DispatchCell> cells_where(Wanted wanted) {
    std::vector<DispatchCell> cells;
    for (const auto transport : kTransports)
        for (const auto workers : kWorkers)
            for (const auto payload : kPayloads)
                for (const auto& shape : kShapes) {
                    const DispatchCell cell{
                        shape.clients, shape.depth, {workers, transport}, payload};
                    if (wanted(cell)) cells.push_back(cell);
                }
    return cells;
}

bool is_few(const DispatchCell& cell) {
    if (cell.site.transport != Transport::kIpc) return false;
    if (cell.site.workers == kUsualWorkers)
        return cell.payload_bytes == 32 || (is_large(cell) && cell.clients * cell.depth == 1);
    return cell.site.workers == 1 && cell.payload_bytes == 32 && cell.depth == 64;
}

bool is_usual(const DispatchCell& cell) {
    if (cell.payload_bytes == 32)
        return cell.site.transport == Transport::kIpc || cell.site.workers == kUsualWorkers;
    return cell.site.workers == kUsualWorkers && cell.clients == 1;
}

}  // namespace

std::string DispatchCell::name() const {
    return fmt::format("dispatch.{}x{}.w{}.{}.{}", clients, depth, site.workers,
                       size_name(payload_bytes), site.transport == Transport::kTcp ? "tcp" : "ipc");
}

std::vector<std::string> DispatchCell::figures() const {
    std::vector<std::string> names;
    for (const auto& quantity : quantities(*this))
        for (const auto& figure : kFigures) names.push_back(figure_name(*this, quantity, figure));
    return names;
}

std::vector<DispatchCell> all_dispatch_cells() {
    return cells_where([](const DispatchCell&) { return true; });
}
std::vector<DispatchCell> usual_dispatch_cells() { return cells_where(is_usual); }
std::vector<DispatchCell> few_dispatch_cells() { return cells_where(is_few); }

Result<std::vector<Metric>> run_dispatch(const std::vector<DispatchCell>& cells,
                                         const DispatchOptions& options, Progress& progress) {
    progress.expect(cells.size());
    std::vector<Metric> metrics;
    std::optional<Targets> targets;
    const Site* site = nullptr;  // Of the targets.
    for (const auto& cell : cells) {
        progress.step(cell.name());
        if (site == nullptr || *site != cell.site) {
            targets.reset();  // The machine is free for the next ones.
            auto started = start(cell.site, options.window);
            if (!started) return tl::unexpected(started.error());
            targets = std::move(*started);
            site = &cell.site;
        }
        if (auto done = measure_cell(cell, options, *targets, metrics); !done)
            return tl::unexpected(done.error());
    }
    return metrics;
}

}  // namespace shortq::bench
