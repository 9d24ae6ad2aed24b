// proto/reader.h: pulls msgpack items out of untrusted bytes, one at a time, without allocating.
// Private to proto/. Source: the MessagePack specification, "Formats".
//
// Encoding uses msgpack-c. Decoding does not: its parser allocates a stack for every call and
// pushes items at a visitor, where our decoders know what must come next and want to stop at the
// first thing that is something else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace shortq::proto {

// Each function reads one item. False: the next item is something else, or is cut short; the
// reader then has not moved. Views point into the bytes given to the constructor.
class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

    [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
    [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

    [[nodiscard]] bool array(std::uint64_t& items);
    [[nodiscard]] bool nil();
    [[nodiscard]] bool boolean(bool& value);
    [[nodiscard]] bool unsigned_int(std::uint64_t& value);  // Any format, value >= 0.
    [[nodiscard]] bool signed_int(std::int64_t& value);     // Any format that fits.
    [[nodiscard]] bool floating(double& value);             // Float 32 or float 64.
    [[nodiscard]] bool str(std::string_view& value);
    [[nodiscard]] bool bin(std::string_view& value);

private:
    [[nodiscard]] bool has(std::size_t count) const { return left() >= count; }
    [[nodiscard]] std::uint8_t tag() const { return static_cast<std::uint8_t>(bytes_[at_]); }
    [[nodiscard]] std::uint64_t big_endian(std::size_t offset, std::size_t width) const;
    // Reads tag `first`, `first` + 1, ... followed by a number of 1, 2, 4, 8 bytes from `narrow`.
    [[nodiscard]] bool number(std::uint8_t first, std::size_t narrow, std::size_t wide,
                              std::uint64_t& value, std::size_t& width) const;
    [[nodiscard]] bool view(std::size_t header, std::uint64_t size, std::string_view& value);

    std::span<const std::byte> bytes_;
    std::size_t at_ = 0;
};

}  // namespace shortq::proto
