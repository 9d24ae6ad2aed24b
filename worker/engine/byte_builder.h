// worker/engine/byte_builder.h: buffers of a result that grow at their end and are given away
// without a copy, in memory that is used again once its reader has let it go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "proto/columnar.h"

namespace shortq::engine {

// Memory for one result: fresh pages cost more than what is written to them, so blocks that come
// back are given out again. It lives as long as any of its blocks.
// Threads: any; a block comes back on the thread that lets it go.
class BlockPool : public std::enable_shared_from_this<BlockPool> {
public:
    struct Block {
        std::unique_ptr<std::byte[]> bytes;
        std::size_t size = 0;
    };
    static constexpr std::size_t kKeptBytesMax = std::size_t{8} << 20;
    static constexpr std::size_t kKeptBlocksMax = 256;

    // At least so many bytes, not initialised.
    [[nodiscard]] Block take(std::size_t bytes);
    void give(Block block) noexcept;
    // The first `bytes` of a block, which comes back when nobody reads them any more.
    [[nodiscard]] Buffer lend(Block block, std::size_t bytes);

private:
    std::mutex mutex_;
    std::vector<Block> kept_;
    std::size_t kept_bytes_ = 0;
};

// Threads: one.
class ByteBuilder {
public:
    explicit ByteBuilder(std::shared_ptr<BlockPool> pool) : pool_(std::move(pool)) {}

    // Grows by so many bytes, which are not initialised: where they begin, until the next call.
    [[nodiscard]] std::byte* extend(std::size_t bytes) {
        const auto begin = size_;
        if (block_.size - size_ < bytes) grow(bytes);
        size_ += bytes;
        return block_.bytes.get() + begin;
    }
    void append(const void* bytes, std::size_t count);
    [[nodiscard]] std::byte* data() noexcept { return block_.bytes.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    // What was written; begins anew.
    [[nodiscard]] Buffer take();

private:
    void grow(std::size_t bytes);

    std::shared_ptr<BlockPool> pool_;
    BlockPool::Block block_;
    std::size_t size_ = 0;
    std::size_t usual_ = 0;  // The largest so far: the next will be like it.
};

// Bits, the lowest of each byte first. Threads: one.
class BitBuilder {
public:
    explicit BitBuilder(std::shared_ptr<BlockPool> pool) : bytes_(std::move(pool)) {}

    void append(const std::byte* bits, std::size_t count);
    void append_ones(std::size_t count);
    // One bit per byte: whether it is not 0.
    void append_bools(const std::byte* bools, std::size_t count);
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }
    [[nodiscard]] Buffer take();

private:
    template <class NextBits>
    void append_eights(std::size_t count, NextBits next);

    ByteBuilder bytes_;
    std::size_t count_ = 0;
};

// Which rows are not null. No bitmap as long as all are. Threads: one.
class ValidityBuilder {
public:
    explicit ValidityBuilder(std::shared_ptr<BlockPool> pool) : bits_(std::move(pool)) {}

    // `bits`: null if all are valid.
    void append(const std::byte* bits, std::size_t count);
    [[nodiscard]] std::size_t bytes() const noexcept { return bits_.bytes(); }
    // Sets length and null count, and adds the bitmap; begins anew.
    void take_into(Array& array);

private:
    BitBuilder bits_;
    std::size_t length_ = 0;
    std::size_t nulls_ = 0;
};

// Zeros among the first bits.
[[nodiscard]] std::size_t count_zeros(const std::byte* bits, std::size_t count);

}  // namespace shortq::engine
