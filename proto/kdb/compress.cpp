#include "proto/kdb/compress.h"

#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "proto/kdb/bytes.h"

namespace shortq::kdb {
namespace {

constexpr std::size_t kFirstGroup = kHeaderBytes + 4;  // Behind the length of the plain message.
constexpr std::size_t kGroupBytesMax = 1 + 8 * 2;
constexpr std::size_t kRepeatMax = 255;  // Beyond the two bytes that found the place.
// What one byte of compressed data can stand for: two bytes of a repeat are 257, less the flags.
constexpr std::uint64_t kExpansionMax = 129;

std::size_t slot_at(const std::byte* bytes) {
    return std::to_integer<std::size_t>(bytes[0] ^ bytes[1]);
}

// Where the two bytes of a slot were last seen; 0: not yet, for no data are at 0.
using Places = std::array<std::uint32_t, 256>;

class Compressor {
public:
    Compressor(std::span<const std::byte> plain, std::span<std::byte> packed)
        : plain_(plain), packed_(packed) {}

    // The bytes used; 0 if there are not enough.
    [[nodiscard]] std::size_t run() {
        while (at_ < plain_.size()) {
            if (packed_.size() - end_ < kGroupBytesMax) return 0;
            write_group();
        }
        return end_;
    }

private:
    void write_group() {
        const std::size_t flags_at = end_++;
        unsigned flags = 0;
        for (unsigned flag = 1; flag < 256 && at_ < plain_.size(); flag *= 2) {
            if (write_item()) flags |= flag;
        }
        packed_[flags_at] = static_cast<std::byte>(flags);
    }

    // Whether it is a repeat.
    bool write_item() {
        const bool pair =
            at_ + 2 < plain_.size();  // The reader needs one more byte to have seen it.
        const std::size_t slot = pair ? slot_at(&plain_[at_]) : 0;
        const std::size_t place = pair ? places_[slot] : 0;
        const bool repeats = place != 0 && plain_[place] == plain_[at_];
        note_pending();
        if (!repeats) {
            if (pair) pending_ = {slot, at_};
            packed_[end_++] = plain_[at_++];
            return false;
        }
        places_[slot] = static_cast<std::uint32_t>(at_);
        const std::size_t more = repeated(place + 2, at_ + 2);
        packed_[end_++] = static_cast<std::byte>(slot);
        packed_[end_++] = static_cast<std::byte>(more);
        at_ += 2 + more;
        return true;
    }

    // A place counts only from the item after the next byte's on: so late the reader knows it.
    void note_pending() {
        if (pending_.second != 0)
            places_[pending_.first] = static_cast<std::uint32_t>(pending_.second);
        pending_ = {};
    }

    [[nodiscard]] std::size_t repeated(std::size_t from, std::size_t at) const {
        std::size_t more = 0;
        while (more < kRepeatMax && at + more < plain_.size() &&
               plain_[from + more] == plain_[at + more])
            ++more;
        return more;
    }

    std::span<const std::byte> plain_;
    std::span<std::byte> packed_;
    std::size_t at_ = kHeaderBytes;
    std::size_t end_ = kFirstGroup;
    Places places_{};
    std::pair<std::size_t, std::size_t> pending_{};  // Slot and place of the byte just written.
};

class Decompressor {
public:
    Decompressor(std::span<const std::byte> packed, std::span<std::byte> plain)
        : packed_(packed), plain_(plain) {}

    // Whether the data fill the plain message exactly.
    [[nodiscard]] bool run() {
        while (at_ < plain_.size()) {
            if (next_ == packed_.size()) return false;
            const auto flags = std::to_integer<unsigned>(packed_[next_++]);
            for (unsigned flag = 1; flag < 256 && at_ < plain_.size(); flag *= 2) {
                if (!((flags & flag) != 0 ? read_repeat() : read_byte())) return false;
            }
        }
        return true;
    }

private:
    bool read_byte() {
        if (next_ == packed_.size()) return false;
        plain_[at_++] = packed_[next_++];
        note_places();
        return true;
    }

    bool read_repeat() {
        if (packed_.size() - next_ < 2) return false;
        const std::size_t place = places_[std::to_integer<std::size_t>(packed_[next_])];
        const std::size_t size = 2 + std::to_integer<std::size_t>(packed_[next_ + 1]);
        next_ += 2;
        if (place == 0 || plain_.size() - at_ < size) return false;
        // The source may run into what is being written: one byte after the other.
        for (std::size_t i = 0; i < size; ++i) plain_[at_ + i] = plain_[place + i];
        at_ += 2;
        note_places();
        at_ += size - 2;
        noted_ = at_;
        return true;
    }

    // Every pair of bytes that is complete, except inside repeats.
    void note_places() {
        for (; noted_ + 1 < at_; ++noted_)
            places_[slot_at(&plain_[noted_])] = static_cast<std::uint32_t>(noted_);
    }

    std::span<const std::byte> packed_;
    std::span<std::byte> plain_;
    std::size_t next_ = kFirstGroup;
    std::size_t at_ = kHeaderBytes;
    std::size_t noted_ = kHeaderBytes;
    Places places_{};
};

tl::unexpected<Error> bad_data(std::string_view problem) {
    return fail(ErrorCode::kBadRequest,
                "malformed kdb+ message: bad compressed data: " + std::string(problem));
}

}  // namespace

std::optional<std::vector<std::byte>> compress(std::span<const std::byte> message) {
    if (message.size() < 2 * kFirstGroup || message.size() > kMessageBytesMax) return std::nullopt;
    std::vector<std::byte> packed(message.size() / 2);
    const std::size_t used = Compressor(message, packed).run();
    if (used == 0) return std::nullopt;
    packed.resize(used);
    std::memcpy(packed.data(), message.data(), 4);
    packed[2] = std::byte{1};
    const auto bytes = static_cast<std::uint32_t>(used);
    const auto plain_bytes = static_cast<std::uint32_t>(message.size());
    std::memcpy(&packed[4], &bytes, sizeof bytes);
    std::memcpy(&packed[kHeaderBytes], &plain_bytes, sizeof plain_bytes);
    return packed;
}

Result<void> decompress(std::span<const std::byte> message, ByteOrder order,
                        std::uint64_t bytes_max, std::vector<std::byte>& out) {
    if (message.size() < kFirstGroup) return bad_data("it has no length");
    const std::uint64_t bytes = load_number<std::uint32_t>(&message[kHeaderBytes], order);
    if (bytes <= kHeaderBytes) return bad_data("a length of " + std::to_string(bytes) + " bytes");
    if (bytes > bytes_max) {
        return fail(ErrorCode::kTooLarge, "a compressed message of " + std::to_string(bytes) +
                                              " bytes; at most " + std::to_string(bytes_max) +
                                              " are accepted");
    }
    if ((bytes - kHeaderBytes) / kExpansionMax > message.size() - kFirstGroup)
        return bad_data("so few bytes cannot stand for " + std::to_string(bytes));
    out.clear();
    out.resize(static_cast<std::size_t>(bytes));
    if (!Decompressor(message, out).run()) return bad_data("it does not add up to its length");
    return {};
}

}  // namespace shortq::kdb
