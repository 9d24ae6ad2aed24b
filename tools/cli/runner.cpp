#include "tools/cli/runner.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::cli {
namespace {

constexpr std::size_t kErrorsShown = 5;  // Of the repetitions of one query.

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

Runner::Runner(Client& client, const Options& options, Writer& writer, Output& out, Output& log)
    : client_(client), options_(options), writer_(writer), out_(out), log_(log) {}

int Runner::run(const std::vector<std::string>& queries) {
    for (const auto& text : queries) {
        const bool succeeded = run_one(text);
        log_.flush();
        if (!succeeded) return kExitFailed;
        if (out_.failed()) break;
    }
    return kExitOk;
}

bool Runner::run_one(const std::string& text) {
    latencies_ = {};
    errors_ = 0;
    printed_ = false;
    const auto started = Clock::now();
    for (std::uint64_t sent = 0; !flights_.empty() || sent < options_.repeat;) {
        const bool stop = cancelled() || out_.failed();
        if (!stop && sent < options_.repeat && flights_.size() < options_.concurrency) {
            launch(text);
            ++sent;
        } else if (!flights_.empty()) {
            land();
        } else {
            break;
        }
    }
    if (options_.repeat > 1) {
        log_.append(latencies_.summary(errors_, Clock::now() - started) + "\n");
    }
    return errors_ == 0 && !cancelled();
}

void Runner::launch(const std::string& text) {
    const auto started = Clock::now();
    const std::lock_guard lock(mutex_);  // So that no Ctrl-C misses the request.
    if (options_.sync) {
        auto submitted = client_.submit_sync(text, options_.parameters, options_.query);
        under_way_.insert(submitted.number);
        flights_.push_back({submitted.number, started, std::move(submitted.reply)});
        return;
    }
    const auto number = client_.async(text, options_.parameters, options_.query);
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

void Runner::report(const Result<Table>& reply, Clock::duration latency) {
    if (!reply) {
        report_error(reply.error());
        return;
    }
    latencies_.add(latency);
    if (!printed_) writer_.write(*reply, out_);
    out_.flush();
    printed_ = true;
    if (options_.stats) log_.append(describe(reply->facts()) + "\n");
}

void Runner::report_error(const Error& error) {
    if (++errors_ <= kErrorsShown) {
        log_.append(describe(error) + "\n");
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
    cancelled_ = true;
    for (const auto number : under_way_) client_.cancel(number);
    return !under_way_.empty();
}

}  // namespace shortq::cli
