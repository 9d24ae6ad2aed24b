// proto/assembly.h: puts the pieces of one reply together. PROTOCOL.md#results.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "proto/columnar.h"
#include "proto/message.h"

namespace shortq::proto {

// Takes Reply messages in the order of their arrival. A piece of a later attempt drops what came
// before it, one of an earlier attempt is ignored. Threads: one.
class ReplyAssembly {
public:
    enum class Added : std::uint8_t {
        kIgnored,  // Of an earlier attempt.
        kPiece,
        kLast,
    };

    // `bodies`: the frames after frame 0; their owners are shared, no byte is copied.
    // Errors: kInternal for a gap in the sequence, or bodies that do not fit together.
    [[nodiscard]] Result<Added> add(const Reply& reply, std::span<const Buffer> bodies);

    // Complete after the first piece of an attempt.
    [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
    // What has come since the last call, of this attempt.
    [[nodiscard]] std::vector<Batch> take_batches() { return std::exchange(batches_, {}); }

    // The attempt of the last piece that was not ignored.
    [[nodiscard]] std::uint32_t attempt() const noexcept { return attempt_; }
    [[nodiscard]] bool begun() const noexcept { return next_sequence_ > 0; }

private:
    [[nodiscard]] Result<void> add_batches(std::uint32_t count, std::span<const Buffer> bodies);

    std::uint32_t attempt_ = 0;
    std::uint32_t next_sequence_ = 0;
    Schema schema_;
    std::vector<Batch> batches_;
};

}  // namespace shortq::proto
