// primary/kdb/door_options.h: what the kdb+ front door is told, and what it tells the dispatch
// thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <variant>
#include <zmq.hpp>

#include "proto/kdb/table.h"
#include "proto/message.h"

namespace shortq::auth {
class Authenticator;
}

namespace shortq::primary {

enum class KdbSync : std::uint8_t {
    kPrimary,   // Sync messages are sync requests.
    kDispatch,  // They go to the workers, for clients that have no async call.
};
enum class KdbCompress : std::uint8_t {
    kAuto,  // Large messages to other machines.
    kAlways,
    kNever,
};

struct KdbDoorOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  // 0: a free one.
    std::uint64_t query_bytes_max = 0;
    std::uint64_t result_bytes_max = 0;  // That wait on one connection, in memory and on disk.
    std::chrono::nanoseconds stall{0};   // Who takes nothing for so long is cut off. 0: nobody is.
    KdbSync sync = KdbSync::kPrimary;
    KdbCompress compress = KdbCompress::kAuto;
    kdb::TableOptions table{};
    std::filesystem::path spill_folder;
    auth::Authenticator* authenticator = nullptr;  // None: any name is let in. Outlives the door.
};

// A connection's number; never used again.
enum class KdbConnectionId : std::uint64_t {};

// What the door tells. Bodies are as the native door has them: text, parameters or nothing.
struct KdbArrived {
    KdbConnectionId connection{};
    std::string user;
    std::string address;
};
struct KdbAsked {
    KdbConnectionId connection{};
    std::uint64_t id = 0;
    proto::Mode mode = proto::Mode::kDeferred;
    zmq::message_t text;
    zmq::message_t parameters;
};
struct KdbGaveUp {  // What its result brings cannot be answered with, so it need not go on.
    KdbConnectionId connection{};
    std::uint64_t id = 0;
};
struct KdbLeft {
    KdbConnectionId connection{};
};
using KdbSays = std::variant<KdbArrived, KdbAsked, KdbGaveUp, KdbLeft>;
using KdbListener = std::function<void(KdbSays)>;

// What a client reads of an error: the engine's own words as they are, others behind their code.
[[nodiscard]] std::string kdb_error_text(ErrorCode code, std::string_view message);

}  // namespace shortq::primary
