#include "primary/kdb/held_result.h"

#include <cstring>
#include <utility>

namespace shortq::primary {
namespace {

constexpr std::size_t kAlignment = 8;  // Of Arrow buffers.

std::size_t aligned(std::size_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <class Visit>
void for_each_buffer(std::vector<Array>& arrays, const Visit& visit) {
    for (auto& array : arrays) {
        for (auto& buffer : array.buffers) visit(buffer);
        for_each_buffer(array.children, visit);
        for_each_buffer(array.dictionary, visit);
    }
}

std::size_t bytes_of(Batch& batch) {
    std::size_t bytes = 0;
    for_each_buffer(batch.columns,
                    [&](const Buffer& buffer) { bytes += aligned(buffer.bytes.size()); });
    return bytes;
}

Result<void> move_to(SpillFile& file, Batch& batch) {
    const auto bytes = bytes_of(batch);
    if (bytes == 0) return {};
    const auto region = file.allocate(bytes);
    if (!region) return tl::unexpected(region.error());
    auto* to = region->data;
    for_each_buffer(batch.columns, [&](Buffer& buffer) {
        const auto size = buffer.bytes.size();
        if (size == 0) return;
        std::memcpy(to, buffer.bytes.data(), size);
        buffer = {{to, size}, region->owner};
        to += aligned(size);
    });
    return {};
}

}  // namespace

void HeldResult::begin_attempt() {
    table_.reset();
    batches_.clear();
    first_in_memory_ = 0;
    in_memory_ = 0;
    spilled_ = 0;
}

Result<bool> HeldResult::add(const proto::Reply& reply, std::span<const Buffer> bodies) {
    using Added = proto::ReplyAssembly::Added;
    if (reply.attempt > assembly_.attempt()) begin_attempt();
    const auto added = assembly_.add(reply, bodies);
    if (!added) return tl::unexpected(added.error());
    if (*added == Added::kIgnored) return false;
    if (!table_) {
        auto table = kdb::TableWriter::make(assembly_.schema(), options_);
        if (!table) return tl::unexpected(table.error());
        table_.emplace(std::move(*table));
    }
    if (auto taken = take(assembly_.take_batches()); !taken) return tl::unexpected(taken.error());
    // Types may still change, but hardly a message becomes shorter: who is over it stops early.
    if (const auto bytes = table_->message_bytes(); !bytes) return tl::unexpected(bytes.error());
    return *added == Added::kLast;
}

Result<void> HeldResult::take(std::vector<Batch> batches) {
    for (auto& batch : batches) {
        if (auto measured = table_->measure(batch); !measured) return measured;
        in_memory_ += bytes_of(batch);
        batches_.push_back(std::move(batch));
    }
    return {};
}

Result<void> HeldResult::spill(SpillFile& file) {
    for (; first_in_memory_ < batches_.size(); ++first_in_memory_) {
        auto& batch = batches_[first_in_memory_];
        if (auto moved = move_to(file, batch); !moved) return moved;
        const auto bytes = bytes_of(batch);
        in_memory_ -= bytes;
        spilled_ += bytes;
    }
    return {};
}

bool ResultWriter::append_piece(std::vector<std::byte>& out) {
    const auto& table = result_.table();
    if (!std::exchange(begun_, true)) table.append_head(kind_, out);
    if (column_ == table.columns()) return false;
    if (batch_ == 0) table.append_column_head(column_, out);
    if (batch_ < result_.batches().size())
        table.append_column(column_, result_.batches()[batch_++], out);
    if (batch_ >= result_.batches().size()) {
        batch_ = 0;
        ++column_;
    }
    return column_ < table.columns();
}

}  // namespace shortq::primary
