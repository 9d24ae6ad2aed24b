// primary/wire.h: multipart messages over cppzmq, with its exceptions turned into values.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "proto/bundle.h"
#include "proto/message.h"

namespace shortq::primary {

// The frames of one message as a ROUTER gives them: the sender's identity, frame 0, bodies.
struct Incoming {
    zmq::message_t identity;
    zmq::message_t header;
    std::vector<zmq::message_t> bodies;
    bool bundled = false;  // It came in a bundle.

    [[nodiscard]] std::string_view sender() const {
        return {static_cast<const char*>(identity.data()), identity.size()};
    }
    [[nodiscard]] std::span<const std::byte> header_bytes() const {
        return {static_cast<const std::byte*>(header.data()), header.size()};
    }
};

enum class Sent : std::uint8_t {
    kYes,
    kNoPeer,  // The connection is gone.
    kFull,    // Its send queue is full. Cannot happen while SNDHWM is 0.
};

// Whether a message may wait for flush(), to go together with others to the same peer.
enum class Bundling : std::uint8_t { kNo, kYes };

// A ROUTER that is waited for by its descriptor (ZMQ_FD), in any event loop: a round of zmq_poll
// costs many times the system calls. The descriptor tells of a change of state only, and whatever
// is done with the socket may swallow what it would have told, so this remembers whether the last
// thing done was to find nothing. zmq_getsockopt(3), "ZMQ_FD". Threads: one.
class Router {
public:
    // Sets the options that each ROUTER here has; it is not bound yet.
    explicit Router(zmq::context_t& context);

    [[nodiscard]] zmq::socket_t& socket() noexcept { return socket_; }
    [[nodiscard]] int descriptor() const { return socket_.get(zmq::sockopt::fd); }
    // Also to be called after anything that is done with socket().
    void on_readable() noexcept { drained_ = false; }
    // Nothing can be taken until the descriptor is readable. Else try, before you wait.
    [[nodiscard]] bool drained() const noexcept { return drained_; }

    // Takes one message without waiting, also out of a bundle. False: there is none. `in` is
    // reused, and only changed by this. A message of fewer than two frames, or what is left of a
    // malformed bundle, comes with an empty header, which no decoder accepts. Errors: throws
    // zmq::error_t (the context is gone).
    [[nodiscard]] bool receive(Incoming& in);

    // Sends [identity][header][bodies...] without waiting; `bodies` are moved from on success.
    // Messages to one peer keep their order. With Bundling::kYes a small one waits for flush(),
    // which finds out then whether there still is a peer: kYes.
    [[nodiscard]] Sent send(std::string_view identity, const proto::Message& header,
                            std::span<zmq::message_t> bodies = {},
                            Bundling bundling = Bundling::kNo);

    // Sends what waits; calls `gone`, which must not send, with the identity of each whose
    // connection is not there, also if another send() has found that since.
    template <class Gone>
    void flush(const Gone& gone) {
        for (auto& bundle : std::span(bundles_).first(bundles_open_))
            if (send_bundle(bundle) == Sent::kNoPeer || bundle.lost) gone(bundle.identity);
        bundles_open_ = 0;
    }
    // The same, for who knows its peers by identity: those that are gone.
    template <class Peers>
    [[nodiscard]] std::vector<typename Peers::mapped_type> flush_to(const Peers& peers) {
        std::vector<typename Peers::mapped_type> gone;
        flush([&](const std::string& identity) {
            const auto found = peers.find(identity);
            if (found != peers.end()) gone.push_back(found->second);
        });
        return gone;
    }
    [[nodiscard]] bool flushed() const noexcept { return bundles_open_ == 0; }

private:
    struct Bundle {
        std::string identity;
        proto::BundleWriter messages;
        bool lost = false;  // What waited: there was no peer.
    };
    void next_of_bundle(Incoming& in);
    [[nodiscard]] Bundle* open_bundle(std::string_view identity);
    [[nodiscard]] proto::BundleWriter& bundle_for(std::string_view identity);
    [[nodiscard]] Sent send_bundle(Bundle& bundle);

    zmq::socket_t socket_;
    bool drained_ = false;
    zmq::message_t unpacking_;  // The bundle that receive() takes apart.
    proto::BundleReader unpacker_;
    std::vector<std::span<const std::byte>> parts_;  // Reused.
    std::vector<zmq::message_t> frames_;             // Reused.
    std::vector<Bundle> bundles_;                    // Reused; the first ones are open.
    std::size_t bundles_open_ = 0;
};

[[nodiscard]] zmq::message_t frame_of(std::string_view text);
[[nodiscard]] std::string text_of(const zmq::message_t& frame);

}  // namespace shortq::primary
