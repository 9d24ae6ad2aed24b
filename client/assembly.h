// client/assembly.h: the pieces of one reply, put together as tables.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "proto/assembly.h"
#include "shortq/table.h"

namespace shortq::detail {

class ReplyAssembly {
public:
    // The whole result after the last piece; nothing before it. Otherwise as in proto/assembly.h.
    [[nodiscard]] Result<std::optional<Table>> add(const proto::Reply& reply,
                                                   std::span<const Buffer> bodies);

    // For readers of rows: takes out what has come since the last call. Pre: a piece was added.
    [[nodiscard]] Table take(const proto::Facts& facts);

    [[nodiscard]] std::uint32_t attempt() const noexcept { return pieces_.attempt(); }
    [[nodiscard]] bool begun() const noexcept { return pieces_.begun(); }

private:
    proto::ReplyAssembly pieces_;
};

// The facts of a reply in the units of the public API.
[[nodiscard]] ReplyFacts to_public(const proto::Facts& facts);

}  // namespace shortq::detail
