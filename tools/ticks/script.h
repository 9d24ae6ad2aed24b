// tools/ticks/script.h: the SQL script that writes invented trades and quotes as Parquet files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace shortq::ticks {

struct TickOptions {
    std::string first_day = "2024-01-08";  // ISO date; the days after it follow without a gap.
    std::uint32_t days = 5;
    std::uint64_t trades_per_day = 100'000;
    std::uint64_t quotes_per_trade = 5;
};

// Statements that write trade/ and quote/ below `folder`, one sub-folder per day (date=2024-01-08).
// The same options give the same rows: every value is a function of the row's number, by integer
// arithmetic and the engine's hash(), so that neither threads nor the clock nor libm have a say.
// Pre: all numbers > 0.
[[nodiscard]] std::string tick_script(const TickOptions& options,
                                      const std::filesystem::path& folder);

}  // namespace shortq::ticks
