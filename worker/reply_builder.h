// worker/reply_builder.h: one request's result as reply messages of half a megabyte to a megabyte
// each.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "worker/engine/engine.h"
#include "worker/frames.h"

namespace shortq::worker {

// Takes the engine's batches and hands out replies. Threads: the query thread only.
class ReplyBuilder : public engine::ResultSink {
public:
    // Passes a piece on that is not the last; false: nobody wants more.
    using Emit = std::function<bool(Frames)>;

    // `bytes_max`: limit of the whole result; 0: none.
    ReplyBuilder(std::uint64_t request, std::uint64_t bytes_max, Emit emit);

    [[nodiscard]] bool begin(const Schema& schema) override;
    [[nodiscard]] bool batch(Batch batch) override;

    // Not empty once the result outgrew a limit, which ends the run: what to tell.
    [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }

    // The final reply after a run that succeeded.
    [[nodiscard]] Frames finish(std::chrono::microseconds ran);
    // The final reply after a run that failed.
    [[nodiscard]] Frames fail(std::chrono::microseconds ran, const Error& error, bool sick);

private:
    void append(zmq::message_t frame);
    // The message gathered so far under its header; starts the next one.
    [[nodiscard]] Frames take(bool last);
    void start_message();

    std::uint64_t request_;
    std::uint64_t bytes_max_;
    Emit emit_;
    Frames message_;  // Place for the header, then bodies.
    std::uint64_t message_bytes_ = 0;
    std::uint32_t batches_ = 0;
    std::uint32_t sequence_ = 0;
    proto::Facts facts_;
    bool begun_ = false;
    std::string refusal_;
};

}  // namespace shortq::worker
