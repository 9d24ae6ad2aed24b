// tests/soak/ledger.h: who was promised what: each request from its sending to its final reply.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/soak/plan.h"

namespace shortq::soak {

struct Tally {
    std::uint64_t requests = 0;
    std::uint64_t ok = 0;
    std::uint64_t errors = 0;
    std::uint64_t left = 0;  // Their client went away first: no reply is due.
    std::uint64_t lost = 0;
    std::uint64_t doubled = 0;
    std::uint64_t wrong_client = 0;  // Another one's reply, or not what was asked for.
    [[nodiscard]] std::uint64_t violations() const { return lost + doubled + wrong_client; }
};

// Threads: any. Memory: what is unanswered, and some of the latest faults.
class Ledger {
public:
    using Clock = std::chrono::steady_clock;
    // Gets each violation as it is found, with the history of the request.
    using Tell = std::function<void(const std::string& violation)>;
    // Numbers begin after `first`: those of several processes must not meet.
    Ledger(std::uint64_t first, Tell tell) : next_(first + 1), tell_(std::move(tell)) {}

    [[nodiscard]] std::uint64_t next_number() { return next_++; }
    // Before it is sent.
    void sent(const Plan& plan, const std::string& client);
    // Something that the request went through.
    void note(std::uint64_t number, const std::string& what);
    // Somebody else is about to cancel it. False: it is answered, or of another process.
    [[nodiscard]] bool allow_cancel(std::uint64_t number);
    // Its final reply has come to `client`; `fault`: what is wrong with its content.
    void answered(std::uint64_t number, const std::string& client, const std::string& outcome,
                  bool ok, const std::optional<std::string>& fault);
    // The client is gone, or goes right now.
    void left(std::uint64_t number);
    // A message under the number of a request that `client` does not wait for.
    void unexpected(std::uint64_t number, const std::string& client, const std::string& what);
    // Content that is wrong beyond any one request.
    void wrong(const std::string& what);
    // A worker is about to be killed or stopped. From the first on, nobody may lose one without.
    void blow();
    // For so long there may be nobody able to answer: `unavailable` is as it should be.
    void may_be_unavailable(std::chrono::seconds duration);
    // A fault that was made: it goes into the histories.
    void fault(const std::string& what);
    // Of another process.
    void add(const Tally& tally);

    // Finds what is overdue.
    void look();
    [[nodiscard]] std::size_t unanswered() const;
    [[nodiscard]] std::vector<std::string> oldest(std::size_t count) const;
    [[nodiscard]] Tally tally() const;
    // How often each outcome came: "ok", "timeout", ...
    [[nodiscard]] std::map<std::string, std::uint64_t> outcomes() const;

private:
    struct Moment {
        Clock::time_point at;
        std::string what;
    };
    struct Entry {
        Kind kind{};
        std::string text;
        std::string client;
        Clock::time_point sent;
        std::chrono::milliseconds patience{};
        std::vector<Moment> history;
        std::uint64_t blows = 0;  // Before it was sent.
        bool told_lost = false;
        bool may_be_cancelled = false;
    };

    [[nodiscard]] bool excused(const Entry& entry, const std::string& outcome) const;
    [[nodiscard]] bool could_lose_workers(const Entry& entry) const;
    [[nodiscard]] std::string history_of(std::uint64_t number, const Entry& entry) const;
    void violation(std::uint64_t& count, const std::string& what, const std::string& history);

    std::atomic<std::uint64_t> next_;
    Tell tell_;
    mutable std::mutex mutex_;
    std::map<std::uint64_t, Entry> open_;
    std::deque<Moment> faults_;
    std::uint64_t blows_ = 0;
    Clock::time_point unavailable_until_{};
    Tally tally_;
    std::map<std::string, std::uint64_t> outcomes_;
    const Clock::time_point start_ = Clock::now();
};

}  // namespace shortq::soak
