// tests/end-to-end/harness.h: a real primary with real workers, and real clients, for tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shortq/client.h"
#include "tests/end-to-end/program.h"

namespace shortq::test {

[[nodiscard]] std::filesystem::path shortq_program();
[[nodiscard]] std::filesystem::path shortq_cli_program();

// The arguments with `--spawn` as the test run wants it: the same tests hold however workers are
// started.
[[nodiscard]] std::vector<std::string> with_spawn(std::vector<std::string> arguments);

// A running `shortq` on a free port. When it goes, it is stopped, and the test fails if it does not
// leave with 0, leaves a process behind, or wrote a sanitizer's report.
class Server {
public:
    // `arguments` as on the command line, without a port: {"2", "startup.sql"}. Returns when the
    // ready line is there; throws with the log if it does not come.
    explicit Server(const std::vector<std::string>& arguments, std::uint16_t port = 0,
                    const Environment& environment = {});
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
    [[nodiscard]] std::string endpoint() const;
    [[nodiscard]] const std::string& ready_line() const noexcept { return ready_line_; }
    [[nodiscard]] pid_t pid() const { return program_.pid(); }
    [[nodiscard]] std::string log() const { return program_.err(); }

    // Live worker processes, oldest first.
    [[nodiscard]] std::vector<pid_t> workers() const;
    [[nodiscard]] bool wait_for_workers(std::size_t count) const;
    // Live fork servers, oldest first. One that is forking right now shows twice.
    [[nodiscard]] std::vector<pid_t> fork_servers() const;
    [[nodiscard]] std::vector<ProcessInfo> family() const { return program_.family(); }

    void signal(int number) const noexcept { program_.signal(number); }
    // None: it lives on.
    [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds patience = kPatience);
    // Nothing of it is left within `patience`, itself included.
    [[nodiscard]] bool wait_until_gone(std::chrono::milliseconds patience = kPatience) const;

    // A connection to it that waits until a worker can answer; fails the test if there is none.
    [[nodiscard]] Client connect(ConnectOptions options = {}) const;

    // shortq-cli with `--port` added.
    [[nodiscard]] Outcome cli(std::vector<std::string> arguments,
                              std::string_view input = {}) const;
    [[nodiscard]] std::unique_ptr<Program> start_cli(std::vector<std::string> arguments,
                                                     std::string_view input = {}) const;

private:
    Program program_;
    std::uint16_t port_ = 0;
    std::string ready_line_;
};

// Waits for a future with a bound; a reply that does not come throws, so that the test ends.
[[nodiscard]] Result<Table> reply_of(Submitted& submitted,
                                     std::chrono::milliseconds patience = kPatience);

// The only cell, as text; the error's code and message if there is none.
[[nodiscard]] std::string cell(const Result<Table>& result);
[[nodiscard]] std::string cell(Submitted& submitted);

// "query_error: message", or "ok": for failure messages of tests.
[[nodiscard]] std::string summary(const Result<Table>& result);

}  // namespace shortq::test
