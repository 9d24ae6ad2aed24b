// tests/proto/samples.h: messages with every field set, at its least and at its largest.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "proto/message.h"

namespace shortq::test {

inline constexpr std::string_view kSampleToken = "0123456789abcdef0123456789abcdef";
static_assert(kSampleToken.size() == proto::kTokenBytes);

template <class T>
inline constexpr T kMost = std::numeric_limits<T>::max();

// One of each kind, no two fields alike.
inline std::vector<proto::Message> typical_messages() {
    using namespace proto;  // NOLINT(google-build-using-namespace): all kinds.
    const Facts facts{.worker = 2,
                      .generation = 3,
                      .queued_us = 400,
                      .run_us = 50'000,
                      .rows = 6'000'000,
                      .bytes = 7'000'000'000};
    return {
        Hello{.role = Role::kWorker,
              .version_min = 1,
              .version_max = 2,
              .pid = 4711,
              .agent = "shortq-worker/0.1.0",
              .user = "j\xc3\xb6rg",
              .token = kSampleToken},
        Welcome{.version = 1,
                .session = 0x123456789abcdef0,
                .workers = 4,
                .generation = 2,
                .query_bytes_max = 16 << 20,
                .result_bytes_max = 5'000'000'000,
                .pending_max = 10'000,
                .heartbeat_ms = 1000,
                .server = "shortq/0.1.0"},
        Request{.id = 77,
                .session = 99,
                .mode = Mode::kSync,
                .priority = Priority::kLow,
                .streaming = true,
                .timeout_ms = 30'000,
                .min_generation = 5,
                .service = "default"},
        Cancel{.id = 77, .session = 99},
        Reply{
            .id = 77, .attempt = 1, .sequence = 70'000, .batches = 3, .last = true, .facts = facts},
        ErrorReply{.id = 77,
                   .code = ErrorCode::kWorkerLost,
                   .retryable = true,
                   .sick = true,
                   .facts = facts},
        Ready{.generation = 4, .load_us = 3'300'000},
        Heartbeat{.session = 99, .running = 77, .progress_ppm = 250'000, .rss_bytes = 1 << 30},
        Ping{},
        Recall{.id = 77},
        Recalled{.id = 78},
        Interrupt{.id = 79},
        Drain{},
        Goodbye{.session = 99},
        WornOut{.why = "it spilled"},
        Credit{.id = 77, .session = 99, .attempt = 1, .bytes = 5 << 20},
        Progress{.id = 77, .progress_ppm = 250'000},
    };
}

// One of each kind that has a largest value: every number and text at its maximum.
inline std::vector<proto::Message> largest_messages() {
    using namespace proto;  // NOLINT(google-build-using-namespace): all kinds.
    static const std::string kLong(kServiceBytesMax, 'x');
    const std::string_view agent(kLong.data(), kAgentBytesMax);
    const Facts facts{kMost<std::uint32_t>, kMost<std::uint32_t>, kMost<std::uint64_t>,
                      kMost<std::uint64_t>, kMost<std::uint64_t>, kMost<std::uint64_t>};
    return {
        Hello{Role::kWorker, kMost<std::uint16_t>, kMost<std::uint16_t>, kMost<std::uint64_t>,
              agent, agent, kSampleToken},
        Welcome{kMost<std::uint16_t>, kMost<std::uint64_t>, kMost<std::uint32_t>,
                kMost<std::uint32_t>, kMost<std::uint64_t>, kMost<std::uint64_t>,
                kMost<std::uint32_t>, kMost<std::uint32_t>, agent},
        Request{kMost<std::uint64_t>, kMost<std::uint64_t>, Mode::kSync, Priority::kLow, true,
                kMost<std::uint32_t>, kMost<std::uint32_t>, kLong},
        Cancel{kMost<std::uint64_t>, kMost<std::uint64_t>},
        Reply{kMost<std::uint64_t>, kMost<std::uint32_t>, kMost<std::uint32_t>, kBatchesPerReplyMax,
              true, facts},
        ErrorReply{kMost<std::uint64_t>, ErrorCode::kConnection, true, true, facts},
        Ready{kMost<std::uint32_t>, kMost<std::uint64_t>},
        Heartbeat{kMost<std::uint64_t>, kMost<std::uint64_t>, 1'000'000, kMost<std::uint64_t>},
        Recall{kMost<std::uint64_t>},
        Recalled{kMost<std::uint64_t>},
        Interrupt{kMost<std::uint64_t>},
        Goodbye{kMost<std::uint64_t>},
        Credit{kMost<std::uint64_t>, kMost<std::uint64_t>, kMost<std::uint32_t>,
               kMost<std::uint64_t>},
        Progress{kMost<std::uint64_t>, 1'000'000},
    };
}

}  // namespace shortq::test
