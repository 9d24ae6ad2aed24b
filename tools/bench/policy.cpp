// tools/bench/policy.cpp: the same traces for every variant, each with a primary of its own.
#include "tools/bench/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <map>
#include <memory>
#include <utility>

#include "tools/bench/child.h"
#include "tools/bench/open_loop.h"
#include "tools/bench/policy_model.h"
#include "tools/bench/temporary_folder.h"

namespace shortq::bench {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using Stays = std::vector<nanoseconds>;

// Workers that sleep leave the processors alone, so several variants are asked at the same time, as
// long as they do no more than this together: what dispatching costs must not meet.
constexpr double kRequestsPerSecondMax = 1400;

struct Server {
    Child primary;
    OpenLoop client;
};

Result<Server> start(const PolicyVariant& variant, unsigned workers, const std::string& source) {
    auto primary = Child::start({program_next_to_this_one("shortq"), "-p", "0", "--engine", "test",
                                 "--window", variant.window, "--policy", variant.policy,
                                 "--log-level", "warn", std::to_string(workers), source});
    if (!primary) return tl::unexpected(primary.error());
    auto client = OpenLoop::connect(endpoint_in(primary->first_line()));
    if (!client) return tl::unexpected(client.error());
    return Server{std::move(*primary), std::move(*client)};
}

// Of a few workers longer, to have as many requests.
nanoseconds length_of(const PolicyCell& cell, double stretch) {
    const double means = 30 + 1480.0 / cell.workers;
    return nanoseconds(static_cast<std::int64_t>(1e6 * cell.mean_ms * means * stretch));
}

std::string letters(unsigned number) {
    std::string word;
    for (; number > 0; number /= 26) word += static_cast<char>('a' + number % 26);
    return word;
}

// One number of workers: its primaries, and every cell and seed.
class PolicyRun {
public:
    PolicyRun(const PolicyOptions& options, Progress& progress)
        : options_(options), progress_(progress) {
        source_ = (folder_.path() / "nothing.sql").string();
        std::ofstream(source_) << "# The test engine needs no data.\n";
    }

    // A metric for each figure. Pre: all of the same cell and seed are compared only with each
    // other, and cells of the same number of workers follow each other.
    Result<void> measure(const PolicyCell& cell, const std::vector<PolicyFigure>& figures,
                         std::vector<Metric>& metrics) {
        if (cell.workers != workers_) servers_.clear();
        workers_ = cell.workers;
        const auto first = metrics.size();
        for (const auto& figure : figures) {
            metrics.push_back(
                {figure.name, "ms", {}, figure.against.empty() ? "ideal queue" : figure.against});
        }
        for (unsigned seed = 1; seed <= options_.seeds; ++seed) {
            const auto trace = make_trace({.mix = cell.mix,
                                           .mean = milliseconds(cell.mean_ms),
                                           .servers = cell.workers,
                                           .load = cell.load / 100.0,
                                           .length = length_of(cell, options_.stretch),
                                           .seed = seed});
            auto stays = replay(cell, trace, figures, seed);
            if (!stays) return tl::unexpected(stays.error());
            (*stays)[""] = ideal_stays(trace, cell.workers);
            for (std::size_t i = 0; i < figures.size(); ++i) {
                const auto& figure = figures[i];
                auto& metric = metrics[first + i];
                metric.samples.push_back(value_of(figure, trace, (*stays)[figure.variant]));
                metric.baseline_samples.push_back(
                    value_of(figure, trace, (*stays)[figure.against]));
            }
        }
        return {};
    }

private:
    // By name of the variant.
    Result<std::map<std::string, Stays>> replay(const PolicyCell& cell, const Trace& trace,
                                                const std::vector<PolicyFigure>& figures,
                                                unsigned seed) {
        auto variants = variants_of(figures);
        if (options_.model_hop) return model(cell, trace, variants);
        if (seed % 2 == 0) std::ranges::reverse(variants);
        const double each = cell.workers * cell.load * 10.0 / cell.mean_ms;
        const auto at_once = std::max<std::size_t>(
            1, static_cast<std::size_t>(kRequestsPerSecondMax / std::max(each, 1.0)));
        std::map<std::string, Stays> all;
        for (std::size_t next = 0; next < variants.size(); next += at_once) {
            progress_.step(name_of(cell, variants[next].name));
            const auto end = std::min(variants.size(), next + at_once);
            auto done = replay_at_once({variants.begin() + static_cast<std::ptrdiff_t>(next),
                                        variants.begin() + static_cast<std::ptrdiff_t>(end)},
                                       trace, all);
            if (!done) return tl::unexpected(done.error());
        }
        return all;
    }

    std::map<std::string, Stays> model(const PolicyCell& cell, const Trace& trace,
                                       const std::vector<PolicyVariant>& variants) {
        std::map<std::string, Stays> all;
        for (const auto& variant : variants) {
            progress_.step(name_of(cell, variant.name));
            all[variant.name] = modelled_stays(
                trace, {.workers = cell.workers,
                        .window = variant.window == "auto"
                                      ? core::kWindowAuto
                                      : static_cast<std::uint32_t>(std::stoul(variant.window)),
                        .policy = variant.policy == "random"        ? core::Policy::kRandom
                                  : variant.policy == "round-robin" ? core::Policy::kRoundRobin
                                                                    : core::Policy::kShortestQueue,
                        .per_class = variant.per_class,
                        .hop = *options_.model_hop});
        }
        return all;
    }

    Result<void> replay_at_once(const std::vector<PolicyVariant>& variants, const Trace& trace,
                                std::map<std::string, Stays>& all) {
        // Nothing is known of a trace's requests when it begins.
        const auto tag = letters(++traces_);
        std::map<std::string, std::future<Result<Stays>>> under_way;
        for (const auto& variant : variants) {
            auto server = server_of(variant);
            if (!server) return tl::unexpected(server.error());
            const OpenLoop::Words words{tag + "-short",
                                        tag + (variant.per_class ? "-long" : "-short")};
            under_way[variant.name] =
                std::async(std::launch::async, [client = &(*server)->client, &trace, words] {
                    return client->replay(trace, words);
                });
        }
        Result<void> result;
        for (auto& [name, future] : under_way) {
            auto stays = future.get();
            if (stays) {
                all[name] = std::move(*stays);
            } else {
                stays.error().where = name;
                result = tl::unexpected(stays.error());
            }
        }
        return result;
    }

    // Each one that a figure needs, once.
    static std::vector<PolicyVariant> variants_of(const std::vector<PolicyFigure>& figures) {
        std::vector<PolicyVariant> variants;
        for (const auto& variant : policy_variants()) {
            const auto needed = std::ranges::any_of(figures, [&](const PolicyFigure& figure) {
                return figure.variant == variant.name || figure.against == variant.name;
            });
            if (needed) variants.push_back(variant);
        }
        return variants;
    }

    Result<Server*> server_of(const PolicyVariant& variant) {
        auto found = servers_.find(variant.name);
        if (found == servers_.end()) {
            auto started = start(variant, workers_, source_);
            if (!started) return tl::unexpected(started.error());
            found = servers_.emplace(variant.name, std::move(*started)).first;
        }
        return &found->second;
    }

    const PolicyOptions& options_;
    Progress& progress_;
    TemporaryFolder folder_;
    std::string source_;
    unsigned workers_ = 0;
    unsigned traces_ = 0;
    std::map<std::string, Server> servers_;
};

using Plan = std::vector<std::pair<PolicyCell, std::vector<PolicyFigure>>>;

Plan plan_of(const PolicyOptions& options, const Setting& setting) {
    Plan plan;
    const auto add = [&](const PolicyCell& cell) {
        auto figures = policy_figures(cell);
        std::erase_if(figures, [&](const auto& figure) { return !setting.wants(figure.name); });
        if (!figures.empty()) plan.emplace_back(cell, std::move(figures));
    };
    for (const auto workers : options.workers)
        for (const auto mean : options.means_ms)
            for (const auto mix : options.mixes)
                for (const auto load : options.loads) add({mix, workers, mean, load});
    return plan;
}

}  // namespace

Result<std::vector<Metric>> run_policy(const PolicyOptions& options, const Setting& setting,
                                       Progress& progress) {
    PolicyRun run(options, progress);
    std::vector<Metric> metrics;
    for (const auto& [cell, figures] : plan_of(options, setting)) {
        if (auto done = run.measure(cell, figures, metrics); !done) {
            return tl::unexpected(done.error());
        }
    }
    return metrics;
}

}  // namespace shortq::bench
