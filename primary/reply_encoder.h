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
    ReplyEncoder(core::RequestId request, std::function<void(SyncReply)> post);

    [[nodiscard]] bool begin(const Schema& schema) override;
    [[nodiscard]] bool batch(Batch batch) override;
    // Posts the last piece.
    void finish(std::chrono::nanoseconds ran);

private:
    void append(zmq::message_t frame);
    void flush(bool last);

    std::function<void(SyncReply)> post_;
    proto::Reply header_;
    std::vector<zmq::message_t> bodies_;
    std::size_t chunk_bytes_ = 0;
    bool begun_ = false;
};

}  // namespace shortq::primary
