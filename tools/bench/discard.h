// tools/bench/discard.h: an engine's result that nobody wants, but for its number of rows.
#pragma once

#include <cstdint>

#include "worker/engine/engine.h"

namespace shortq::bench {

class Discard final : public engine::ResultSink {
public:
    bool begin(const Schema& /*schema*/) override { return true; }
    bool batch(Batch batch) override {
        rows += static_cast<std::uint64_t>(batch.rows);
        return true;
    }
    std::uint64_t rows = 0;
};

}  // namespace shortq::bench
