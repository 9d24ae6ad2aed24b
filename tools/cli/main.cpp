// shortq-cli: sends queries to a shortq server and prints the results.
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tools/cli/interrupts.h"
#include "tools/cli/options.h"
#include "tools/cli/password.h"
#include "tools/cli/printer.h"
#include "tools/cli/progress_line.h"
#include "tools/cli/prompt.h"
#include "tools/cli/runner.h"
#include "tools/cli/statements.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

int usage_error(const std::string& message) {
    std::cerr << "shortq-cli: " << message << "\nTry: shortq-cli --help\n";
    return kExitUsage;
}

Result<std::string> read_all(const std::string& file) try {
    if (file == "-") return std::string(std::istreambuf_iterator<char>(std::cin), {});
    std::ifstream in(file, std::ios::binary);
    if (in) {
        std::string text(std::istreambuf_iterator<char>(in), {});
        if (!in.bad()) return text;
    }
    return fail(ErrorCode::kBadRequest, "cannot read " + file + ": " + std::strerror(errno));
} catch (const std::ios_base::failure& error) {  // A folder opens, but does not read.
    return fail(ErrorCode::kBadRequest, "cannot read " + file + ": " + error.code().message());
}

// The file's statements, then the QUERYs.
Result<std::vector<std::string>> collect_queries(const Options& options) {
    auto file = options.file;
    if (file.empty() && options.queries.empty()) {
        if (is_terminal(STDIN_FILENO)) {  // And the output is none.
            return fail(ErrorCode::kBadRequest, "no query; pass one, or -f FILE (- is stdin)");
        }
        file = "-";
    }
    std::vector<std::string> queries;
    if (!file.empty()) {
        const auto text = read_all(file);
        if (!text) return tl::unexpected(text.error());
        queries = split_statements(*text);
    }
    queries.insert(queries.end(), options.queries.begin(), options.queries.end());
    if (!queries.empty()) return queries;
    return fail(ErrorCode::kBadRequest, file == "-" ? "no query on stdin" : "no query in " + file);
}

ProgressLine::Style progress_style(Switch wish) {
    if (is_terminal(STDERR_FILENO) && !is_dumb_terminal()) {
        return wish == Switch::kOff ? ProgressLine::Style::kNone : ProgressLine::Style::kInPlace;
    }
    return wish == Switch::kOn ? ProgressLine::Style::kLines : ProgressLine::Style::kNone;
}

Printer make_printer(const Options& options, Output& out) {
    const bool terminal = is_terminal(STDOUT_FILENO);
    return {options.format.value_or(terminal ? Format::kTable : Format::kCsv),
            terminal && is_terminal(STDIN_FILENO) ? Printer::Place::kPagedTerminal
            : terminal                            ? Printer::Place::kTerminal
                                                  : Printer::Place::kPipe,
            out};
}

int report_no_connection(const Error& error) {
    std::cerr << describe(error) << '\n';
    return error.code == ErrorCode::kBadRequest && error.where.empty() ? kExitUsage
                                                                       : kExitNoConnection;
}

// A result that could not be written changes the status.
int finish(int status, Output& out, Output& log) {
    out.flush();
    if (out.error() != 0 && out.error() != EPIPE) {
        log.append(std::string("shortq-cli: cannot write the result: ") +
                   std::strerror(out.error()) + "\n");
        status = kExitFailed;
    }
    log.flush();
    return status;
}

int run(Options& options, const std::vector<std::string>& queries) {
    Interrupts interrupts;
    Output out(STDOUT_FILENO);
    Output log(STDERR_FILENO);
    auto printer = make_printer(options, out);
    ProgressLine progress(progress_style(options.progress), log);  // Before the client tells it.
    auto client = connect_asking(options.connect, interrupts);
    if (!client) return report_no_connection(client.error());
    Runner runner(*client, options, printer, progress, log);
    interrupts.handle_with([&](int) { return printer.paging() || runner.cancel_all(); });
    const int status = runner.run(queries);
    interrupts.handle_with(nullptr);
    return finish(status, out, log);
}

bool wants_prompt(const Options& options) {
    return options.queries.empty() && options.file.empty() && is_terminal(STDIN_FILENO) &&
           is_terminal(STDOUT_FILENO);
}

int run_prompt(Options& options) {
    Interrupts interrupts(prompt_signals());
    auto client = connect_asking(options.connect, interrupts);
    if (!client) return report_no_connection(client.error());
    Output out(STDOUT_FILENO);
    Output log(STDERR_FILENO);
    auto printer = make_printer(options, out);
    ProgressLine progress(progress_style(options.progress), log);
    int status = kExitOk;
    {
        Prompt prompt(std::move(*client), options, printer, progress, log, interrupts);
        status = prompt.run();
    }
    return finish(status, out, log);
}

// The one that needs nobody to type it. Without a name there is no use for it, but for a hash's,
// which takes the login's.
Result<void> find_password(Options& options) {
    auto& password = options.connect.password;
    if (options.hash_password && options.connect.user.empty())
        options.connect.user = environment("USER");
    if (options.connect.user.empty() && options.password_file.empty()) return {};
    if (options.password_file.empty()) {
        password = environment("SHORTQ_PASSWORD");
        return {};
    }
    auto read = read_password_file(options.password_file);
    if (!read) return tl::unexpected(std::move(read.error()));
    password = std::move(*read);
    return {};
}

}  // namespace
}  // namespace shortq::cli

int main(int argc, char** argv) try {
    using namespace shortq::cli;
    std::setlocale(LC_CTYPE, "C.UTF-8");  // For the width of characters; results are UTF-8.
    std::signal(SIGPIPE, SIG_IGN);        // `| head -1` is no fault: a failed write tells.
    auto line = parse_options(argc, argv);
    if (!line) return usage_error(line.error().message);
    if (!line->print.empty()) {
        std::cout << line->print;
        return kExitOk;
    }
    if (const auto found = find_password(line->options); !found)
        return usage_error(found.error().message);
    if (line->options.hash_password) return hash_password_line(line->options);
    if (wants_prompt(line->options)) return run_prompt(line->options);
    const auto queries = collect_queries(line->options);
    if (!queries) return usage_error(queries.error().message);
    return run(line->options, *queries);
} catch (const std::exception& error) {
    std::cerr << "shortq-cli: " << error.what() << '\n';
    return shortq::cli::kExitFailed;
}
