// tests/client/engine_runner.h: tables from DuckDB itself, without a server between.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shortq/table.h"
#include "worker/engine/engine.h"

namespace shortq::test {

class EngineRunner {
public:
    EngineRunner() : engine_(engine::make_engine("duckdb", {}).value()) {
        EXPECT_TRUE(engine_->load({}));
    }

    // The test fails, and the table is empty, if the query does.
    [[nodiscard]] Table run(const std::string& query) {
        Collector collector;
        const auto done = engine_->run({query, {}}, collector);
        EXPECT_TRUE(done) << query << ": " << (done ? "" : done.error().message);
        return collector.table();
    }

private:
    class Collector : public engine::ResultSink {
    public:
        bool begin(const Schema& schema) override {
            schema_ = schema;
            return true;
        }
        bool batch(Batch batch) override {
            batches_.push_back(std::move(batch));
            return true;
        }
        Table table() { return {std::move(schema_), std::move(batches_), {}}; }

    private:
        Schema schema_;
        std::vector<Batch> batches_;
    };

    std::unique_ptr<engine::Engine> engine_;
};

}  // namespace shortq::test
