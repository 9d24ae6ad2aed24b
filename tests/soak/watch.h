// tests/soak/watch.h: memory, descriptors and threads of the processes that stay, at times of rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/soak/primary.h"

namespace shortq::soak {

struct Figures {
    double rss_mb = 0;
    double anonymous_mb = 0;  // Of it, what is not of files: what a leak adds to.
    std::int64_t files = 0;
    std::int64_t threads = 0;
};
// Of this process without what it has freed: its allocator keeps that for a time.
[[nodiscard]] Figures figures_of(pid_t pid);

// Compares like with like: every measurement is taken in the same state, with the same clients
// connected, nothing under way and every worker ready. Threads: one.
class Watch {
public:
    enum Subject { kPrimary, kForkServer, kClients, kSubjects };

    void measure(const Primary& primary, std::chrono::steady_clock::duration since_start);

    // The median of the last tenth minus the median of the second fifth, when the caches are warm;
    // 0 before there are two measurements.
    [[nodiscard]] Figures growth(Subject subject) const;
    // The worst of all subjects.
    [[nodiscard]] double rss_growth_mb() const;
    [[nodiscard]] std::int64_t file_growth() const;

    // A table of all measurements and of the growth.
    [[nodiscard]] std::string table() const;

private:
    struct Measurement {
        double seconds = 0;
        Figures of[kSubjects];
    };
    std::vector<Measurement> all_;
};

}  // namespace shortq::soak
