// primary/options.cpp: one table of options drives the command line, the configuration file, the
// help text and the settings view.
#include "primary/options.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <thread>

#include "primary/machine.h"

namespace shortq::primary {
namespace {

using Apply = std::function<Result<void>(Options&, std::string_view)>;
enum class Takes : std::uint8_t { kValue, kNothing, kValues };

struct Setting {
    std::string name;
    std::string value_name;
    std::string default_text;
    std::string help;
    Takes takes;
    Apply apply;
};

Result<void> expected(std::string_view what, std::string_view got) {
    return fail(ErrorCode::kBadRequest, fmt::format("expected {}, got '{}'", what, got));
}

template <class Field>
Apply count(Field Options::*field, std::uint64_t least, std::uint64_t most) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        const auto number = parse_count(text, least, most);
        if (!number) return tl::unexpected(number.error());
        options.*field = static_cast<Field>(*number);
        return {};
    };
}

Apply size(std::uint64_t Options::*field) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        const auto bytes = parse_size(text);
        if (!bytes) return tl::unexpected(bytes.error());
        options.*field = *bytes;
        return {};
    };
}

Apply seconds(std::chrono::nanoseconds Options::*field) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        const auto duration = parse_seconds(text);
        if (!duration) return tl::unexpected(duration.error());
        options.*field = *duration;
        return {};
    };
}

Apply flag(bool Options::*field) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        if (text != "true" && text != "false") return expected("true or false", text);
        options.*field = text == "true";
        return {};
    };
}

std::string join(const std::vector<std::string>& words) {
    std::string joined;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) joined += i + 1 == words.size() ? " or " : ", ";
        joined += words[i];
    }
    return joined;
}

Apply one_of(std::string Options::*field, std::vector<std::string> words) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        if (std::ranges::find(words, text) == words.end()) return expected(join(words), text);
        options.*field = std::string(text);
        return {};
    };
}

Result<void> set_listen(Options& options, std::string_view text) {
    if (text.empty()) return expected("an address such as 127.0.0.1", text);
    options.listen = text == "localhost" ? "127.0.0.1" : std::string(text);
    return {};
}

Result<void> set_window(Options& options, std::string_view text) {
    constexpr std::uint64_t kWindowMax = 1'000'000;
    options.window = core::kWindowAuto;
    if (text == "auto") return {};
    const auto number = parse_count(text, 0, kWindowMax);
    if (!number)
        return expected(fmt::format("auto or a whole number from 0 to {}", kWindowMax), text);
    options.window = static_cast<std::uint32_t>(*number);
    return {};
}

Result<void> set_policy(Options& options, std::string_view text) {
    static const std::map<std::string_view, core::Policy> kPolicies{
        {"shortest-queue", core::Policy::kShortestQueue},
        {"round-robin", core::Policy::kRoundRobin},
        {"random", core::Policy::kRandom}};
    const auto found = kPolicies.find(text);
    if (found == kPolicies.end()) return expected("shortest-queue, round-robin or random", text);
    options.policy = found->second;
    return {};
}

Result<void> set_memory_limit(Options& options, std::string_view text) {
    if (text == "auto") {
        options.memory_limit_bytes = machine_memory_bytes() / 10 * 8;
        return {};
    }
    constexpr std::uint64_t kLeast = std::uint64_t{16} << 20;
    const auto bytes = parse_size(text);
    if (!bytes || *bytes < kLeast) return expected("auto or a size of at least 16M", text);
    options.memory_limit_bytes = *bytes;
    return {};
}

Result<void> set_threads(Options& options, std::string_view text) {
    options.threads = 0;  // Resolved when the number of workers is known.
    if (text == "auto") return {};
    const auto number = parse_count(text, 1, 1024);
    if (!number) return expected("auto or a whole number from 1 to 1024", text);
    options.threads = static_cast<unsigned>(*number);
    return {};
}

Result<void> set_spawn(Options& options, std::string_view text) {
    if (text != "fork" && text != "exec") return expected("fork or exec", text);
    options.spawn = text == "fork" ? Spawn::kFork : Spawn::kExec;
    return {};
}

Result<void> add_path(Options& options, std::string_view text) {
    std::error_code error;
    const std::filesystem::path path(text);
    if (!std::filesystem::is_directory(path, error)) return expected("a folder that exists", text);
    options.allowed_paths.push_back(std::filesystem::absolute(path, error));
    return {};
}

Result<void> set_workers(Options& options, std::string_view text) {
    if (text == "auto") {
        options.workers = std::min(1024U, std::max(1U, std::thread::hardware_concurrency()));
        return {};
    }
    const auto number = parse_count(text, 1, 1024);
    if (!number) return expected("auto or a whole number from 1 to 1024", text);
    options.workers = static_cast<std::uint32_t>(*number);
    return {};
}

Apply file(std::filesystem::path Options::*field) {
    return [=](Options& options, std::string_view text) -> Result<void> {
        if (text.empty()) return expected("the name of a file", text);
        options.*field = text;
        return {};
    };
}

std::vector<Setting> network_settings() {
    return {
        {"port", "N", "5001", "native port; 0 picks a free one", Takes::kValue,
         count(&Options::port, 0, 65535)},
        {"listen", "ADDR", "127.0.0.1",
         "address to listen on, or ipc:///PATH of a socket on this machine instead of a port; an "
         "address that is not loopback needs --users and --curve-keys",
         Takes::kValue, set_listen},
        {"users", "FILE", "",
         "who may come in, by either door: lines that shortq-cli --hash-password makes; read at "
         "the start and at each reload; without it any name is let in",
         Takes::kValue, file(&Options::users)},
        {"curve-keys", "FILE", "",
         "secret key of the native door, which encrypts then; --make-keys makes one", Takes::kValue,
         file(&Options::curve_keys)},
        {"insecure", "", "false", "listen on any address, without password or encryption",
         Takes::kNothing, flag(&Options::insecure)},
    };
}

Result<void> set_kdb_port(Options& options, std::string_view text) {
    options.kdb.port.reset();
    if (text == "off") return {};
    const auto number = parse_count(text, 0, 65535);
    if (!number) return expected("off or a whole number from 0 to 65535", text);
    options.kdb.port = static_cast<std::uint16_t>(*number);
    return {};
}

Result<void> set_kdb_listen(Options& options, std::string_view text) {
    if (text.empty() || is_ipc(text)) return expected("an address such as 127.0.0.1", text);
    options.kdb.listen = text == "localhost" ? "127.0.0.1" : std::string(text);
    return {};
}

Result<void> set_kdb_sync(Options& options, std::string_view text) {
    if (text != "primary" && text != "dispatch") return expected("primary or dispatch", text);
    options.kdb.sync = text == "primary" ? KdbSync::kPrimary : KdbSync::kDispatch;
    return {};
}

Result<void> set_kdb_compress(Options& options, std::string_view text) {
    static const std::map<std::string_view, KdbCompress> kPolicies{{"auto", KdbCompress::kAuto},
                                                                   {"always", KdbCompress::kAlways},
                                                                   {"never", KdbCompress::kNever}};
    const auto found = kPolicies.find(text);
    if (found == kPolicies.end()) return expected("auto, always or never", text);
    options.kdb.compress = found->second;
    return {};
}

Result<void> set_kdb_text(Options& options, std::string_view text) {
    if (text != "symbol" && text != "char") return expected("symbol or char", text);
    options.kdb.table.texts_as_char_vectors = text == "char";
    return {};
}

Result<void> set_kdb_result_bytes(Options& options, std::string_view text) {
    const auto bytes = parse_size(text);
    if (!bytes) return tl::unexpected(bytes.error());
    options.kdb.result_bytes_max = *bytes;
    return {};
}

std::vector<Setting> kdb_settings() {
    return {
        {"kdb-port", "N|off", "off", "port for kdb+ clients; 0 picks a free one", Takes::kValue,
         set_kdb_port},
        {"kdb-listen", "ADDR", "127.0.0.1", "address to listen on for kdb+ clients", Takes::kValue,
         set_kdb_listen},
        {"kdb-sync", "primary|dispatch", "primary",
         "who answers sync messages: the primary, as in q, or the workers, for clients that have "
         "no async call",
         Takes::kValue, set_kdb_sync},
        {"kdb-compress", "WHEN", "auto",
         "compress large messages to kdb+ clients: auto, to other machines; always; never",
         Takes::kValue, set_kdb_compress},
        {"kdb-text", "symbol|char", "symbol", "what a VARCHAR column is: symbols or char vectors",
         Takes::kValue, set_kdb_text},
        {"kdb-max-result-bytes", "SIZE", "2G",
         "results that wait on one kdb+ connection, in memory and on disk; beyond: too_large",
         Takes::kValue, set_kdb_result_bytes},
    };
}

std::vector<Setting> queue_settings() {
    constexpr std::uint64_t kPendingMax = 100'000'000;
    return {
        {"window", "auto|N", "auto",
         "requests a worker may hold; 0: every request is assigned on arrival; auto: as many as "
         "are predicted to take a millisecond, 64 at most",
         Takes::kValue, set_window},
        {"policy", "NAME", "shortest-queue",
         "how a worker is chosen: shortest-queue, round-robin, random", Takes::kValue, set_policy},
        {"timeout", "SEC", "0", "the longest a request may take, queueing included; 0: no limit",
         Takes::kValue, seconds(&Options::timeout)},
        {"grace", "SEC", "2",
         "how long an interrupted query may linger before its worker is killed", Takes::kValue,
         seconds(&Options::grace)},
        {"stall", "SEC", "30", "a reader that takes nothing this long loses its query; 0: never",
         Takes::kValue, seconds(&Options::stall)},
        {"max-pending", "N", "100000", "unanswered requests of all clients; beyond: overloaded",
         Takes::kValue, count(&Options::pending_max, 1, kPendingMax)},
        {"max-pending-per-client", "N", "10000", "the same for each client", Takes::kValue,
         count(&Options::pending_per_client_max, 1, kPendingMax)},
        {"max-pending-bytes", "SIZE", "256M", "the same for all requests' texts and parameters",
         Takes::kValue, size(&Options::pending_bytes_max)},
        {"max-query-bytes", "SIZE", "16M", "longest text with its parameters; beyond: too_large",
         Takes::kValue, size(&Options::query_bytes_max)},
        {"max-result-bytes", "SIZE", "0", "largest result; beyond: too_large; 0: no limit",
         Takes::kValue, size(&Options::result_bytes_max)},
    };
}

std::vector<Setting> worker_settings() {
    return {
        {"engine", "NAME", "duckdb",
         "what evaluates queries: duckdb, or test (echo, sleep, crash ... on command)",
         Takes::kValue, one_of(&Options::engine, {"duckdb", "test"})},
        {"threads", "N", "auto", "engine threads per worker; auto: cores / WORKERS, at least 1",
         Takes::kValue, set_threads},
        {"memory-limit", "SIZE", "auto",
         "for all workers together; auto: 80 % of this machine's (or cgroup's) memory",
         Takes::kValue, set_memory_limit},
        {"load-timeout", "SEC", "600", "longest time for a startup script", Takes::kValue,
         seconds(&Options::load_timeout)},
        {"allow-path", "DIR", "",
         "a folder that queries may read besides SOURCE's own (repeatable)", Takes::kValues,
         add_path},
        {"spawn", "fork|exec", "fork",
         "how workers start: fork, they share one load; exec, each loads for itself", Takes::kValue,
         set_spawn},
        {"warm", "auto|off|all", "auto",
         "what is read before forking, so that workers share it: auto, as much as has room",
         Takes::kValue, one_of(&Options::warm, {"auto", "off", "all"})},
        {"writable", "", "false",
         "workers accept statements that change their own memory; not replicated, not retried",
         Takes::kNothing, flag(&Options::writable)},
        {"drain", "SEC", "30", "on SIGTERM: finish what is under way this long", Takes::kValue,
         seconds(&Options::drain)},
        {"log-level", "LEVEL", "info", "trace, debug, info, warn, error or off", Takes::kValue,
         one_of(&Options::log_level, {"trace", "debug", "info", "warn", "error", "off"})},
        {"log-format", "text|json", "text", "of the log on stderr", Takes::kValue,
         one_of(&Options::log_format, {"text", "json"})},
    };
}

const std::vector<Setting>& settings() {
    static const std::vector<Setting> kSettings = [] {
        auto all = network_settings();
        for (auto& group : {kdb_settings(), queue_settings(), worker_settings()})
            all.insert(all.end(), group.begin(), group.end());
        return all;
    }();
    return kSettings;
}

std::vector<std::string> setting_names() {
    std::vector<std::string> names;
    for (const auto& setting : settings()) names.push_back(setting.name);
    return names;
}

// The texts given for each setting by one origin.
using Given = std::map<std::string, std::vector<std::string>>;

Result<void> usage(std::string where, std::string message) {
    return fail(ErrorCode::kBadRequest, std::move(message), std::move(where));
}

// ---- Configuration file

Result<std::string> text_of(const toml::node& node) {
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return std::to_string(number->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
    return fail(ErrorCode::kBadRequest, "expected a text, a number, true or false");
}

Result<std::vector<std::string>> texts_of(const toml::node& node, Takes takes) {
    std::vector<std::string> texts;
    const auto* list = takes == Takes::kValues ? node.as_array() : nullptr;
    if (list == nullptr) {
        auto text = text_of(node);
        if (!text) return tl::unexpected(text.error());
        texts.push_back(std::move(*text));
        return texts;
    }
    for (const auto& element : *list) {
        auto text = text_of(element);
        if (!text) return tl::unexpected(text.error());
        texts.push_back(std::move(*text));
    }
    return texts;
}

Result<void> take_config_key(const std::string& file, const std::string& key,
                             const toml::node& node, Given& given) {
    const auto where = fmt::format("{}:{}", file, node.source().begin.line);
    const auto setting = std::ranges::find(settings(), key, &Setting::name);
    if (setting == settings().end()) {
        const auto nearest = nearest_name(key, setting_names());
        return usage(where,
                     fmt::format("unknown key '{}'{}", key,
                                 nearest.empty() ? std::string("; see shortq --help")
                                                 : fmt::format("; did you mean '{}'?", nearest)));
    }
    auto texts = texts_of(node, setting->takes);
    if (!texts) return usage(fmt::format("{}: {}", where, key), texts.error().message);
    given[key] = std::move(*texts);
    return {};
}

Result<Given> read_config(const std::string& file) {
    Given given;
    std::ifstream text(file);
    std::error_code ignored;
    if (!text || std::filesystem::is_directory(file, ignored)) {  // A folder opens, as if empty.
        const auto* const why = text ? "it is a folder" : std::strerror(errno);
        return fail(ErrorCode::kBadRequest, fmt::format("cannot read {}: {}", file, why),
                    "--config");
    }
    try {
        const toml::table table = toml::parse(text, file);
        for (const auto& [key, node] : table) {
            const auto taken = take_config_key(file, std::string(key.str()), node, given);
            if (!taken) return tl::unexpected(taken.error());
        }
    } catch (const toml::parse_error& error) {
        return fail(ErrorCode::kBadRequest, std::string(error.description()),
                    fmt::format("{}:{}", file, error.source().begin.line));
    }
    return given;
}

// ---- Command line

constexpr const char* kNoName = "*";  // No file that anybody wants.

struct Raw {
    Given given;
    std::string workers;
    std::string source;
    std::string config;
    std::string make_keys;  // Its name; empty: not asked for; kNoName: it may be where WORKERS is.
    bool help = false;
    bool version = false;
    std::vector<std::string> extras;
};

Result<void> check_extras(const Raw& raw) {
    if (raw.extras.empty()) return {};
    const auto& extra = raw.extras.front();
    if (extra.size() < 2 || extra.front() != '-') {
        return usage(extra, "unexpected argument; usage: shortq [options] WORKERS SOURCE");
    }
    auto known = setting_names();
    known.insert(known.end(), {"config", "make-keys", "help", "version"});
    const auto name = extra.substr(0, extra.find('='));
    const auto nearest =
        nearest_name(name.substr(std::min(name.find_first_not_of('-'), name.size())), known);
    return usage(extra, nearest.empty()
                            ? std::string("unknown option; see shortq --help")
                            : fmt::format("unknown option; did you mean --{}?", nearest));
}

void declare_settings(CLI::App& app, Raw& raw) {
    for (const auto& setting : settings()) {
        const std::string names = (setting.name == "port" ? "-p,--" : "--") + setting.name;
        auto& texts = raw.given[setting.name];
        if (setting.takes == Takes::kNothing) {
            app.add_flag_callback(names, [&texts] { texts = {"true"}; });
        } else {
            app.add_option(names, texts)
                ->allow_extra_args(false)
                ->multi_option_policy(setting.takes == Takes::kValues
                                          ? CLI::MultiOptionPolicy::TakeAll
                                          : CLI::MultiOptionPolicy::TakeLast);
        }
    }
}

// "--users=": CLI11 would take the next word.
Result<void> check_written_out(int argc, const char* const* argv) {
    for (int i = 1; i < argc && std::string_view(argv[i]) != "--"; ++i) {
        const std::string_view word = argv[i];
        if (word.starts_with("--") && word.find('=') == word.size() - 1)
            return usage(std::string(word.substr(0, word.size() - 1)), "needs a value");
    }
    return {};
}

Result<Raw> read_command_line(int argc, const char* const* argv) {
    if (const auto checked = check_written_out(argc, argv); !checked)
        return tl::unexpected(checked.error());
    CLI::App app;
    Raw raw;
    app.set_help_flag();
    app.allow_extras();
    declare_settings(app, raw);
    app.add_option("--config", raw.config);
    app.add_flag("-h,--help", raw.help);
    app.add_flag("--version", raw.version);
    app.add_flag(std::string("--make-keys{") + kNoName + "}", raw.make_keys);
    app.add_option("WORKERS", raw.workers);
    app.add_option("SOURCE", raw.source);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string text = error.what();  // "--window: 1 required TEXT missing"
        return fail(ErrorCode::kBadRequest, "needs a value", text.substr(0, text.find(':')));
    } catch (const CLI::ParseError& error) {
        return fail(ErrorCode::kBadRequest, error.what(), "usage");
    }
    if (app.count("--config") > 0 && raw.config.empty())
        return fail(ErrorCode::kBadRequest, "needs a value", "--config");
    raw.extras = app.remaining();
    // CLI11 leaves the mark behind which nothing is an option.
    const auto mark = std::ranges::find(raw.extras, "--");
    if (mark != raw.extras.end()) raw.extras.erase(mark);
    std::erase_if(raw.given, [](const auto& entry) { return entry.second.empty(); });
    return raw;
}

// Who writes more than a name means to serve as well, which is another command.
Result<std::string> name_of_keys(const Raw& raw) {
    const bool is_named = raw.make_keys != kNoName;
    auto surplus = is_named ? raw.workers : raw.source;
    if (!raw.given.empty()) surplus = "--" + raw.given.begin()->first;
    if (!raw.config.empty()) surplus = "--config";
    if (!surplus.empty()) {
        return fail(ErrorCode::kBadRequest,
                    fmt::format("takes one name and nothing else, got '{}'", surplus),
                    "--make-keys");
    }
    if (is_named) return raw.make_keys;
    return raw.workers.empty() ? std::string("shortq") : raw.workers;
}

// ---- Putting it together

Result<void> apply_setting(const Setting& setting, const std::vector<std::string>& texts,
                           const std::string& where, std::string_view origin, Options& options) {
    for (const auto& text : texts) {
        const auto applied = setting.apply(options, text);
        if (!applied) return usage(where, applied.error().message);
    }
    std::string shown;
    for (const auto& text : texts) shown += (shown.empty() ? "" : ", ") + text;
    options.facts.push_back({setting.name, shown, std::string(origin)});
    return {};
}

Result<void> apply_all(const Given& line, const Given& config, const std::string& config_file,
                       Options& options) {
    for (const auto& setting : settings()) {
        Result<void> applied;
        if (const auto found = line.find(setting.name); found != line.end()) {
            applied =
                apply_setting(setting, found->second, "--" + setting.name, "command line", options);
        } else if (const auto key = config.find(setting.name); key != config.end()) {
            applied =
                apply_setting(setting, key->second,
                              fmt::format("{}: {}", config_file, setting.name), "config", options);
        } else {
            std::vector<std::string> texts;
            if (!setting.default_text.empty()) texts.push_back(setting.default_text);
            applied = apply_setting(setting, texts, "--" + setting.name, "default", options);
        }
        if (!applied) return applied;
    }
    return {};
}

// Nobody on another machine reaches it.
bool is_local(std::string_view address) {
    return is_ipc(address) || address.starts_with("127.") || address == "::1" || address == "[::1]";
}

// Who can be reached from elsewhere asks for a password, and natively encrypts it.
Result<void> check_reach(const Options& options) {
    if (options.insecure) return {};
    const bool guarded = !options.users.empty();
    if (!is_local(options.listen) && !(guarded && !options.curve_keys.empty())) {
        return usage("--listen",
                     fmt::format("{} is not a loopback address: it needs both --users FILE and "
                                 "--curve-keys FILE (shortq --make-keys makes one); or "
                                 "--insecure, without password and encryption",
                                 options.listen));
    }
    if (options.kdb.port && !is_local(options.kdb.listen) && !guarded) {
        return usage("--kdb-listen",
                     fmt::format("{} is not a loopback address: it needs --users FILE; or "
                                 "--insecure, without passwords",
                                 options.kdb.listen));
    }
    return {};
}

Result<void> check_whole(const Raw& raw, Options& options) {
    if (raw.workers.empty()) {
        return usage("WORKERS", "missing; usage: shortq [options] WORKERS SOURCE");
    }
    const auto workers = set_workers(options, raw.workers);
    if (!workers) return usage("WORKERS", workers.error().message);
    if (raw.source.empty()) {
        return usage("SOURCE",
                     "missing; name a startup script (.sql), a DuckDB file, a Parquet or CSV file, "
                     "or a folder of those");
    }
    options.source = raw.source;
    if (const auto checked = check_reach(options); !checked) return checked;
    if (options.threads == 0) {
        options.threads = std::max(1U, std::thread::hardware_concurrency() / options.workers);
    }
    return {};
}

std::string help_text() {
    std::ostringstream out;
    out << "shortq: serves one data set with many worker processes; each query goes to the one "
           "with\n"
           "the shortest pending queue\n\n"
           "usage: shortq [options] WORKERS SOURCE\n\n"
           "  WORKERS   1..1024, or auto: one per core\n"
           "  SOURCE    a startup script (.sql), a DuckDB file, a Parquet or CSV file, or a folder "
           "of\n"
           "            those\n\n"
           "options:\n";
    const auto line = [&](const std::string& left, const std::string& help,
                          const std::string& default_text) {
        out << fmt::format("  {:<31} {}", left, help);
        if (!default_text.empty() && default_text != "false")
            out << fmt::format(" [{}]", default_text);
        out << '\n';
    };
    for (const auto& setting : settings()) {
        line(fmt::format("{}--{} {}", setting.name == "port" ? "-p, " : "    ", setting.name,
                         setting.value_name),
             setting.help, setting.default_text);
    }
    line("    --config FILE", "TOML with the same names; the command line wins", "");
    line("    --make-keys [NAME]",
         "write NAME.secret and NAME.public for --curve-keys and clients' --server-key, then leave",
         "shortq");
    line("-h, --help", "this text", "");
    line("    --version", "name and version", "");
    out << "\nexamples:\n"
           "  shortq -p 5001 2 startup.sql     two workers, each has run startup.sql\n"
           "  shortq auto hdb/                 a folder of Parquet files, one worker per core\n\n"
           "Prints one line when it can answer:\n"
           "  ready tcp://127.0.0.1:5001 workers=2 generation=1 load=0.21s\n"
           "Signals: TERM, INT: finish what is under way, then leave; again: leave now. HUP: "
           "reload.\n"
           "Exit status: 0 ok, 1 the work failed, 2 usage.\n";
    return out.str();
}

}  // namespace

Result<CommandLine> parse_options(int argc, const char* const* argv) {
    auto raw = read_command_line(argc, argv);
    if (!raw) return tl::unexpected(raw.error());
    CommandLine line;
    if (raw->help) line.print = help_text();
    if (raw->version) line.print = "shortq " SHORTQ_VERSION "\n";
    if (!line.print.empty()) return line;
    if (const auto checked = check_extras(*raw); !checked) return tl::unexpected(checked.error());
    if (!raw->make_keys.empty()) {
        auto name = name_of_keys(*raw);
        if (!name) return tl::unexpected(name.error());
        line.make_keys = std::move(*name);
        return line;
    }
    Given config;
    if (!raw->config.empty()) {
        auto read = read_config(raw->config);
        if (!read) return tl::unexpected(read.error());
        config = std::move(*read);
    }
    const auto applied = apply_all(raw->given, config, raw->config, line.options);
    if (!applied) return tl::unexpected(applied.error());
    const auto checked = check_whole(*raw, line.options);
    if (!checked) return tl::unexpected(checked.error());
    return line;
}

std::string one_line(const Error& error) {
    return error.where.empty() ? error.message : error.where + ": " + error.message;
}

core::Options core_options(const Options& options) {
    core::Options core;
    core.workers = options.workers;
    core.window = options.window;
    core.policy = options.policy;
    core.pending_max = options.pending_max;
    core.pending_per_client_max = options.pending_per_client_max;
    core.pending_bytes_max = options.pending_bytes_max;
    core.timeout = options.timeout;
    core.grace = options.grace;
    core.stall = options.stall;
    core.drain = options.drain;
    core.load_timeout = options.load_timeout;
    core.writable = options.writable;
    return core;
}

}  // namespace shortq::primary
