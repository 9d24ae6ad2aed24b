// tests/soak/plan.h: one request: what is asked, and what the reply to it must be.
#pragma once

#include <bitset>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "shortq/client.h"
#include "tests/soak/data.h"
#include "tests/soak/random.h"

namespace shortq::soak {

enum class Kind {
    kShort,        // A sum over the data.
    kParameter,    // Its number is bound, not written.
    kMedium,       // Some milliseconds of work.
    kLong,         // Some hundred.
    kLarge,        // Many rows.
    kError,        // Fails in the engine, with its number in the message.
    kMissing,      // Fails in the binder, with its number in the message.
    kRefused,      // Would write.
    kSpilling,     // Takes more memory than a worker has.
    kHeavy,        // Its parameter has megabytes.
    kEndless,      // Never ends by itself: has a deadline.
    kForever,      // Nor does this one: it has to be cancelled.
    kSync,         // At the primary, as are the following ones.
    kSyncError,    //
    kSyncView,     // Looks at the primary's own tables.
    kSyncEndless,  //
};
[[nodiscard]] const char* name_of(Kind kind) noexcept;

class ErrorSet {
public:
    ErrorSet() = default;
    ErrorSet(std::initializer_list<ErrorCode> codes) {
        for (const auto code : codes) add(code);
    }
    void add(ErrorCode code) { codes_.set(static_cast<std::size_t>(code)); }
    [[nodiscard]] bool has(ErrorCode code) const {
        return codes_.test(static_cast<std::size_t>(code));
    }

private:
    std::bitset<32> codes_;
};

struct Plan {
    std::uint64_t number = 0;  // Its first digits in the text, and the value of its first column.
    Kind kind = Kind::kShort;
    bool sync = false;
    std::string text;
    Parameters parameters;
    QueryOptions options;
    std::int64_t repeat = 1;                // kLarge: how often the data comes.
    bool may_succeed = true;                // kEndless and such cannot.
    ErrorSet may_fail;                      // What it may get instead of its result, or must get.
    std::int64_t expected = 0;              // kSpilling, kHeavy: the second column.
    std::int64_t least_version = 0;         // Of the data that may answer.
    std::uint32_t least_generation = 0;     // The newest that its client had seen.
    std::chrono::milliseconds patience{0};  // Without a reply for so long, it is lost.
};

// How often each kind comes.
using Mix = std::vector<std::pair<Kind, int>>;
[[nodiscard]] Kind draw(Random& random, const Mix& mix);

// A request of this kind, with a random priority; some have a deadline, or want the newest
// generation.
[[nodiscard]] Plan make_plan(Random& random, Kind kind, std::uint64_t number,
                             const Versions& versions);

// It may be cancelled: by its client, by somebody else, or with its client.
void allow_cancel(Plan& plan);

// Its primary may be killed: what is not sent again ends with its connection.
void allow_restart(Plan& plan);

// What is wrong with a reply; none: nothing. `newest`: no later version exists; 0: not known.
[[nodiscard]] std::optional<std::string> fault_of_error(const Plan& plan, const Error& error);
[[nodiscard]] std::optional<std::string> fault_of_result(const Plan& plan, const Table& table,
                                                         const Versions& versions);

// The same for rows that come in pieces. After the first fault it says no more.
class LargeCheck {
public:
    explicit LargeCheck(const Plan& plan) : plan_(plan) {}
    void add(const Table& piece);
    // All pieces were there.
    [[nodiscard]] std::optional<std::string> finish(const ReplyFacts& facts,
                                                    const Versions& versions);

private:
    void add_batch(const Table& piece, std::size_t batch);

    const Plan& plan_;
    std::int64_t rows_ = 0;
    std::int64_t sum_ = 0;
    std::int64_t version_ = 0;
    std::optional<std::string> fault_;
};

}  // namespace shortq::soak
