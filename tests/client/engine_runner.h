// tests/client/engine_runner.h: tables from DuckDB itself, without a server between.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "shortq/table.h"
#include "tests/worker/engine/fixture.h"

namespace shortq::test {

class EngineRunner {
public:
    // The test fails, and the table is empty, if the query does.
    [[nodiscard]] Table run(const std::string& query) {
        engine::testing::Collector collector;
        const auto done = engine_->run({query, {}}, collector);
        EXPECT_TRUE(done) << query << ": " << (done ? "" : done.error().message);
        return collector.table();
    }

private:
    std::unique_ptr<engine::Engine> engine_ = engine::testing::start("");
};

}  // namespace shortq::test
