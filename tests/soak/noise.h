// tests/soak/noise.h: connections that send what nobody should.
#pragma once

#include <cstdint>
#include <string>

#include "tests/soak/gate.h"
#include "tests/soak/random.h"

namespace shortq::soak {

// Threads: run() on one of its own.
class Noise {
public:
    Noise(std::uint64_t seed, std::uint16_t port, Gate& gate);
    void run();

private:
    void bytes();   // Instead of ZeroMQ's greeting, or after it.
    void frames();  // Well-formed messages of random frames, or of altered headers.
    [[nodiscard]] std::string random_bytes(std::int64_t most);
    [[nodiscard]] std::string altered_header();

    Random random_;
    std::uint16_t port_;
    Gate& gate_;
};

}  // namespace shortq::soak
