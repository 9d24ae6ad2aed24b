#include "worker/engine/byte_builder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace shortq::engine {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kLeast = 64;

// Sizes that are alike become the same, so that a block fits the next buffer, too.
std::size_t rounded(std::size_t bytes) {
    const auto unit = bytes < kPage ? kLeast : kPage;
    return (bytes + unit - 1) / unit * unit;
}

// Gives a block back when its last reader is gone.
class Lent {
public:
    Lent(std::shared_ptr<BlockPool> pool, BlockPool::Block block)
        : pool_(std::move(pool)), block_(std::move(block)) {}
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
    ~Lent() { pool_->give(std::move(block_)); }

private:
    std::shared_ptr<BlockPool> pool_;
    BlockPool::Block block_;
};

std::uint8_t low_bits(std::size_t count) { return static_cast<std::uint8_t>((1U << count) - 1); }

}  // namespace

// ---- BlockPool

BlockPool::Block BlockPool::take(std::size_t bytes) {
    {
        const std::lock_guard lock(mutex_);
        if (bytes >= kPage) kept_.reserve(kKeptBlocksMax);  // Not when one comes back.
        auto best = kept_.end();
        for (auto block = kept_.begin(); block != kept_.end(); ++block) {
            const bool fits = block->size >= bytes;
            if (fits && (best == kept_.end() || block->size < best->size)) best = block;
        }
        if (best != kept_.end()) {
            kept_bytes_ -= best->size;
            Block block = std::move(*best);
            *best = std::move(kept_.back());
            kept_.pop_back();
            return block;
        }
    }
    const auto size = rounded(bytes);
    return {std::make_unique_for_overwrite<std::byte[]>(size), size};
}

void BlockPool::give(Block block) noexcept {
    if (block.size < kPage) return;  // Not worth a search.
    const std::lock_guard lock(mutex_);
    if (kept_.size() == kept_.capacity() || kept_bytes_ + block.size > kKeptBytesMax) return;
    kept_bytes_ += block.size;
    kept_.push_back(std::move(block));
}

Buffer BlockPool::lend(Block block, std::size_t bytes) {
    const auto* begin = block.bytes.get();
    return {{begin, bytes}, std::make_shared<const Lent>(shared_from_this(), std::move(block))};
}

// ---- ByteBuilder

void ByteBuilder::grow(std::size_t bytes) {
    auto larger = pool_->take(std::max({usual_, 2 * block_.size, size_ + bytes}));
    if (size_ > 0) std::memcpy(larger.bytes.get(), block_.bytes.get(), size_);
    std::swap(block_, larger);
    pool_->give(std::move(larger));
}

void ByteBuilder::append(const void* bytes, std::size_t count) {
    if (count > 0) std::memcpy(extend(count), bytes, count);
}

Buffer ByteBuilder::take() {
    const auto size = std::exchange(size_, 0);
    if (size == 0) return {};
    usual_ = std::max(usual_, size);
    return pool_->lend(std::exchange(block_, {}), size);
}

// ---- BitBuilder

// `next(i, n)` gives bits i to i + n - 1 of what is appended, n <= 8; the others 0.
template <class NextBits>
void BitBuilder::append_eights(std::size_t count, NextBits next) {
    const auto used = count_ % 8;
    std::size_t done = 0;
    if (used != 0) {  // Fill the last byte up, so that whole bytes follow.
        done = std::min(count, 8 - used);
        bytes_.data()[bytes_.size() - 1] |= static_cast<std::byte>(next(0, done) << used);
    }
    const auto bytes = (count - done + 7) / 8;
    auto* to = bytes == 0 ? nullptr : bytes_.extend(bytes);
    for (std::size_t i = 0; i < bytes; ++i, done += 8) {
        to[i] = static_cast<std::byte>(next(done, std::min<std::size_t>(count - done, 8)));
    }
    count_ += count;
}

void BitBuilder::append(const std::byte* bits, std::size_t count) {
    append_eights(count, [&](std::size_t from, std::size_t n) {
        const auto shift = from % 8;
        const auto* at = bits + from / 8;
        unsigned value = std::to_integer<unsigned>(at[0]) >> shift;
        if (shift + n > 8) value |= std::to_integer<unsigned>(at[1]) << (8 - shift);
        return static_cast<unsigned>(value & low_bits(n));
    });
}

void BitBuilder::append_ones(std::size_t count) {
    append_eights(count, [](std::size_t, std::size_t n) -> unsigned { return low_bits(n); });
}

void BitBuilder::append_bools(const std::byte* bools, std::size_t count) {
    append_eights(count, [&](std::size_t from, std::size_t n) {
        unsigned value = 0;
        for (std::size_t i = 0; i < n; ++i) {
            value |= (bools[from + i] != std::byte{0} ? 1U : 0U) << i;
        }
        return value;
    });
}

Buffer BitBuilder::take() {
    count_ = 0;
    return bytes_.take();
}

// ---- ValidityBuilder

void ValidityBuilder::append(const std::byte* bits, std::size_t count) {
    const auto nulls = bits == nullptr ? 0 : count_zeros(bits, count);
    if (nulls > 0 && nulls_ == 0) bits_.append_ones(length_);
    nulls_ += nulls;
    length_ += count;
    if (nulls_ == 0) return;
    if (nulls > 0) {
        bits_.append(bits, count);
    } else {
        bits_.append_ones(count);
    }
}

void ValidityBuilder::take_into(Array& array) {
    array.length = static_cast<std::int64_t>(std::exchange(length_, 0));
    array.null_count = static_cast<std::int64_t>(std::exchange(nulls_, 0));
    array.buffers.push_back(bits_.take());
}

std::size_t count_zeros(const std::byte* bits, std::size_t count) {
    std::size_t ones = 0;
    std::size_t done = 0;
    for (; done + 64 <= count; done += 64) {
        std::uint64_t word = 0;
        std::memcpy(&word, bits + done / 8, sizeof word);
        ones += static_cast<std::size_t>(std::popcount(word));
    }
    for (; done < count; done += 8) {
        const auto mask = low_bits(std::min<std::size_t>(count - done, 8));
        const auto byte = std::to_integer<unsigned>(bits[done / 8]) & mask;
        ones += static_cast<std::size_t>(std::popcount(byte));
    }
    return count - ones;
}

}  // namespace shortq::engine
