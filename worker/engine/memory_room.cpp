#include "worker/engine/memory_room.h"

namespace shortq::engine {
namespace {

std::uint64_t mebibytes(std::uint64_t bytes) { return (bytes >> 20) + 1; }

constexpr const char* kOtherWay =
    "; or leave the data in a file, which is read as it is needed: ATTACH a DuckDB file "
    "(READ_ONLY), or create views over Parquet files";

const char* fewer(unsigned threads) { return threads > 1 ? ", or give each fewer --threads" : ""; }

}  // namespace

Result<void> check_shared_room(std::uint64_t budget, std::uint64_t base, std::uint32_t workers,
                               unsigned threads) {
    const auto room = query_bytes_min(threads);
    const auto needed = base + workers * room;
    if (budget == 0 || base == 0 || needed <= budget) return {};
    return fail(ErrorCode::kBadRequest,
                "the data leaves no room for queries in memory: it needs " +
                    std::to_string(mebibytes(base)) + " MiB, shared by all workers, and of each " +
                    "worker " + std::to_string(room >> 20) + " MiB more for its queries; " +
                    std::to_string(budget >> 20) +
                    " MiB is the limit for all together. Either give more, --memory-limit " +
                    std::to_string(mebibytes(needed)) + "M or above" +
                    (workers > 1 ? ", or start fewer workers" : "") + fewer(threads) + kOtherWay);
}

Result<void> check_own_room(std::uint64_t limit, std::uint64_t base, unsigned threads,
                            unsigned loads) {
    const auto needed = base + query_bytes_min(threads);
    if (limit == 0 || base == 0 || needed <= limit) return {};
    // The same data takes somewhat more where it need not be spilled.
    const auto proposed = (needed + base / 4) * loads;
    return fail(ErrorCode::kBadRequest,
                "the data leaves no room for queries in memory: each worker loads it for itself "
                "and needs " +
                    std::to_string(mebibytes(needed)) + " MiB, " +
                    std::to_string(loads * limit >> 20) +
                    " MiB is the limit for all together. Either give more, --memory-limit " +
                    std::to_string(mebibytes(proposed)) + "M or above" +
                    (loads > 1 ? ", or start fewer workers" : "") + fewer(threads) + kOtherWay);
}

std::string does_not_fit_text(std::uint64_t needed, std::uint64_t limit,
                              const std::string& reason) {
    std::string text = "the data does not fit into memory: ";
    if (needed > 0) text += "it needs " + std::to_string(mebibytes(needed)) + " MiB, and ";
    text += std::to_string(limit >> 20) +
            " MiB is the limit for all workers together. Either give more, ";
    // Data takes more where it need not be spilled; and queries want room, for a few workers.
    const auto proposed = needed + needed / 2 + 6 * query_bytes_min(1);
    text += needed > 0 ? "--memory-limit " + std::to_string(mebibytes(proposed)) + "M or above"
                       : "with --memory-limit";
    return text + kOtherWay + ".\nThe engine says: " + reason.substr(0, reason.find('\n'));
}

}  // namespace shortq::engine
