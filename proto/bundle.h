// proto/bundle.h: several small messages to one peer as one, for a message costs sockets and
// threads the same whatever its size. Layout: PROTOCOL.md#bundles. Pure code.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "proto/error.h"
#include "proto/limits.h"
#include "proto/reader.h"

namespace shortq::proto {

// Frame 0 of a bundle: always these bytes. The only other frame is what BundleWriter made.
inline constexpr std::array<std::byte, 3> kBundleHeader{std::byte{0x92}, std::byte{0x02},
                                                        std::byte{0x12}};
[[nodiscard]] bool is_bundle(std::span<const std::byte> frame);

// Collects messages. Keeps its memory for the next bundle. Threads: one.
class BundleWriter {
public:
    [[nodiscard]] bool empty() const noexcept { return messages_ == 0; }
    [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
    // Whether a message of so many bytes in all and frames belongs into bundles.
    [[nodiscard]] static bool is_small(std::size_t bytes, std::size_t frames) noexcept;
    // Whether this one has room for it.
    [[nodiscard]] bool has_room(std::size_t bytes, std::size_t frames) const noexcept;

    // A message: begin(), then so many times frame(), with frame 0 first. Pre: it is small, and has
    // room.
    void begin(std::size_t frames);
    void frame(std::span<const std::byte> bytes);

    // The body of the bundle; valid until the next change, as is what follows.
    [[nodiscard]] std::span<const std::byte> body() const noexcept { return body_; }
    // What is to be sent, into `frames`: the bundle's two, or those of the only message, which goes
    // as it is. Pre: !empty().
    void frames_to_send(std::vector<std::span<const std::byte>>& frames) const;
    void clear() noexcept;

private:
    void put(std::uint8_t byte) { body_.push_back(std::byte{byte}); }

    std::vector<std::byte> body_;
    std::size_t messages_ = 0;
};

// Takes a bundle apart. `body` is untrusted and outlives this; frames point into it.
class BundleReader {
public:
    BundleReader() = default;
    explicit BundleReader(std::span<const std::byte> body) : rest_(body) {}

    // No message is left. Also after an error.
    [[nodiscard]] bool done() const { return rest_.empty(); }
    // The frames of the next message into `frames`, at least one. Pre: !done(). Errors:
    // kBadRequest, and the rest of the bundle is lost.
    [[nodiscard]] Result<void> next(std::vector<std::span<const std::byte>>& frames);

private:
    [[nodiscard]] tl::unexpected<Error> give_up(const char* problem);

    std::span<const std::byte> rest_;
};

}  // namespace shortq::proto
