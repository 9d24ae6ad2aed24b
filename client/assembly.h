// client/assembly.h: puts the pieces of one reply together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "proto/message.h"
#include "shortq/table.h"

namespace shortq::detail {

// Takes Reply messages in the order of their arrival. A piece of a later attempt drops what came
// before it, one of an earlier attempt is ignored.
class ReplyAssembly {
public:
    // `bodies`: the frames after frame 0; their owners are shared, no byte is copied.
    // The whole result after the last piece; nothing before it.
    // Errors: kInternal for a gap in the sequence, or bodies that do not fit together.
    [[nodiscard]] Result<std::optional<Table>> add(const proto::Reply& reply,
                                                   std::span<const Buffer> bodies);

    // For readers of rows: takes out what has come since the last call. Pre: a piece was added.
    [[nodiscard]] Table take(const proto::Facts& facts);

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

// The facts of a reply in the units of the public API.
[[nodiscard]] ReplyFacts to_public(const proto::Facts& facts);

}  // namespace shortq::detail
