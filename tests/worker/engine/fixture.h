// tests/worker/engine/fixture.h: an engine with its files in a folder of its own, and results as
// text.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "shortq/table.h"
#include "worker/engine/engine.h"

namespace shortq::engine::testing {

// A folder that is removed with everything in it.
class TempFolder {
public:
    TempFolder() {
        std::string pattern =
            (std::filesystem::temp_directory_path() / "shortq-engine-XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp");
        path_ = pattern;
    }
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;
    ~TempFolder() {
        std::error_code ignored;
        std::filesystem::current_path(std::filesystem::temp_directory_path(), ignored);
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    std::filesystem::path write(const std::filesystem::path& name, std::string_view text) const {
        const std::filesystem::path file = path_ / name;
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file, std::ios::binary) << text;
        return file;
    }

    // Every path in the folder, sorted, one a line.
    [[nodiscard]] std::vector<std::string> list() const {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
            names.push_back(std::filesystem::relative(entry.path(), path_).string());
        }
        std::ranges::sort(names);
        return names;
    }

private:
    std::filesystem::path path_;
};

// Keeps what the engine gives.
class Collector : public ResultSink {
public:
    bool begin(const Schema& schema) override {
        ++begins;
        result_schema = schema;
        return true;
    }
    bool batch(Batch batch) override {
        batches.push_back(std::move(batch));
        return true;
    }
    [[nodiscard]] Table table() const { return {result_schema, batches, {}}; }

    int begins = 0;
    Schema result_schema;
    std::vector<Batch> batches;
};

// Rows as "a|b\n"; an error as "code: message".
[[nodiscard]] inline std::string ask(Engine& engine, std::string_view text,
                                     const Parameters& parameters = {}) {
    Collector collector;
    const auto done = engine.run({text, parameters}, collector);
    if (!done) return std::string(name_of(done.error().code)) + ": " + done.error().message;
    EXPECT_EQ(collector.begins, 1) << text;
    const Table table = collector.table();
    std::string out;
    for (std::uint64_t row = 0; row < table.rows(); ++row) {
        for (std::size_t column = 0; column < table.columns(); ++column) {
            out += (column > 0 ? "|" : "") + table.text(row, column);
        }
        out += '\n';
    }
    return out;
}

[[nodiscard]] inline std::unique_ptr<Engine> make(EngineOptions options = {},
                                                  std::string_view name = "duckdb") {
    auto engine = make_engine(name, std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    return std::move(*engine);
}

// Made and loaded.
[[nodiscard]] inline std::unique_ptr<Engine> start(const std::filesystem::path& source,
                                                   EngineOptions options = {},
                                                   std::string_view name = "duckdb") {
    auto engine = make(std::move(options), name);
    const auto loaded = engine->load(source);
    if (!loaded) throw std::runtime_error(loaded.error().where + ": " + loaded.error().message);
    return engine;
}

}  // namespace shortq::engine::testing
