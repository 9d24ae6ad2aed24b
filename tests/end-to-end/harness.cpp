#include "tests/end-to-end/harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>
#include <regex>
#include <stdexcept>

namespace shortq::test {
namespace {

std::vector<std::string> with_port(std::vector<std::string> arguments, std::uint16_t port) {
    arguments.insert(arguments.begin(), {"--port", std::to_string(port)});
    return arguments;
}

std::vector<pid_t> named(const std::vector<ProcessInfo>& processes, std::string_view name) {
    std::vector<pid_t> found;
    for (const auto& process : processes) {
        if (process.name == name) found.push_back(process.pid);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace

std::vector<std::string> with_spawn(std::vector<std::string> arguments) {
    if (const char* spawn = std::getenv("SHORTQ_TEST_SPAWN"))
        arguments.insert(arguments.begin(), {"--spawn", spawn});
    return arguments;
}

std::filesystem::path shortq_program() { return SHORTQ_PROGRAM; }
std::filesystem::path shortq_cli_program() { return SHORTQ_CLI_PROGRAM; }

Server::Server(const std::vector<std::string>& arguments, std::uint16_t port,
               const Environment& environment)
    : program_(shortq_program(), with_spawn(with_port(arguments, port)), {}, environment) {
    const auto came = wait_until([&] {
        ready_line_ = program_.out();
        return ready_line_.ends_with('\n') || program_.wait(std::chrono::milliseconds(0));
    });
    static const std::regex kReady(
        R"(ready tcp://127\.0\.0\.1:(\d+) workers=\d+ generation=1 load=\d+\.\d+s\n)");
    std::smatch match;
    if (!came || !std::regex_match(ready_line_, match, kReady)) {
        throw std::runtime_error("no ready line but \"" + ready_line_ + "\"; log:\n" + log());
    }
    port_ = static_cast<std::uint16_t>(std::stoi(match[1]));
}

Server::~Server() {
    if (!program_.wait(std::chrono::milliseconds(0))) {
        // The second signal ends a drain at once; another number, since equal ones may merge.
        signal(SIGCONT);
        signal(SIGTERM);
        signal(SIGINT);
        const auto status = program_.wait();
        EXPECT_TRUE(status) << "the server does not stop; log:\n" << log();
        if (status) {
            EXPECT_TRUE(status->success()) << describe(*status) << "; log:\n" << log();
        }
    }
    EXPECT_TRUE(wait_until_gone()) << "a process is left behind; log:\n" << log();
    EXPECT_EQ(sanitizer_reports(log()), "");
    if (::testing::Test::HasFailure()) std::cerr << "---- log of the server\n" << log();
}

std::string Server::endpoint() const { return "tcp://127.0.0.1:" + std::to_string(port_); }

std::vector<pid_t> Server::workers() const { return named(program_.family(), "shortq-worker"); }

std::vector<pid_t> Server::fork_servers() const { return named(program_.family(), "shortq-fork"); }

bool Server::wait_for_workers(std::size_t count) const {
    return wait_until([&] { return workers().size() == count; });
}

std::optional<ExitStatus> Server::wait(std::chrono::milliseconds patience) {
    return program_.wait(patience);
}

bool Server::wait_until_gone(std::chrono::milliseconds patience) const {
    return wait_until([&] { return program_.family().empty(); }, patience);
}

Client Server::connect(ConnectOptions options) const {
    options.endpoints = {endpoint()};
    options.connect_timeout = kPatience;
    options.wait_until_ready = true;
    auto client = Client::connect(std::move(options));
    if (!client) throw std::runtime_error("no connection: " + client.error().message);
    return std::move(*client);
}

Outcome Server::cli(std::vector<std::string> arguments, std::string_view input) const {
    return start_cli(std::move(arguments), input)->finish();
}

std::unique_ptr<Program> Server::start_cli(std::vector<std::string> arguments,
                                           std::string_view input) const {
    return std::make_unique<Program>(shortq_cli_program(), with_port(std::move(arguments), port_),
                                     input);
}

Result<Table> reply_of(Submitted& submitted, std::chrono::milliseconds patience) {
    if (submitted.reply.wait_for(patience) != std::future_status::ready) {
        throw std::runtime_error("no reply within " + std::to_string(patience.count()) + " ms");
    }
    return submitted.reply.get();
}

std::string summary(const Result<Table>& result) {
    if (result) return "ok";
    return std::string(name_of(result.error().code)) + ": " + result.error().message;
}

std::string cell(const Result<Table>& result) {
    if (!result) return summary(result);
    if (result->rows() != 1 || result->columns() != 1) {
        return std::to_string(result->rows()) + " rows, " + std::to_string(result->columns()) +
               " columns";
    }
    return result->text(0, 0);
}

std::string cell(Submitted& submitted) { return cell(reply_of(submitted)); }

}  // namespace shortq::test
