// tests/soak/load.h: clients of the C++ library, a thread each, in this process.
#pragma once

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tests/soak/gate.h"
#include "tests/soak/ledger.h"
#include "tests/soak/random.h"

namespace shortq::soak {

// What every client needs. Owns nothing; all of it outlives the clients.
struct Scene {
    std::function<Client(const std::string& agent)> connect;  // Throws if it cannot.
    Ledger& ledger;
    Gate& gate;
    const Versions& versions;
    std::uint64_t seed = 0;
    bool restarts = false;
};

// Clients that ask until the gate says that it is over. Threads: one.
class Load {
public:
    Load(Scene scene, bool light);
    ~Load() { join(); }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Returns when all have gone. Pre: the gate is over.
    void join();
    // Connections that stay for the whole run.
    [[nodiscard]] std::size_t clients() const noexcept { return threads_.size(); }

private:
    template <class Asker>
    void start(const std::string& name);

    Scene scene_;
    std::vector<std::thread> threads_;
};

}  // namespace shortq::soak
