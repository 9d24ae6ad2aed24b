#include "tools/cli/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/cli/hints.h"

namespace shortq::cli {
namespace {

constexpr std::size_t kErrorsShown = 5;  // Of the repetitions of one query.

double share_of(std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string describe(const Error& error) {
    auto text = fmt::format("{}: {}", name_of(error.code), error.message);
    if (!error.where.empty() && error.message.find(error.where) == std::string::npos) {
        text += fmt::format("\n  at {}", error.where);
    }
    return text;
}

std::string describe(const ReplyFacts& facts) {
    return fmt::format("worker={} generation={} queued_ms={:.1f} run_ms={:.1f} rows={} bytes={}",
                       facts.worker, facts.generation, facts.queued_ms, facts.run_ms, facts.rows,
                       facts.bytes);
}

std::string describe_failure(const Error& error, std::chrono::nanoseconds latency) {
    const auto milliseconds = std::chrono::duration<double, std::milli>(latency).count();
    return fmt::format("error={} total_ms={:.1f}", name_of(error.code), milliseconds);
}

Runner::Runner(Client& client, const Options& options, Printer& printer, ProgressLine& progress,
               Output& log)
    : client_(client), options_(options), printer_(printer), progress_(progress), log_(log) {}

int Runner::run(const std::vector<std::string>& queries) {
    for (const auto& text : queries) {
        const bool succeeded = run_one(text);
        log_.flush();
        if (!succeeded) return kExitFailed;
        if (printer_.out().failed()) break;
    }
    return kExitOk;
}

bool Runner::run_one(const std::string& text) {
    text_ = text;
    latencies_ = {};
    errors_ = 0;
    printed_ = false;
    const auto started = Clock::now();
    progress_.start();
    if (options_.repeat == 1 && !options_.sync && printer_.can_stream()) return stream_one(text);
    for (std::uint64_t sent = 0; !flights_.empty() || sent < options_.repeat;) {
        const bool stop = cancelled() || printer_.out().failed();
        if (!stop && sent < options_.repeat && flights_.size() < options_.concurrency) {
            launch(text);
            ++sent;
        } else if (!flights_.empty()) {
            land();
            const auto done = sent - flights_.size();
            if (options_.repeat > 1) progress_.update({share_of(done, options_.repeat), 0, 0});
        } else {
            break;
        }
    }
    progress_.stop();
    if (options_.repeat > 1) {
        log_.append(latencies_.summary(errors_, Clock::now() - started) + "\n");
    }
    return errors_ == 0 && !cancelled();
}

void Runner::launch(const std::string& text) {
    const auto started = Clock::now();
    const std::lock_guard lock(mutex_);  // So that no Ctrl-C misses the request.
    if (options_.sync) {
        auto submitted = client_.submit_sync(text, options_.parameters, query_options());
        under_way_.insert(submitted.number);
        flights_.push_back({submitted.number, started, std::move(submitted.reply)});
        return;
    }
    const auto number = client_.async(text, options_.parameters, query_options());
    if (!number) {
        report_error(number.error());
        return;
    }
    under_way_.insert(*number);
    flights_.push_back({*number, started, {}});
}

void Runner::land() {
    auto flight = flights_.begin();
    Result<Table> reply;
    if (options_.sync) {
        reply = flight->reply.get();
    } else {
        auto arrived = client_.wait();
        if (!arrived) {  // Impossible while flights are open; but never spin.
            report_error(arrived.error());
            flights_.clear();
            return;
        }
        flight = std::ranges::find(flights_, arrived->number, &Flight::number);
        reply = std::move(arrived->reply);
    }
    const auto latency = Clock::now() - flight->started;
    {
        const std::lock_guard lock(mutex_);
        under_way_.erase(flight->number);
    }
    flights_.erase(flight);
    report(reply, latency);
}

// Each piece is printed as it comes: a result of any size, in bounded memory.
bool Runner::stream_one(const std::string& text) {
    const auto started = Clock::now();
    auto stream = open_stream(text);
    const auto printed = stream ? print(*stream) : tl::unexpected(stream.error());
    progress_.stop();
    {
        const std::lock_guard lock(mutex_);
        under_way_.clear();
    }
    if (!printed) {
        report_failure(printed.error(), Clock::now() - started);
    } else if (options_.stats && !printer_.out().failed()) {
        log_.append(describe(stream->facts()) + "\n");
    }
    return printed && !cancelled();
}

Result<Stream> Runner::open_stream(const std::string& text) {
    const std::lock_guard lock(mutex_);  // So that no Ctrl-C misses the request.
    auto stream = client_.stream(text, options_.parameters, query_options());
    if (stream) under_way_.insert(stream->number());
    return stream;
}

Result<void> Runner::print(Stream& stream) {
    const auto schema = stream.schema();
    if (!schema) return tl::unexpected(schema.error());
    if (printer_.shares_screen()) progress_.stop();
    printer_.begin(*schema);
    while (!printer_.out().failed()) {
        const auto part = stream.next();
        if (!part) return tl::unexpected(part.error());
        if (!*part) break;
        printer_.rows(**part);
    }
    printer_.end();
    return {};
}

// With several in flight, their number is the progress.
QueryOptions Runner::query_options() {
    auto query = options_.query;
    if (options_.repeat == 1) {
        query.progress = [this](const Progress& progress) { progress_.update(progress); };
    }
    return query;
}

void Runner::report(const Result<Table>& reply, Clock::duration latency) {
    progress_.stop();  // It shares the screen with what is printed now.
    if (!reply) {
        report_failure(reply.error(), latency);
    } else {
        report_success(*reply, latency);
    }
    if (options_.repeat > 1) progress_.resume();
}

void Runner::report_failure(const Error& error, Clock::duration latency) {
    report_error(error);
    if (options_.stats) log_.append(describe_failure(error, latency) + "\n");
}

void Runner::report_success(const Table& result, Clock::duration latency) {
    latencies_.add(latency);
    if (!printed_) printer_.print(result);
    printed_ = true;
    if (options_.stats) log_.append(describe(result.facts()) + "\n");
}

void Runner::report_error(const Error& error) {
    progress_.stop();
    if (++errors_ <= kErrorsShown) {
        log_.append(describe(error) + "\n");
        const auto hint = options_.sync ? "" : hint_for_deferred(error, text_, "use --sync");
        if (!hint.empty()) log_.append("hint: " + hint + "\n");
    } else if (errors_ == kErrorsShown + 1) {
        log_.append("(further errors of this query are counted, not shown)\n");
    }
}

bool Runner::cancelled() {
    const std::lock_guard lock(mutex_);
    return cancelled_;
}

bool Runner::cancel_all() {
    const std::lock_guard lock(mutex_);
    if (cancelled_) return false;
    cancelled_ = true;
    for (const auto number : under_way_) client_.cancel(number);
    return !under_way_.empty();
}

}  // namespace shortq::cli
