#include "tools/cli/options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <regex>

#include "tools/cli/hints.h"

namespace shortq::cli {
namespace {

constexpr double kSecondsMax = 4'000'000;  // What 32 bits of milliseconds hold, and some.

constexpr const char* kFooter = R"(
Examples:
  shortq-cli 'select 42'                              on the least-busy worker
  shortq-cli --sync 'set variable x = 7'              at the primary, state persists
  shortq-cli --param A --param 50000 'select * from trade where sym = ? and size > ?'
  shortq-cli --format json -f report.sql > report.json
  shortq-cli --repeat 1000 --concurrency 8 'select 1' latency quantiles on stderr

Without QUERY and -f, on a terminal: a prompt; \? in it tells more.
Formats: csv has a header line; NULL is an empty field, empty text is "". json is one array of
objects, ndjson an object per line; numbers keep all digits, NaN and infinities are null, binary is
base64, nested values are arrays and objects.
Ctrl-C cancels the running query on the server; a second one leaves.
Exit status: 0 ok, 1 a query failed, 2 usage, 3 cannot connect.)";

// The command line as CLI11 fills it, before it is judged.
struct Raw {
    std::string host = "127.0.0.1";
    std::uint16_t port = 5001;
    std::vector<std::string> endpoints;
    std::vector<std::string> parameters;
    std::string format;
    std::string priority = "normal";
    std::string progress = "auto";
    double timeout = 0;
    double wait = 0;
};

std::chrono::milliseconds to_milliseconds(double seconds) {
    return std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
}

// In place of CLI11's own, which speak of ranges to somebody who wrote a word.
CLI::Validator seconds() {
    const auto refuse = [](const std::string& text) -> std::string {
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool whole_text = read.ec == std::errc{} && read.ptr == end;
        if (whole_text && value >= 0 && value <= kSecondsMax) return {};
        return "expected seconds such as 2 or 0.5, got '" + text + "'";
    };
    return {refuse, "", "seconds"};
}

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max) {
    const auto refuse = [min, max](const std::string& text) -> std::string {
        std::uint64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool whole_text = read.ec == std::errc{} && read.ptr == end;
        if (whole_text && value >= min && value <= max) return {};
        return "expected a whole number from " + std::to_string(min) + " to " +
               std::to_string(max) + ", got '" + text + "'";
    };
    return {refuse, "", "whole number"};
}

void declare_where(CLI::App& app, Raw& raw, Options& options) {
    auto* host = app.add_option("-H,--host", raw.host, "Where shortq runs")->capture_default_str();
    auto* port = app.add_option("-p,--port", raw.port, "Its native port")
                     ->type_name("N")
                     ->check(whole_number(1, 65535))
                     ->capture_default_str();
    app.add_option("--connect", raw.endpoints,
                   "Where, as tcp://HOST:PORT; several times: failover in this order")
        ->type_name("ENDPOINT")
        ->allow_extra_args(false)
        ->excludes(host)
        ->excludes(port);
    app.add_option("--wait", raw.wait, "Wait up to SEC seconds for a worker to be ready")
        ->type_name("SEC")
        ->check(seconds());
    app.add_option("--user", options.connect.user,
                   "Your name at the server, shown in shortq.clients")
        ->type_name("NAME");
    app.add_option("--password-file", options.password_file,
                   "Its first line is the password; default: $SHORTQ_PASSWORD, else asked for")
        ->type_name("FILE");
    app.add_option("--server-key", options.connect.server_key,
                   "Encrypt: the server's public key, or the file that has it")
        ->type_name("KEY");
    app.add_flag("--hash-password", options.hash_password,
                 "Make a line for the server's --users FILE from a password: --password-file's, "
                 "$SHORTQ_PASSWORD, or asked for, or read from stdin");
}

void declare_what(CLI::App& app, Raw& raw, Options& options) {
    app.add_flag("--sync", options.sync,
                 "Evaluate at the primary; default: deferred, on the least-busy worker");
    app.add_option("-f,--file", options.file,
                   "Run the statements of FILE, one after the other; - is stdin")
        ->type_name("FILE");
    app.add_option("--param", raw.parameters, "Value for the next ? or $1, $2, ... (repeatable)")
        ->type_name("VALUE")
        ->allow_extra_args(false);
    app.add_option("--timeout", raw.timeout, "Deadline of each query; 0: none")
        ->type_name("SEC")
        ->check(seconds());
    app.add_option("--priority", raw.priority, "high, normal or low")
        ->type_name("NAME")
        ->check(CLI::IsMember({"high", "normal", "low"}))
        ->capture_default_str();
    app.add_option("--min-generation", options.query.min_generation,
                   "Wait for a worker with at least this generation of the data")
        ->type_name("N")
        ->check(whole_number(0, UINT32_MAX));
    app.add_option("--repeat", options.repeat,
                   "Send each query N times; prints one result, and the latencies on stderr")
        ->type_name("N")
        ->check(whole_number(1, 1'000'000'000));
    app.add_option("--concurrency", options.concurrency, "At most C of them in flight; default: 1")
        ->type_name("C")
        ->check(whole_number(1, 100'000));
}

void declare_output(CLI::App& app, Raw& raw, Options& options) {
    app.add_option("--format", raw.format,
                   "table, csv, json, ndjson or markdown; default: table on a terminal, else csv")
        ->type_name("NAME")
        ->check(CLI::IsMember(format_names()));
    app.add_flag("--stats", options.stats,
                 "One line per query on stderr: who answered, and what it cost");
    app.add_option("--progress", raw.progress,
                   "Show on stderr how far a query is that takes over half a second; auto: on a "
                   "terminal")
        ->type_name("auto|on|off")
        ->check(CLI::IsMember({"auto", "on", "off"}))
        ->capture_default_str();
}

void judge(const Raw& raw, Options& options) {
    options.format = format_from(raw.format);
    options.progress = raw.progress == "on"    ? Switch::kOn
                       : raw.progress == "off" ? Switch::kOff
                                               : Switch::kAuto;
    options.query.priority = raw.priority == "high"  ? RequestPriority::kHigh
                             : raw.priority == "low" ? RequestPriority::kLow
                                                     : RequestPriority::kNormal;
    options.query.timeout = to_milliseconds(raw.timeout);
    options.connect.endpoints = raw.endpoints;
    if (raw.endpoints.empty()) {
        const bool is_ipv6 = raw.host.find(':') != std::string::npos && raw.host[0] != '[';
        const auto host = is_ipv6 ? "[" + raw.host + "]" : raw.host;
        options.connect.endpoints = {"tcp://" + host + ":" + std::to_string(raw.port)};
    }
    if (raw.wait > 0) {
        options.connect.wait_until_ready = true;
        options.connect.connect_timeout = to_milliseconds(raw.wait);
    }
    options.connect.agent = "shortq-cli/" + std::string(version());
    for (const auto& text : raw.parameters) {
        options.parameters.push_back({"", parse_parameter(text)});
    }
}

}  // namespace

Value parse_parameter(const std::string& text) {
    static const std::regex kInteger("-?[1-9][0-9]*|0");
    static const std::regex kDecimal(R"(-?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]+)?)");
    const char* const begin = text.data();
    const char* const end = begin + text.size();
    if (text.size() <= 20 && std::regex_match(text, kInteger)) {
        std::int64_t value = 0;
        if (std::from_chars(begin, end, value).ec == std::errc{}) return value;
    }
    if (text.size() <= 400 && std::regex_match(text, kDecimal)) {
        double value = 0;
        if (std::from_chars(begin, end, value).ec == std::errc{}) return value;
    }
    return text;
}

namespace {

constexpr const char* kEmptyValue = ": an empty value; is a variable of the shell not set?";
constexpr const char* kAbout = "Sends queries to shortq and prints what comes back.";

// All of it; what is read goes to `raw` and `options`.
void declare(CLI::App& app, Raw& raw, Options& options) {
    app.footer(kFooter);
    app.set_version_flag("--version", "shortq-cli " + std::string(version()));
    app.add_option("QUERY", options.queries, "Queries, run one after the other on one connection");
    declare_where(app, raw, options);
    declare_what(app, raw, options);
    declare_output(app, raw, options);
}

// An unset variable of a shell must not mean "without": without encryption, a password, a file.
std::string about_empty(const CLI::App& app) {
    for (const auto* option : app.get_options()) {
        if (option->get_positional() || option->check_lname("param")) continue;
        for (const auto& value : option->results()) {
            if (value.empty()) {
                return option->get_name() + kEmptyValue;
            }
        }
    }
    return {};
}

// "--user=": CLI11 would take the next word.
std::string about_cut_short(int argc, const char* const* argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string_view word = argv[i];
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            return std::string(word.substr(0, word.size() - 1)) + kEmptyValue;
    }
    return {};
}

// "--frmat: unknown option; did you mean --format?"
std::string about_unknown(const CLI::App& app) {
    for (const auto& argument : app.remaining()) {
        if (!argument.starts_with('-')) continue;
        const auto name = argument.substr(0, argument.find('='));
        const auto nearest = nearest_name(name, option_names());
        return name + ": unknown option" +
               (nearest.empty() ? std::string() : "; did you mean " + nearest + "?");
    }
    return {};
}

}  // namespace

const std::vector<std::string>& format_names() {
    static const std::vector<std::string> kNames{"table", "csv", "json", "ndjson", "markdown"};
    return kNames;
}

std::optional<Format> format_from(std::string_view name) {
    constexpr std::array kFormats{Format::kTable, Format::kCsv, Format::kJson, Format::kNdjson,
                                  Format::kMarkdown};
    for (std::size_t i = 0; i < kFormats.size(); ++i) {
        if (format_names()[i] == name) return kFormats[i];
    }
    return std::nullopt;
}

std::vector<std::string> option_names() {
    CLI::App app;
    Raw raw;
    Options options;
    declare(app, raw, options);
    std::vector<std::string> names;
    for (const auto* option : app.get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

Result<CommandLine> parse_options(int argc, const char* const* argv) {
    CommandLine line;
    Raw raw;
    CLI::App app{kAbout, "shortq-cli"};
    declare(app, raw, line.options);
    if (const auto text = about_cut_short(argc, argv); !text.empty())
        return fail(ErrorCode::kBadRequest, text);
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        line.print = app.help();
        return line;
    } catch (const CLI::CallForVersion& version_text) {
        line.print = std::string(version_text.what()) + "\n";
        return line;
    } catch (const CLI::ExtrasError& error) {
        const auto text = about_unknown(app);
        return fail(ErrorCode::kBadRequest, text.empty() ? error.what() : text);
    } catch (const CLI::ParseError& error) {
        return fail(ErrorCode::kBadRequest, error.what());
    }
    if (const auto text = about_empty(app); !text.empty())
        return fail(ErrorCode::kBadRequest, text);
    judge(raw, line.options);
    return line;
}

}  // namespace shortq::cli
