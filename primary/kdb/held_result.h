// primary/kdb/held_result.h: a result as it comes from a worker, kept until its turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "primary/kdb/spill_file.h"
#include "proto/assembly.h"
#include "proto/kdb/table.h"

namespace shortq::primary {

// Keeps the batches as they are and measures them on arrival, so that they can be written as a kdb+
// table without being held twice. Threads: one at a time.
class HeldResult {
public:
    explicit HeldResult(kdb::TableOptions options) : options_(options) {}

    // A piece of the reply; a new attempt drops the pieces of the one before. True: it is complete.
    // Errors: what makes the whole result impossible (kdb/table.h, proto/assembly.h).
    [[nodiscard]] Result<bool> add(const proto::Reply& reply, std::span<const Buffer> bodies);

    // Moves what is in memory to `file`. Errors: as allocate(); then it stays where it is.
    [[nodiscard]] Result<void> spill(SpillFile& file);

    [[nodiscard]] std::uint64_t bytes_in_memory() const noexcept { return in_memory_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return in_memory_ + spilled_; }

    // Pre: complete.
    [[nodiscard]] std::uint64_t message_bytes() const { return *table_->message_bytes(); }
    [[nodiscard]] const kdb::TableWriter& table() const { return *table_; }
    [[nodiscard]] std::span<const Batch> batches() const { return batches_; }

private:
    void begin_attempt();
    [[nodiscard]] Result<void> take(std::vector<Batch> batches);

    kdb::TableOptions options_;
    proto::ReplyAssembly assembly_;
    std::optional<kdb::TableWriter> table_;
    std::vector<Batch> batches_;
    std::size_t first_in_memory_ = 0;  // Batches before this one are in a file.
    std::uint64_t in_memory_ = 0;
    std::uint64_t spilled_ = 0;
};

// Writes a held result as one message, piece by piece. Threads: one at a time.
class ResultWriter {
public:
    ResultWriter(HeldResult result, kdb::Kind kind) : result_(std::move(result)), kind_(kind) {}

    // Appends the next piece: a column of a batch. False: it was the last one.
    [[nodiscard]] bool append_piece(std::vector<std::byte>& out);

    [[nodiscard]] const HeldResult& result() const noexcept { return result_; }

private:
    HeldResult result_;
    kdb::Kind kind_;
    bool begun_ = false;
    std::size_t column_ = 0;
    std::size_t batch_ = 0;
};

}  // namespace shortq::primary
