// tests/fuzz/input.h: takes an input apart into numbers, texts and frames; and the other way round,
// for seeds. There is always more: behind its end an input has zeros and empty texts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/fuzz.h"

namespace shortq::fuzz {

// A frame is its length in one byte, or 255 and the length in two (little endian), and its bytes.
class Taker {
public:
    explicit Taker(Input input) : rest_(input) {}

    [[nodiscard]] bool done() const { return rest_.empty(); }
    [[nodiscard]] Input rest() const { return rest_; }

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto value = std::to_integer<std::uint8_t>(rest_.front());
        rest_ = rest_.subspan(1);
        return value;
    }
    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i) value |= std::uint64_t{byte()} << (8 * i);
        return value;
    }
    Input frame() {
        std::size_t size = byte();
        if (size == 255) size = static_cast<std::size_t>(number(2));
        const auto taken = rest_.first(std::min(size, rest_.size()));
        rest_ = rest_.subspan(taken.size());
        return taken;
    }
    std::string text() { return std::string(text_of(frame())); }
    // Frames until the end.
    std::vector<Input> frames() {
        std::vector<Input> all;
        while (!done()) all.push_back(frame());
        return all;
    }

private:
    Input rest_;
};

// What Taker::frame() takes. Pre: less than 64 KiB.
inline void append_frame(std::string& out, std::string_view bytes) {
    if (bytes.size() < 255) {
        out += static_cast<char>(bytes.size());
    } else {
        out += '\xff';
        out += static_cast<char>(bytes.size() & 0xff);
        out += static_cast<char>(bytes.size() >> 8);
    }
    out += bytes;
}
inline void append_frame(std::string& out, Input bytes) { append_frame(out, text_of(bytes)); }

}  // namespace shortq::fuzz
