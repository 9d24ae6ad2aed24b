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
#include "tools/cli/runner.h"
#include "tools/cli/statements.h"

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
        if (::isatty(STDIN_FILENO) != 0) {
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

int run(const Options& options, const std::vector<std::string>& queries) {
    Interrupts interrupts;
    auto client = Client::connect(options.connect);
    if (!client) {
        std::cerr << describe(client.error()) << '\n';
        return client.error().code == ErrorCode::kBadRequest && client.error().where.empty()
                   ? kExitUsage
                   : kExitNoConnection;
    }
    Output out(STDOUT_FILENO);
    Output log(STDERR_FILENO);
    const auto fallback = ::isatty(STDOUT_FILENO) != 0 ? Format::kTable : Format::kCsv;
    const auto writer = make_writer(options.format.value_or(fallback));
    Runner runner(*client, options, *writer, out, log);
    interrupts.handle_with([&] { return runner.cancel_all(); });
    int status = runner.run(queries);
    interrupts.handle_with(nullptr);
    out.flush();
    if (out.failed() && out.error() != EPIPE) {
        log.append(std::string("shortq-cli: cannot write the result: ") +
                   std::strerror(out.error()) + "\n");
        status = kExitFailed;
    }
    log.flush();
    return status;
}

}  // namespace
}  // namespace shortq::cli

int main(int argc, char** argv) try {
    using namespace shortq::cli;
    std::setlocale(LC_CTYPE, "C.UTF-8");  // For the width of characters; results are UTF-8.
    std::signal(SIGPIPE, SIG_IGN);        // `| head -1` is no fault: a failed write tells.
    const auto line = parse_options(argc, argv);
    if (!line) return usage_error(line.error().message);
    if (!line->print.empty()) {
        std::cout << line->print;
        return kExitOk;
    }
    const auto queries = collect_queries(line->options);
    if (!queries) return usage_error(queries.error().message);
    return run(line->options, *queries);
} catch (const std::exception& error) {
    std::cerr << "shortq-cli: " << error.what() << '\n';
    return shortq::cli::kExitFailed;
}
