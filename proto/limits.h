// proto/limits.h: every named maximum of the wire format (PROTOCOL.md#limits).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace shortq::proto {

// Protocol versions this build speaks. Negotiated in the hello.
inline constexpr std::uint16_t kVersionMin = 1;
inline constexpr std::uint16_t kVersionMax = 2;
inline constexpr std::uint16_t kVersionBundles = 2;  // From here on a peer understands bundles.

inline constexpr std::size_t kHeaderBytesMax = 1024;  // Frame 0. Texts that may be long are bodies.
inline constexpr std::size_t kServiceBytesMax = 255;
inline constexpr std::size_t kAgentBytesMax = 128;  // "shortq-cli/0.1.0", for the clients view.
inline constexpr std::size_t kUserBytesMax = 128;
inline constexpr std::size_t kPasswordBytesMax = 255;  // A body of the hello.
inline constexpr std::size_t kTokenBytes = 32;  // A worker's proof that the primary started it.
inline constexpr std::size_t kErrorTextBytesMax = std::size_t{1} << 20;  // Cut visibly beyond.
inline constexpr std::size_t kParametersMax = 4096;
inline constexpr std::size_t kParameterNameBytesMax = 255;
inline constexpr std::size_t kColumnsMax = 65536;   // Schema nodes in all, children included.
inline constexpr std::size_t kSchemaDepthMax = 64;  // Nesting of LIST/STRUCT/MAP/UNION.
inline constexpr std::size_t kSchemaBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kEngineTypeBytesMax = std::size_t{1} << 16;  // Cut visibly beyond.
inline constexpr std::size_t kLayoutBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kBuffersPerBatchMax = std::size_t{1} << 20;
// A column of nulls takes no bytes, so rows are bounded for themselves; nested lengths, too.
inline constexpr std::uint64_t kRowsPerBatchMax = std::uint64_t{1} << 24;
inline constexpr std::uint64_t kNodeLengthMax = std::uint64_t{1} << 40;
inline constexpr std::size_t kBatchesPerReplyMax = 1024;
inline constexpr std::size_t kChunkBytesTarget = std::size_t{1}
                                                 << 20;  // Replies are cut near this.
// Of one frame of a reply: bounds what garbage on the workers' socket can make the primary reserve.
inline constexpr std::uint64_t kReplyFrameBytesMax = std::uint64_t{4} << 30;
// Flow control: what may be under way to a reader that has not said that it took it. A piece is
// sent whole once any of this is free, and the last piece of a result always.
inline constexpr std::uint64_t kReplyWindowBytes = std::uint64_t{4} << 20;    // Of one reply.
inline constexpr std::uint64_t kClientWindowBytes = std::uint64_t{32} << 20;  // Of one client.
// A client says what it has taken at least each time it comes to so much.
inline constexpr std::uint64_t kCreditBytes = std::uint64_t{1} << 20;
inline constexpr std::size_t kDefaultQueryBytesMax = std::size_t{16} << 20;
// A frame over ZMQ_MAXMSGSIZE silently drops the connection, so the sockets' limit is set this far
// above the query limit, and senders check before they send.
inline constexpr std::size_t kFrameSlackBytes = std::size_t{1} << 20;

// Of a bundle, and of a message in one: a larger one goes by itself, without a copy.
inline constexpr std::size_t kBundleBytesMax = std::size_t{32} << 10;
inline constexpr std::size_t kBundledBytesMax = std::size_t{2} << 10;
inline constexpr std::size_t kBundledFramesMax = 15;
// So many a sender puts into one: with more, the next process would wait for what it could begin.
inline constexpr std::size_t kBundleMessagesUsual = 16;

inline constexpr std::chrono::milliseconds kHeartbeatInterval{1000};

}  // namespace shortq::proto
