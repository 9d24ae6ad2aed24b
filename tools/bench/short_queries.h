// tools/bench/short_queries.h: clients that ask one short query after the other, and how many a
// second are answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "proto/error.h"
#include "shortq/client.h"

namespace shortq::bench {

class ShortQueries {
public:
    // `count` at a time, from now on until stop().
    [[nodiscard]] static Result<std::unique_ptr<ShortQueries>> start(const std::string& endpoint,
                                                                     unsigned count);
    ShortQueries(const ShortQueries&) = delete;
    ShortQueries& operator=(const ShortQueries&) = delete;
    ~ShortQueries();

    void begin_count();
    // Since begin_count().
    [[nodiscard]] double per_second() const;
    // Errors: the first that a query got.
    [[nodiscard]] Result<void> stop();

private:
    using Clock = std::chrono::steady_clock;

    explicit ShortQueries(Client client) : client_(std::move(client)) {}
    void ask();

    Client client_;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> answered_ = 0;
    std::uint64_t counted_ = 0;  // When the count began.
    Clock::time_point since_ = Clock::now();
    std::mutex mutex_;
    Result<void> outcome_;  // Under mutex_.
    std::vector<std::thread> threads_;
};

}  // namespace shortq::bench
