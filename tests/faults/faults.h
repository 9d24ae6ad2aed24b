// tests/faults/faults.h: what every test of faults begins with: a seed, clients of all kinds under
// way, and what has to hold when the faults are over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/end-to-end/processes.h"
#include "tests/faults/load.h"
#include "tests/faults/wire_client.h"

namespace shortq::test {

// Draws the moments. A new one each time, told with every failure; SHORTQ_TEST_SEED sets it. What
// the machine does meanwhile cannot be replayed, so a seed narrows the search, no more.
class Seed {
public:
    Seed() : Seed(chosen()) {}
    [[nodiscard]] std::uint64_t next() { return random_(); }
    [[nodiscard]] std::uint64_t between(std::uint64_t least, std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>(least, most)(random_);
    }
    template <class T>
    [[nodiscard]] const T& pick(const std::vector<T>& from) {
        return from.at(between(0, from.size() - 1));
    }

private:
    explicit Seed(std::uint64_t seed)
        : random_(seed), trace_(__FILE__, __LINE__, "SHORTQ_TEST_SEED=" + std::to_string(seed)) {}
    static std::uint64_t chosen() {
        const char* given = std::getenv("SHORTQ_TEST_SEED");
        return given == nullptr ? std::random_device()() : std::strtoull(given, nullptr, 10);
    }

    std::mt19937_64 random_;
    ::testing::ScopedTrace trace_;
};

// The clients that ask while things break. Each has a name of its own and keeps its own account.
class Ledger {
public:
    struct Options {
        int clients = 2;
        LoadOptions each{};
        bool wire = true;  // One more, that would see a second reply.
    };
    Ledger(std::string endpoint, Seed& seed, Options options) {
        options.each.endpoint = std::move(endpoint);
        for (int i = 0; i < options.clients; ++i) {
            options.each.name = "client-" + std::to_string(i);
            options.each.seed = seed.next();
            clients_.push_back(std::make_unique<LoadClient>(options.each));
        }
        options.each.name = "wire";
        if (options.wire) wire_ = std::make_unique<WireClient>(options.each);
    }

    [[nodiscard]] std::uint64_t replies() const {
        std::uint64_t sum = wire_ ? wire_->replies() : 0;
        for (const auto& client : clients_) sum += client->replies();
        return sum;
    }
    // Waits until so many more have come: moments are drawn in replies, not in time.
    void wait_for(std::uint64_t more) const {
        const auto goal = replies() + more;
        ASSERT_TRUE(wait_until([&] { return replies() >= goal; }))
            << "only " << replies() << " replies of " << goal;
    }
    // Nothing new is asked, everything is answered.
    Tally finish() {
        Tally sum;
        for (auto& client : clients_) {
            client->finish();
            sum.add(client->tally());
        }
        if (wire_) {
            wire_->finish();
            sum.add(wire_->tally());
        }
        clients_.clear();
        wire_.reset();
        return sum;
    }

private:
    std::vector<std::unique_ptr<LoadClient>> clients_;
    std::unique_ptr<WireClient> wire_;
};

class Faults : public Processes {
protected:
    // Sanitizers make everything several times slower; what is tried less often there is tried
    // often without them.
    static constexpr std::uint64_t fewer(std::uint64_t count) {
        return kSanitized ? std::max<std::uint64_t>(2, count / 3) : count;
    }
    // Every request has had exactly one reply, the right one or one of these errors.
    static void expect_kept(const Tally& tally, std::vector<ErrorCode> allowed) {
        EXPECT_THAT(tally.faults, ::testing::IsEmpty()) << tally.text();
        EXPECT_EQ(tally.sent, tally.right + tally.all_errors()) << tally.text();
        for (const auto& [code, count] : tally.errors)
            EXPECT_THAT(allowed, ::testing::Contains(code)) << tally.text();
        EXPECT_GT(tally.right, 0U) << tally.text();
    }
    // A request is given up at its second loss, a stream that has begun at the first.
    static void expect_kept_through_losses(const Tally& tally, std::uint64_t losses) {
        expect_kept(tally, {ErrorCode::kWorkerLost});
        EXPECT_LE(tally.of(ErrorCode::kWorkerLost) - tally.streams_cut, losses / 2) << tally.text();
        EXPECT_LE(tally.streams_cut, losses) << tally.text();
    }
    // Nothing is under way but the question itself, all that was accepted is accounted for, and no
    // client is left but the one that asks.
    static void expect_at_rest(Client& client) {
        const std::string gauges =
            "select string_agg(name || '=' || value, ' ' order by name) from shortq.stats where "
            "kind = 'gauge'";
        const auto rest = "request_bytes=" + std::to_string(gauges.size()) +
                          " requests_abandoned=0 requests_at_workers=1 requests_queued=0";
        std::string found;
        EXPECT_TRUE(wait_until([&] {
            found = cell(client.sync(gauges));
            return found == rest;
        })) << found;
        EXPECT_EQ(cell(client.sync(
                      "select sum(case name when 'requests_accepted' then value else -value end) "
                      "from shortq.stats where name in ('requests_accepted', 'requests_answered', "
                      "'requests_failed', 'requests_dropped')")),
                  "1");
        EXPECT_TRUE(wait_until(
            [&] { return cell(client.sync("select count(*) from shortq.clients")) == "1"; }));
    }
    // All workers are there and each answers; and it is the primary that says so.
    static void expect_all_back(Client& client, std::size_t workers) {
        EXPECT_TRUE(wait_until_ready(client, workers))
            << "only "
            << cell(client.sync("select count(*) from shortq.workers where state = "
                                "'ready'"))
            << " are ready";
    }
    // A worker that is no fork server about to get its name.
    [[nodiscard]] static std::optional<pid_t> some_worker(const Server& server, Seed& seed) {
        const auto workers = server.workers();
        if (workers.empty()) return std::nullopt;
        return seed.pick(workers);
    }
};

}  // namespace shortq::test
