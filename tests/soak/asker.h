// tests/soak/asker.h: ways to use the client library, each until the run is over.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <string>

#include "tests/soak/judge.h"
#include "tests/soak/load.h"

namespace shortq::soak {

// Threads: run() on one of its own.
class Asker {
public:
    Asker(const Scene& scene, std::string name, std::uint64_t stream);
    virtual ~Asker() = default;
    Asker(const Asker&) = delete;
    Asker& operator=(const Asker&) = delete;

    void run();

protected:
    // A piece of work; nothing is under way before and after it.
    virtual void work() = 0;

    // A new request, in the ledger.
    [[nodiscard]] Plan next(Kind kind, bool cancellable = false);

    Scene scene_;
    std::string name_;
    Random random_;
    Judge judge_;
    Client client_;

private:
    void come_and_go();
};

// One request at a time, of every kind, deferred and sync.
class OneByOne : public Asker {
    using Asker::Asker;
    void work() override;

    std::uint32_t newest_ = 0;  // Generation: for who asks one after the other, they never go back.
};

// The primary's own engine, one request at a time.
class SyncUser : public Asker {
    using Asker::Asker;
    void work() override;
};

// kdb+'s way: several out, then whatever comes in.
class Batcher : public Asker {
    using Asker::Asker;
    void work() override;
    [[nodiscard]] bool send(std::map<RequestNumber, Plan>& under_way);
};

// More at once than the primary takes; some are cancelled.
class Burster : public Asker {
    using Asker::Asker;
    void work() override;
    void take_as_they_come(std::deque<std::pair<Plan, Submitted>>& out);
};

// Large results as streams: read at once, slowly, hardly, or left in the middle.
class Reader : public Asker {
    using Asker::Asker;
    void work() override;
    void read(Stream& stream, const Plan& plan);
    void pause_between(const Plan& plan);
};

// Comes, asks a little, and goes: some with requests under way.
class Visitor : public Asker {
    using Asker::Asker;
    void work() override;
};

}  // namespace shortq::soak
