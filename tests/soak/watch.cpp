#include "tests/soak/watch.h"

#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <sstream>

namespace shortq::soak {
namespace {

constexpr double kMegabyte = 1e6;
constexpr const char* kNames[Watch::kSubjects]{"primary", "fork server", "clients"};

template <class Number>
Number median_of(std::vector<Number> numbers) {
    if (numbers.empty()) return 0;
    const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::nth_element(numbers.begin(), middle, numbers.end());
    return *middle;
}

double anonymous_kilobytes(pid_t pid) {
    std::istringstream status(test::read_file("/proc/" + std::to_string(pid) + "/status"));
    for (std::string name; status >> name;) {
        double kilobytes = 0;
        if (name == "RssAnon:" && status >> kilobytes) return kilobytes;
    }
    return 0;
}

std::int64_t entries(const std::string& folder) {
    std::error_code ignored;
    return std::distance(std::filesystem::directory_iterator(folder, ignored), {});
}

}  // namespace

Figures figures_of(pid_t pid) {
    if (pid <= 0) return {};
    if (pid == ::getpid()) ::malloc_trim(0);
    return {.rss_mb = static_cast<double>(test::resident_bytes(pid)) / kMegabyte,
            .anonymous_mb = anonymous_kilobytes(pid) / 1000,
            .files = static_cast<std::int64_t>(test::open_files(pid)),
            .threads = entries("/proc/" + std::to_string(pid) + "/task")};
}

void Watch::measure(const Primary& primary, std::chrono::steady_clock::duration since_start) {
    const auto servers = primary.fork_servers();
    Measurement now;
    now.seconds = std::chrono::duration<double>(since_start).count();
    now.of[kPrimary] = figures_of(primary.pid());
    now.of[kForkServer] = figures_of(servers.empty() ? 0 : servers.front());
    now.of[kClients] = figures_of(::getpid());
    all_.push_back(now);
}

Figures Watch::growth(Subject subject) const {
    const auto count = all_.size();
    if (count < 2) return {};
    const auto fifth = std::max<std::size_t>(count / 5, 1);
    const auto tenth = std::clamp<std::size_t>(count / 10, 1, count);
    // With a few measurements only: the first, and the last.
    const auto early = std::span(all_).subspan(count < 5 ? 0 : fifth, fifth);
    const auto late =
        std::span(all_).last(count < 20 ? std::min<std::size_t>(tenth + 1, count / 2) : tenth);
    const auto median = [&](const auto& span, auto figure) {
        std::vector<std::decay_t<decltype(Figures{}.*figure)>> values;
        for (const auto& one : span) values.push_back(one.of[subject].*figure);
        return median_of(values);
    };
    const auto grown = [&](auto figure) { return median(late, figure) - median(early, figure); };
    return {.rss_mb = grown(&Figures::rss_mb),
            .anonymous_mb = grown(&Figures::anonymous_mb),
            .files = grown(&Figures::files),
            .threads = grown(&Figures::threads)};
}

double Watch::rss_growth_mb() const {
    double worst = growth(kPrimary).rss_mb;
    for (const auto subject : {kForkServer, kClients})
        worst = std::max(worst, growth(subject).rss_mb);
    return worst;
}

std::int64_t Watch::file_growth() const {
    auto worst = growth(kPrimary).files;
    for (const auto subject : {kForkServer, kClients})
        worst = std::max(worst, growth(subject).files);
    return worst;
}

std::string Watch::table() const {
    std::string text = fmt::format("{:>9}", "at rest");
    for (const auto* name : kNames) text += fmt::format(" | {:^29}", name);
    text += fmt::format("\n{:>9}", "seconds");
    for (int i = 0; i < kSubjects; ++i)
        text += fmt::format(" | {:>8} {:>8} {:>5} {:>5}", "rss MB", "anon MB", "files", "thr");
    const auto row = [&](const std::string& head, const auto& figures) {
        text += fmt::format("\n{:>9}", head);
        for (int i = 0; i < kSubjects; ++i) {
            const Figures one = figures(static_cast<Subject>(i));
            text += fmt::format(" | {:8.1f} {:8.1f} {:5} {:5}", one.rss_mb, one.anonymous_mb,
                                one.files, one.threads);
        }
    };
    for (const auto& measurement : all_) {
        row(fmt::format("{:.0f}", measurement.seconds),
            [&](Subject subject) { return measurement.of[subject]; });
    }
    row("growth", [&](Subject subject) { return growth(subject); });
    return text + '\n';
}

}  // namespace shortq::soak
