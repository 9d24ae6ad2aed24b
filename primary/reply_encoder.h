// primary/reply_encoder.h: turns an engine's result into reply messages of about a megabyte.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>
#include <zmq.hpp>

#include "primary/core/types.h"
#include "primary/sync_lane.h"
#include "worker/engine/engine.h"

namespace shortq::primary {

// Threads: the engine's.
class ReplyEncoder final : public engine::ResultSink {
public:
    // Passes a piece on that is not the last; false: nobody wants more.
    using Emit = std::function<bool(SyncReply)>;
    ReplyEncoder(core::RequestId request, Emit emit);

    [[nodiscard]] bool begin(const Schema& schema) override;
    [[nodiscard]] bool batch(Batch batch) override;
    // The last piece.
    [[nodiscard]] SyncReply finish(std::chrono::nanoseconds ran);

private:
    void append(zmq::message_t frame);
    [[nodiscard]] SyncReply take(bool last);

    Emit emit_;
    proto::Reply header_;
    std::vector<zmq::message_t> bodies_;
    std::size_t chunk_bytes_ = 0;
    bool begun_ = false;
};

}  // namespace shortq::primary
