// tools/bench/policy.h: how long requests stay, by how workers are given them, compared with an
// ideal queue.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/error.h"
#include "tools/bench/commands.h"
#include "tools/bench/trace.h"

namespace shortq::bench {

struct PolicyOptions {
    std::vector<Mix> mixes{Mix::kOneIn20, Mix::kOneIn200, Mix::kExponential, Mix::kLognormal};
    std::vector<unsigned> workers{4, 16};
    std::vector<unsigned> means_ms{10, 1};
    std::vector<unsigned> loads{50, 80, 90};  // Percent.
    unsigned seeds = 3;
    double stretch = 1;  // Of the traces' length.
    // Not real primaries but the core in virtual time, where each message takes this long.
    std::optional<std::chrono::microseconds> model_hop;
};

// One way to run a primary and to ask it.
struct PolicyVariant {
    std::string name;
    std::string window;
    std::string policy;
    bool per_class =
        false;  // Short requests and long ones have statements, so fingerprints, apart.
};
// "auto" (a fingerprint per class), "auto-one" (one for all), "window1", "window2", "window0",
// "round-robin" and "random" (both without a window).
[[nodiscard]] const std::vector<PolicyVariant>& policy_variants();

// What all variants are measured with.
struct PolicyCell {
    Mix mix = Mix::kOneIn20;
    unsigned workers = 4;
    unsigned mean_ms = 10;
    unsigned load = 80;
};
// "policy.95-5.load80.auto.w4.mean10ms"
[[nodiscard]] std::string name_of(const PolicyCell& cell, const std::string& variant);

// A percentile of a variant's stays, and what it is divided by. Empty `against`: the ideal queue.
struct PolicyFigure {
    std::string name{};  // "policy.95-5.load80.auto.w4.mean10ms.p99", "... .short.p99"
    std::string variant{};
    std::string against{};
    bool short_only = false;
    double share = 0.5;
};
[[nodiscard]] std::vector<PolicyFigure> policy_figures(const PolicyCell& cell);

// Of the stays in milliseconds. Pre: one stay for each request.
[[nodiscard]] double value_of(const PolicyFigure& figure, const Trace& trace,
                              const std::vector<std::chrono::nanoseconds>& stays);

// Errors: kInternal if a server does not start; what a request fails with.
[[nodiscard]] Result<std::vector<Metric>> run_policy(const PolicyOptions& options,
                                                     const Setting& setting, Progress& progress);

}  // namespace shortq::bench
