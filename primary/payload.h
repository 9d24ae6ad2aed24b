// primary/payload.h: what the shell keeps for each accepted request: its text and parameters, as
// they came, for the first try and for a retry.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "primary/core/types.h"
#include "proto/message.h"

namespace shortq::primary {

// Body frames are never decoded here; sending one copies a reference, not the bytes.
struct Payload {
    core::RequestId request{};
    std::uint64_t serial = 0;
    core::ClientId client{};
    std::uint64_t client_request = 0;  // The client's own id.
    proto::Mode mode = proto::Mode::kDeferred;
    bool streaming = false;
    zmq::message_t text;
    zmq::message_t parameters;       // Empty: none came.
    std::uint64_t result_bytes = 0;  // Of the attempt under way.
    bool over_limit = false;         // Its result passed --max-result-bytes and is being stopped.

    [[nodiscard]] std::string_view text_view() const {
        return {static_cast<const char*>(text.data()), text.size()};
    }
};

// Payloads by the slot of their request. Threads: the dispatch thread.
class PayloadTable {
public:
    Payload& put(core::RequestId request, Payload payload) {
        const auto slot = core::slot_of(request);
        if (slot >= payloads_.size()) payloads_.resize(slot + 1);
        payloads_[slot] = std::move(payload);
        payloads_[slot].request = request;
        return payloads_[slot];
    }
    // Null: not kept (any more).
    [[nodiscard]] Payload* find(core::RequestId request) {
        const auto slot = core::slot_of(request);
        if (slot >= payloads_.size() || payloads_[slot].request != request) return nullptr;
        return &payloads_[slot];
    }
    // By whom it is and its owner's id for it. Walks the table: for rare uses.
    [[nodiscard]] Payload* find(core::ClientId client, std::uint64_t client_request) {
        for (auto& payload : payloads_)
            if (payload.client == client && payload.client_request == client_request)
                return &payload;
        return nullptr;
    }
    void release(core::RequestId request) {
        if (auto* payload = find(request)) *payload = Payload{};
    }

private:
    std::vector<Payload> payloads_;
};

}  // namespace shortq::primary
