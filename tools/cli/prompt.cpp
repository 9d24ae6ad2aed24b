#include "tools/cli/prompt.h"

#include <fmt/format.h>

#include <csignal>

#include "tools/cli/completion.h"
#include "tools/cli/hints.h"
#include "tools/cli/lexer.h"
#include "tools/cli/runner.h"
#include "tools/cli/statements.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

constexpr const char* kDeferredPrompt = "shortq> ";
constexpr const char* kDeferredGoesOn = "   ...> ";
constexpr const char* kSyncPrompt = "shortq sync> ";
constexpr const char* kSyncGoesOn = "        ...> ";

constexpr const char* kListTables =
    "select schema_name as schema, table_name as name, 'table' as kind, column_count as columns, "
    "estimated_size as rows from duckdb_tables() where not internal union all select schema_name, "
    "view_name, 'view', column_count, null from duckdb_views() where not internal order by 1, 2";

bool defines_something(std::string_view text) {
    for (const auto& token : tokenize(text)) {
        if (!token.is_code()) continue;
        const auto word = lower(token.in(text));
        return word == "create" || word == "drop" || word == "alter" || word == "attach";
    }
    return false;
}

LineEditor::Paint painter(const std::string& before) {
    if (!wants_colours()) return {};
    return [&before](std::string_view line) { return highlight(before, line); };
}

}  // namespace

std::initializer_list<int> prompt_signals() {
    static constexpr std::initializer_list<int> kSignals{SIGWINCH, SIGCONT, SIGTERM, SIGHUP};
    return kSignals;
}

Prompt::Prompt(Client client, Options options, Printer& printer, ProgressLine& progress,
               Output& log, Interrupts& interrupts)
    : client_(std::move(client)),
      options_(std::move(options)),
      printer_(printer),
      log_(log),
      interrupts_(interrupts),
      asker_(options_, signals_, progress, log),
      history_(history_file()),
      editor_(
          signals_,
          [this](std::string_view before, std::string_view word, std::string_view after) {
              return complete(names().get(),
                              {begun_ + std::string(before), word, after, options_.sync});
          },
          painter(begun_)) {
    editor_.set_history(history_.entries());
    interrupts_.handle_with([this](int signal) {
        if (signal == SIGINT && printer_.paging()) return true;  // The pager's.
        if (signal == SIGINT && printer_.printing()) {
            printer_.out().give_up();
        } else {
            signals_.put(signal);
        }
        return true;
    });
}

Prompt::~Prompt() { interrupts_.handle_with(nullptr); }

int Prompt::run() {
    greet();
    refresh_names();
    while (!leaving_) {
        const auto typed = read_line();
        if (typed.outcome == LineEditor::Outcome::kEnd) break;
        if (typed.outcome == LineEditor::Outcome::kInterrupted) {
            begun_.clear();
        } else {
            take_line(typed.line);
        }
        leaving_ = leaving_ || asker_.is_told_to_leave();
    }
    return kExitOk;
}

LineEditor::Typed Prompt::read_line() {
    const auto* first = options_.sync ? kSyncPrompt : kDeferredPrompt;
    const auto* next = options_.sync ? kSyncGoesOn : kDeferredGoesOn;
    auto typed = editor_.read(begun_.empty() ? first : next);
    if (typed.outcome == LineEditor::Outcome::kEnd) say("");
    return typed;
}

void Prompt::take_line(const std::string& line) {
    const auto command = command_meant(line);
    if (begun_.empty() && !command.empty()) {
        history_.add(line);
        editor_.set_history(history_.entries());
        run_command(std::string(command));
        return;
    }
    begun_ += line + "\n";
    auto cut = cut_statements(begun_);
    if (!cut.statements.empty()) {
        const auto done = begun_.substr(0, begun_.size() - cut.rest.size());
        history_.add(done.substr(0, done.find_last_not_of(" \t\n") + 1));
        editor_.set_history(history_.entries());
    }
    begun_ = cut.rest.empty() ? std::string() : cut.rest + "\n";
    for (const auto& statement : cut.statements) {
        run_statement(statement, options_.sync);
        if (asker_.is_told_to_leave()) return;
    }
}

void Prompt::run_statement(const std::string& text, bool sync) {
    const auto started = std::chrono::steady_clock::now();
    const auto reply = asker_.ask(client_, text, sync);
    if (!reply) return;
    const auto took = std::chrono::steady_clock::now() - started;
    if (sync && defines_something(text)) ++definitions_;
    if (!sync && *reply) generation_ = (*reply)->facts().generation;
    show(*reply, text, sync);
    if (options_.stats) {
        say(*reply ? describe((*reply)->facts()) : describe_failure(reply->error(), took));
    }
    if (timing_) {
        const std::chrono::duration<double, std::milli> milliseconds = took;
        say(fmt::format("time: {:.1f} ms", milliseconds.count()));
    }
    log_.flush();
    refresh_names();
}

void Prompt::show(const Result<Table>& reply, const std::string& text, bool sync) {
    if (!reply) {
        say(describe(reply.error()));
        const auto hint = sync ? "" : hint_for_deferred(reply.error(), text, "use \\sync");
        if (!hint.empty()) say("hint: " + hint);
        return;
    }
    printer_.print(*reply);
    if (reply->columns() == 0) say("done");
    if (printer_.out().failed()) say("\n(the rest is left out)");
    printer_.out().resume();
}

// Workers' names change with the generation, the primary's with what its clients define: at least
// this one's statements are known.
void Prompt::refresh_names() {
    names().refresh(client_, options_.sync ? definitions_ : generation_);
}

// ---- commands ----

void Prompt::run_command(const std::string& line) {
    const auto typed = parse_command(line);
    if (typed.command == nullptr) {
        say(fmt::format("{}: no such command; \\? lists them", typed.name));
        return;
    }
    switch (typed.command->kind) {
        case CommandKind::kHelp:
            return say(prompt_help());
        case CommandKind::kQuit:
            leaving_ = true;
            return;
        case CommandKind::kSync:
            return switch_to(true, typed.argument);
        case CommandKind::kDeferred:
            return switch_to(false, typed.argument);
        case CommandKind::kDescribe:
            return describe_table(typed.argument);
        case CommandKind::kFormat:
            return set_format(typed.argument);
        case CommandKind::kTiming:
            if (!set_switch(timing_, typed.argument)) return;
            return say(fmt::format("timing is {}", timing_ ? "shown" : "hidden"));
        case CommandKind::kStats:
            if (!set_switch(options_.stats, typed.argument)) return;
            return say(fmt::format("statistics are {}", options_.stats ? "shown" : "hidden"));
        case CommandKind::kConnect:
            return connect(typed.argument);
    }
}

// "on", "off", or the other way round.
bool Prompt::set_switch(bool& setting, const std::string& argument) {
    const bool known = argument.empty() || argument == "on" || argument == "off";
    if (!known) {
        say(fmt::format("'{}' is neither on nor off", argument));
    } else {
        setting = argument.empty() ? !setting : argument == "on";
    }
    return known;
}

void Prompt::switch_to(bool sync, const std::string& query) {
    if (!query.empty()) return run_statement(query, sync);
    options_.sync = sync;
    say(sync ? "queries are evaluated at the primary, which keeps their state"
             : "queries are evaluated on the least-busy worker");
    refresh_names();
}

void Prompt::describe_table(const std::string& name) {
    run_statement(name.empty() ? std::string(kListTables) : "describe " + name, options_.sync);
}

void Prompt::set_format(const std::string& name) {
    if (const auto format = format_from(name)) {
        printer_.set_format(*format);
        return;
    }
    const auto current = format_names()[static_cast<std::size_t>(printer_.format())];
    say(name.empty() ? "format is " + current
                     : name + ": no such format; there are table, csv, json, ndjson, markdown");
}

// "5002", "host:5002" or "tcp://host:5002"; nothing: the same servers again.
void Prompt::connect(const std::string& where) {
    auto connect = options_.connect;
    if (!where.empty()) {
        const bool port_only = where.find_first_not_of("0123456789") == std::string::npos;
        connect.endpoints = {where.starts_with("tcp://") ? where
                             : port_only                 ? "tcp://127.0.0.1:" + where
                                                         : "tcp://" + where};
    }
    auto client = Client::connect(connect);
    if (!client) return say(describe(client.error()));
    client_ = std::move(*client);
    options_.connect = std::move(connect);
    names_ = CatalogueLoader(false);
    sync_names_ = CatalogueLoader(true);
    greet();
    refresh_names();
}

void Prompt::greet() {
    const auto server = client_.server();
    generation_ = server.generation;
    say(fmt::format("{} at {}, {} {}. \\? for help.", server.server, server.endpoint,
                    server.workers, server.workers == 1 ? "worker" : "workers"));
}

void Prompt::say(const std::string& text) {
    log_.append(text.ends_with('\n') ? text : text + "\n");
    log_.flush();
}

}  // namespace shortq::cli
