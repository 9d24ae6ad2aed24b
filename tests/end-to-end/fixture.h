// tests/end-to-end/fixture.h: what most end-to-end tests begin with.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tests/end-to-end/harness.h"

namespace shortq::test {

// How programs of this project end.
inline constexpr ExitStatus kSucceeded{.signalled = false, .value = 0};
inline constexpr ExitStatus kFailed{.signalled = false, .value = 1};
inline constexpr ExitStatus kUsage{.signalled = false, .value = 2};
inline constexpr ExitStatus kNoConnection{.signalled = false, .value = 3};

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

[[nodiscard]] inline milliseconds since(Clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(Clock::now() - start);
}

[[nodiscard]] inline QueryOptions within(milliseconds timeout) {
    QueryOptions options;
    options.timeout = timeout;
    return options;
}

class EndToEnd : public ::testing::Test {
protected:
    // Arguments for a server whose workers run the test engine (echo, sleep, crash ... on command),
    // each after the lines of `script`. Options go before.
    [[nodiscard]] std::vector<std::string> test_engine(int workers,
                                                       std::vector<std::string> options = {},
                                                       std::string_view script = {}) const {
        options.insert(options.end(), {"--engine", "test", std::to_string(workers),
                                       folder_.write("startup.test", script)});
        return options;
    }
    // Arguments for a server whose workers run DuckDB after the SQL of `script`.
    [[nodiscard]] std::vector<std::string> duckdb(int workers, std::string_view script,
                                                  std::vector<std::string> options = {}) const {
        options.insert(options.end(),
                       {std::to_string(workers), folder_.write("startup.sql", script)});
        return options;
    }

    // How many requests the workers are running, as the primary sees it.
    [[nodiscard]] static std::int64_t running(Client& client) {
        const auto table = client.sync(
            "select count(*) from shortq.queries where state = 'running' and mode = 'deferred'");
        EXPECT_TRUE(table) << summary(table);
        return table ? table->integer(0, 0).value_or(-1) : -1;
    }
    [[nodiscard]] static bool wait_until_running(Client& client, std::int64_t count) {
        return wait_until([&] { return running(client) == count; });
    }
    // The process of the worker that runs something; -1 if none or several do.
    [[nodiscard]] static pid_t busy_worker(Client& client) {
        const auto table = client.sync("select pid from shortq.workers where running is not null");
        if (!table || table->rows() != 1) return -1;
        return static_cast<pid_t>(table->integer(0, 0).value_or(-1));
    }

    // A figure of `shortq.stats`; -1 if there is none.
    [[nodiscard]] static std::int64_t stat(Client& client, const std::string& name) {
        const auto table =
            client.sync("select value from shortq.stats where name = '" + name + "'");
        EXPECT_TRUE(table) << summary(table);
        if (!table || table->rows() != 1) return -1;
        return table->integer(0, 0).value_or(-1);
    }

    TemporaryFolder folder_;
};

}  // namespace shortq::test
