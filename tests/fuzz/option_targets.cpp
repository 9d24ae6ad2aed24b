// tests/fuzz/option_targets.cpp: command lines of the three programs, the configuration file, and
// the values in them.
#include <sys/mman.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <sstream>

#include "primary/options.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tools/cli/options.h"
#include "worker/engine/unique_fd.h"
#include "worker/options.h"

namespace shortq::fuzz {
namespace {

// The arguments of a command line, as main() gets them: frames, cut at the first zero.
class Arguments {
public:
    Arguments(std::string program, Taker& taker) : texts_{std::move(program)} {
        while (!taker.done()) add(taker.text());
    }
    void add(const std::string& text) { texts_.emplace_back(text.c_str()); }
    // The file that --config names is another input's matter.
    void drop_files() {
        std::erase_if(texts_, [](const auto& text) { return text.starts_with("--c"); });
    }

    [[nodiscard]] int count() const { return static_cast<int>(texts_.size()); }
    [[nodiscard]] char** values() {
        values_.clear();
        for (auto& text : texts_) values_.push_back(text.data());
        values_.push_back(nullptr);
        return values_.data();
    }

private:
    std::vector<std::string> texts_;
    std::vector<char*> values_;
};

std::string line_of(const std::vector<std::string>& arguments) {
    std::string seed;
    for (const auto& argument : arguments) append_frame(seed, argument);
    return seed;
}

void expect_said(const Error& error) {
    SHORTQ_FUZZ_CHECK(error.code == ErrorCode::kBadRequest && !error.message.empty());
}

// ---- shortq

void check_parsed(const Result<primary::CommandLine>& line) {
    if (!line) return expect_said(line.error());
    if (!line->print.empty()) return;
    SHORTQ_FUZZ_CHECK(line->options.workers >= 1 && line->options.workers <= 1024);
    SHORTQ_FUZZ_CHECK(line->options.threads >= 1 && !line->options.source.empty());
    SHORTQ_FUZZ_CHECK(line->options.grace.count() >= 0 && line->options.timeout.count() >= 0);
    static_cast<void>(primary::core_options(line->options));
}

void run_shortq_line(Input input) {
    Taker taker(input);
    Arguments arguments("shortq", taker);
    arguments.drop_files();
    check_parsed(primary::parse_options(arguments.count(), arguments.values()));
}

std::vector<std::string> shortq_line_seeds() {
    return {
        line_of({"2", "startup.sql"}),
        line_of({"-p", "0", "--listen", "::1", "--window=7", "--policy", "random", "auto", "hdb"}),
        line_of({"--timeout", "1.5", "--grace", "0.25", "--max-pending", "10", "2", "x"}),
        line_of({"--memory-limit", "1G", "--allow-path", "/tmp", "--threads", "3", "1", "x"}),
        line_of(
            {"--spawn", "exec", "--warm", "all", "--writable", "--log-level", "debug", "1", "x"}),
        line_of({"--help"}),
        line_of({"--version"}),
        line_of({"--wndow", "3", "2", "x"}),
        line_of({"2", "x", "y"}),
        line_of({"--listen", "0.0.0.0", "2", "x"}),
        line_of({"--port"}),
        line_of({"--", "2", "x"}),
        line_of({"-p5001", "2", "x"})};
}

// ---- config: through a file in memory, which the parser opens as any other.

void run_config(Input input) {
    const UniqueFd file(::memfd_create("config", MFD_CLOEXEC));
    SHORTQ_FUZZ_CHECK(::write(file.get(), input.data(), input.size()) ==
                      static_cast<ssize_t>(input.size()));
    const auto path = "/proc/self/fd/" + std::to_string(file.get());
    const std::array<const char*, 5> line{"shortq", "--config", path.c_str(), "2", "x"};
    check_parsed(primary::parse_options(static_cast<int>(line.size()), line.data()));
}

std::vector<std::string> config_seeds() {
    return {"port = 5001\nlisten = \"127.0.0.1\"\nwindow = \"auto\"\n",
            "timeout = 1.5\nwritable = true\nallow-path = [\"/tmp\", \"/usr\"]\n",
            "# comment\nmax-query-bytes = '16M'\nlog-format = \"\"\"json\"\"\"\n",
            "[table]\nkey = 1979-05-27T07:32:00Z\n",
            "a.b.c = {x = [1, [2, {}]]}\n",
            "drain = inf\nstall = -0x1f\ngrace = 1e400\n",
            "policy = \"\\u00e9\\U0001F986\"\n"};
}

// ---- shortq-worker: prints what is wrong with its line itself.

class Silenced {
public:
    Silenced() : out_(std::cout.rdbuf(text_.rdbuf())), err_(std::cerr.rdbuf(text_.rdbuf())) {}
    ~Silenced() {
        std::cout.rdbuf(out_);
        std::cerr.rdbuf(err_);
    }
    Silenced(const Silenced&) = delete;
    Silenced& operator=(const Silenced&) = delete;

private:
    std::ostringstream text_;
    std::streambuf* out_;
    std::streambuf* err_;
};

void run_worker_line(Input input) {
    Taker taker(input);
    Arguments arguments("shortq-worker", taker);
    const Silenced silenced;
    const auto parsed = worker::parse_options(arguments.count(), arguments.values());
    if (const auto* options = std::get_if<worker::Options>(&parsed)) {
        SHORTQ_FUZZ_CHECK(options->board_fd >= 0 && options->seat > 0 && options->generation > 0);
        SHORTQ_FUZZ_CHECK(options->engine_options.threads > 0);
    }
}

std::vector<std::string> worker_line_seeds() {
    const std::vector<std::string> least{"--connect", "ipc://x", "--board-fd", "3"};
    auto all = least;
    for (const char* text :
         {"--engine", "test", "--source", "x.sql", "--seat", "2", "--generation", "3", "--threads",
          "2", "--memory-limit", "1073741824", "--temp-directory", "/tmp/x", "--allow-path", "/tmp",
          "--writable", "--log-format", "json"})
        all.emplace_back(text);
    return {line_of(least), line_of(all),
            line_of({"--fork-server", "4", "--workers", "2", "--warm", "all", "--connect=ipc://x",
                     "--board-fd=3"}),
            line_of({"--help"})};
}

// ---- shortq-cli

void run_cli_line(Input input) {
    Taker taker(input);
    Arguments arguments("shortq-cli", taker);
    const auto line = cli::parse_options(arguments.count(), arguments.values());
    if (!line) return expect_said(line.error());
    if (!line->print.empty()) return;
    SHORTQ_FUZZ_CHECK(!line->options.connect.endpoints.empty());
    SHORTQ_FUZZ_CHECK(line->options.repeat >= 1 && line->options.concurrency >= 1);
    SHORTQ_FUZZ_CHECK(line->options.query.timeout.count() >= 0);
}

std::vector<std::string> cli_line_seeds() {
    return {
        line_of({"select 1"}),
        line_of({"--param", "A", "--param", "-5", "--param", "1.5e3", "select ?"}),
        line_of({"-H", "::1", "-p", "5001", "--sync", "--format", "json", "-f", "x.sql"}),
        line_of({"--connect", "tcp://a:1", "--connect=tcp://b:2", "--wait", "2.5", "--user", "me"}),
        line_of({"--timeout", "0.5", "--priority", "high", "--min-generation", "3", "--repeat",
                 "1000", "--concurrency", "8", "--stats", "--progress", "on", "select 1"}),
        line_of({"--help"}),
        line_of({"--version"}),
        line_of({"--frmat", "csv"}),
        line_of({"--", "-x"})};
}

// ---- values

// A whole number that is written as people do is taken as it is; all that is not a number is text.
void run_values(Input input) {
    const std::string text(text_of(input));
    const auto value = cli::parse_parameter(text);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
        SHORTQ_FUZZ_CHECK(std::to_string(*whole) == text);
    } else if (const auto* real = std::get_if<double>(&value)) {
        SHORTQ_FUZZ_CHECK(std::isfinite(*real) && text.find('.') != std::string::npos);
    } else {
        SHORTQ_FUZZ_CHECK(std::get<std::string>(value) == text);
    }
    if (const auto size = primary::parse_size(text); !size) expect_said(size.error());
    if (const auto seconds = primary::parse_seconds(text); seconds) {
        SHORTQ_FUZZ_CHECK(seconds->count() >= 0);
    } else {
        expect_said(seconds.error());
    }
    if (const auto count = primary::parse_count(text, 3, 900); count)
        SHORTQ_FUZZ_CHECK(*count >= 3 && *count <= 900);
    static_cast<void>(primary::nearest_name(text, {"window", "workers", "listen"}));
}

std::vector<std::string> values_seeds() {
    return {"0",
            "-7",
            "9223372036854775807",
            "-9223372036854775808",
            "007",
            "1.50",
            "-0.5e-3",
            "1e9",
            "256M",
            "1.5GiB",
            "4kB",
            "0.25",
            "nan",
            "inf",
            "1e400.0",
            "0.1e999999999"};
}

}  // namespace

std::vector<Target> option_targets() {
    return {
        {"shortq_line", "the command line of shortq", 256, run_shortq_line, shortq_line_seeds},
        {"config", "the configuration file of shortq", 512, run_config, config_seeds},
        {"worker_line", "the command line of shortq-worker", 256, run_worker_line,
         worker_line_seeds},
        {"cli_line", "the command line of shortq-cli", 256, run_cli_line, cli_line_seeds},
        {"values", "values of options and parameters", 64, run_values, values_seeds},
    };
}

}  // namespace shortq::fuzz
