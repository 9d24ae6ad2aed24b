#include "tests/soak/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <utility>

#include "tests/end-to-end/program.h"

namespace shortq::soak {
namespace {

constexpr std::int64_t kFactor = 7919;
constexpr std::int64_t kStep = 104729;
constexpr std::int64_t kModulus = 1'000'003;

}  // namespace

std::int64_t checksum(std::int64_t version) {
    static std::mutex mutex;
    static std::map<std::int64_t, std::int64_t> known;
    const std::scoped_lock lock(mutex);
    const auto [place, fresh] = known.emplace(version, 0);
    for (std::int64_t i = 0; fresh && i < kRows; ++i)
        place->second += (i * kFactor + version * kStep) % kModulus;
    return place->second;
}

void Versions::writing(std::int64_t version) {
    const std::scoped_lock lock(mutex_);
    newest_ = std::max(newest_, version);
}

void Versions::serving(std::uint32_t generation, std::int64_t least) {
    if (restarts_) return;
    const std::scoped_lock lock(mutex_);
    least_.emplace(generation, least);
}

std::int64_t Versions::newest() const {
    const std::scoped_lock lock(mutex_);
    return newest_;
}

std::int64_t Versions::least(std::uint32_t generation) const {
    const std::scoped_lock lock(mutex_);
    auto after = least_.upper_bound(generation);
    return after == least_.begin() ? 0 : std::prev(after)->second;
}

std::uint32_t Versions::generation() const {
    const std::scoped_lock lock(mutex_);
    return least_.empty() ? 0 : least_.rbegin()->first;
}

DataFiles::DataFiles(std::filesystem::path folder, std::filesystem::path shortq)
    : folder_(std::move(folder)), shortq_(std::move(shortq)) {}

void DataFiles::replace(const std::string& name, const std::string& content) const {
    const auto fresh = folder_ / (name + ".new");
    std::ofstream file(fresh, std::ios::binary);
    file << content;
    if (!file.flush()) throw std::runtime_error("cannot write " + fresh.string());
    file.close();
    std::filesystem::rename(fresh, folder_ / name);
}

void DataFiles::write_script(bool well) {
    replace("startup.sql",
            fmt::format("attach '{}' as d (read_only);\n"
                        "create table about as from d.about;\ncreate table t as from d.t;\n{}",
                        (folder_ / "data.duckdb").string(),
                        well ? "" : "select error('this script is broken on purpose');\n"));
}

void DataFiles::refresh(std::int64_t version) {
    const auto fresh = (folder_ / "fresh.duckdb").string();
    std::filesystem::remove(fresh);
    // A start that fails leaves what its script wrote: no engine is needed here.
    replace("write.sql",
            fmt::format("attach '{}' as f;\n"
                        "create table f.about as select {}::bigint as version;\n"
                        "create table f.t as select (i * {} + {} * {}) % {} as x from range({}) "
                        "r(i);\ndetach f;\nselect error('it was written');\n",
                        fresh, version, kFactor, version, kStep, kModulus, kRows));
    const auto outcome =
        test::run(shortq_, {"--port", "0", "--spawn", "exec", "--log-level", "error", "--threads",
                            "1", "1", (folder_ / "write.sql").string()});
    if (outcome.err.find("it was written") == std::string::npos)
        throw std::runtime_error("the data cannot be written: " + outcome.err);
    std::filesystem::rename(fresh, folder_ / "data.duckdb");
}

}  // namespace shortq::soak
