#include "worker/engine/test_engine.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

namespace shortq::engine {
namespace {

constexpr std::int64_t kRowsPerBatch = 2048;
constexpr std::uint64_t kBytesMax = std::uint64_t{1} << 30;

// A buffer that owns its bytes.
template <class T>
Buffer buffer_of(std::vector<T> values) {
    const auto owner = std::make_shared<const std::vector<T>>(std::move(values));
    return {std::as_bytes(std::span(*owner)), owner};
}

Schema one_column(std::string name, std::string format, std::string type) {
    Field field;
    field.name = std::move(name);
    field.format = std::move(format);
    field.engine_type = std::move(type);
    return {{std::move(field)}};
}

Error cancelled() { return {ErrorCode::kCancelled, "the query was interrupted", {}, false}; }

Result<void> deliver(ResultSink& sink, const Schema& schema, Batch batch) {
    if (sink.begin(schema) && sink.batch(std::move(batch))) return {};
    return tl::unexpected(cancelled());
}

Batch integers(std::int64_t first, std::int64_t count) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    for (std::int64_t& value : values) value = first++;
    Array column;
    column.length = count;
    column.buffers = {Buffer{}, buffer_of(std::move(values))};
    return {count, {std::move(column)}};
}

Result<void> deliver_integer(ResultSink& sink, const std::string& name, std::int64_t value) {
    return deliver(sink, one_column(name, "l", "BIGINT"), integers(value, 1));
}

// One row of text ("u") or bytes ("z").
Result<void> deliver_bytes(ResultSink& sink, const Schema& schema, std::string_view bytes) {
    Array column;
    column.length = 1;
    std::vector<std::int32_t> offsets{0, static_cast<std::int32_t>(bytes.size())};
    column.buffers = {Buffer{}, buffer_of(std::move(offsets)),
                      buffer_of(std::vector<char>(bytes.begin(), bytes.end()))};
    return deliver(sink, schema, {1, {std::move(column)}});
}

Result<void> deliver_text(ResultSink& sink, const std::string& name, std::string_view text) {
    return deliver_bytes(sink, one_column(name, "u", "VARCHAR"), text);
}

std::string_view trim(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

}  // namespace

// "name rest of the line". The name is in lower case as typed.
struct TestEngine::Command {
    std::string_view name;
    std::string_view rest;

    static Command parse(std::string_view text) {
        text = trim(text);
        while (text.ends_with(';')) text = trim(text.substr(0, text.size() - 1));
        const auto space = text.find_first_of(" \t");
        if (space == std::string_view::npos) return {text, {}};
        return {text.substr(0, space), trim(text.substr(space))};
    }

    [[nodiscard]] bool is_for_a_seat() const { return name.ends_with("-seat"); }

    // The number that `rest` starts with, and what follows it.
    [[nodiscard]] Result<std::pair<std::uint64_t, std::string_view>> number() const {
        std::uint64_t value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
        if (error != std::errc()) {
            return fail(ErrorCode::kBadRequest, std::string(name) + " needs a number");
        }
        return std::pair(value, trim(rest.substr(static_cast<std::size_t>(end - rest.data()))));
    }

    // The milliseconds that `rest` starts with, which may have a fraction, and what follows them.
    [[nodiscard]] Result<std::pair<std::chrono::nanoseconds, std::string_view>> duration() const {
        constexpr double kMillisecondsMax = 1e9;
        double value = 0;
        const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value,
                                                  std::chars_format::fixed);
        if (error != std::errc() || !(value >= 0 && value <= kMillisecondsMax)) {
            return fail(ErrorCode::kBadRequest, std::string(name) + " needs milliseconds");
        }
        return std::pair(std::chrono::nanoseconds(std::llround(value * 1e6)),
                         trim(rest.substr(static_cast<std::size_t>(end - rest.data()))));
    }
};

Result<void> TestEngine::load(const std::filesystem::path& source) {
    const ActiveRun<TestEngine> active(*this);
    if (auto read = read_source(source); !read) return read;
    return load_lines([](const Command& /*command*/) { return true; });
}

Result<void> TestEngine::load_base(const std::filesystem::path& source) {
    const ActiveRun<TestEngine> active(*this);
    if (auto read = read_source(source); !read) return read;
    return load_lines([](const Command& command) { return !command.is_for_a_seat(); });
}

Result<ForkBase> TestEngine::prepare_fork(Warm /*warm*/) {
    for (const std::string& line : lines_) {
        const Command command = Command::parse(line);
        if (command.name != "cannot-fork") continue;
        return fail(ErrorCode::kUnavailable, std::string(command.rest));
    }
    return ForkBase{};
}

Result<void> TestEngine::start_forked(const EngineOptions& options) {
    const ActiveRun<TestEngine> active(*this);
    options_.seat = options.seat;
    return load_lines([](const Command& command) { return command.is_for_a_seat(); });
}

Result<void> TestEngine::read_source(const std::filesystem::path& source) {
    source_ = source.string();
    if (source.empty()) return {};
    std::ifstream file(source);
    if (!file) {
        return fail(ErrorCode::kBadRequest, source.string() + ": cannot be read");
    }
    for (std::string line; std::getline(file, line);) lines_.push_back(line);
    return {};
}

Result<void> TestEngine::load_lines(const std::function<bool(const Command&)>& wanted) {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const Command command = Command::parse(lines_[i]);
        if (command.name.empty() || command.name.starts_with('#') || !wanted(command)) continue;
        auto done = load_line(command);
        if (done) continue;
        Error error = done.error();
        error.where = source_ + ':' + std::to_string(i + 1);
        return tl::unexpected(std::move(error));
    }
    return {};
}

Result<void> TestEngine::load_line(const Command& command) {
    if (command.name == "load-fail") {
        return fail(ErrorCode::kQueryError, std::string(command.rest));
    }
    if (command.name == "load-hang") hang();
    if (command.name == "load-touch") {
        const std::ofstream made{std::string(command.rest)};
        return {};
    }
    if (command.name == "cannot-fork") return {};
    if (command.name == "fail-every-query") {
        fails_every_query_ = true;
        return {};
    }
    const auto number = command.number();
    if (!number) return fail(ErrorCode::kBadRequest, "unknown line: " + std::string(command.name));
    const auto [first, rest] = *number;
    const Command tail{command.name, rest};
    const bool mine = first == options_.seat;
    if (command.name == "load-sleep") return sleep(std::chrono::milliseconds(first), false);
    if (command.name == "load-exit") ::_exit(static_cast<int>(first));
    if (command.name == "load-fail-seat") {
        if (!mine) return {};
        return fail(ErrorCode::kQueryError, std::string(rest));
    }
    if (command.name == "fail-every-query-seat") {
        fails_every_query_ = fails_every_query_ || mine;
        return {};
    }
    if (command.name == "load-sleep-seat") {
        const auto length = tail.number();
        if (!length) return tl::unexpected(length.error());
        return mine ? sleep(std::chrono::milliseconds(length->first), false) : Result<void>();
    }
    return fail(ErrorCode::kBadRequest, "unknown line: " + std::string(command.name));
}

Result<void> TestEngine::run(const Query& query, ResultSink& sink) {
    const ActiveRun<TestEngine> active(*this);
    const Command command = Command::parse(query.text);
    if (command.name.empty()) return fail(ErrorCode::kBadRequest, "the query is empty");
    if (fails_every_query_) return fail(ErrorCode::kQueryError, "every query fails here");
    auto done = execute(command, query, sink);
    ++queries_;
    return done;
}

Result<void> TestEngine::execute(const Command& command, const Query& query, ResultSink& sink) {
    const std::string_view name = command.name;
    if (name == "echo") return deliver_text(sink, "echo", command.rest);
    if (name == "fail") return fail(ErrorCode::kQueryError, std::string(command.rest));
    if (name == "pid") return deliver_integer(sink, "pid", ::getpid());
    if (name == "seat") return deliver_integer(sink, "seat", options_.seat);
    if (name == "sequence") return deliver_integer(sink, "sequence", queries_);
    if (name == "parameters") {
        return deliver_text(sink, "parameters", std::to_string(query.parameters.size()));
    }
    if (name == "nothing") {
        return sink.begin({}) ? Result<void>() : tl::unexpected(cancelled());
    }
    if (name == "hang") hang();
    if (name == "crash") {
        // The default action, even where a sanitizer has put its own handler.
        std::signal(SIGSEGV, SIG_DFL);
        std::raise(SIGSEGV);
    }
    if (name == "sick") {
        sick_ = true;
        return fail(ErrorCode::kInternal, "INTERNAL Error: sick on command");
    }
    const auto number = command.number();
    if (name == "exit" && number) ::_exit(static_cast<int>(number->first));
    if (name == "sleep") {
        const auto length = command.duration();
        if (!length) return tl::unexpected(length.error());
        auto slept = sleep(length->first, length->second == "ignore");
        const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(length->first);
        return slept ? deliver_integer(sink, "slept_ms", whole.count()) : slept;
    }
    if (name == "rows") {
        if (!number) return tl::unexpected(number.error());
        return deliver_rows(sink, static_cast<std::int64_t>(number->first));
    }
    if (name == "bytes") {
        if (!number) return tl::unexpected(number.error());
        if (number->first > kBytesMax) return fail(ErrorCode::kBadRequest, "bytes: at most 1 GiB");
        return deliver_bytes(sink, one_column("bytes", "z", "BLOB"),
                             std::string(static_cast<std::size_t>(number->first), 'x'));
    }
    return fail(ErrorCode::kQueryError, "unknown command: " + std::string(name));
}

Result<void> TestEngine::deliver_rows(ResultSink& sink, std::int64_t rows) {
    if (!sink.begin(one_column("i", "l", "BIGINT"))) return tl::unexpected(cancelled());
    for (std::int64_t first = 0; first < rows; first += kRowsPerBatch) {
        if (!sink.batch(integers(first, std::min(kRowsPerBatch, rows - first))) ||
            !sleep(std::chrono::milliseconds(0), false)) {
            return tl::unexpected(cancelled());
        }
    }
    return {};
}

// Also tells, with a duration of 0, whether the run was interrupted.
Result<void> TestEngine::sleep(std::chrono::nanoseconds duration, bool deaf) {
    // Benches ask for parts of a millisecond: by default the kernel may be 50 us late.
    if (duration > std::chrono::nanoseconds(0)) ::prctl(PR_SET_TIMERSLACK, 1UL);
    std::unique_lock lock(mutex_);
    sleep_start_ = std::chrono::steady_clock::now();
    sleep_length_ = duration;
    const auto until = sleep_start_ + duration;
    const bool stopped = interrupted_.wait_until(lock, until, [&] { return stop_ && !deaf; });
    sleep_length_ = std::chrono::nanoseconds(0);
    if (stopped) return tl::unexpected(cancelled());
    return {};
}

void TestEngine::hang() {
    for (;;) ::pause();
}

void TestEngine::interrupt() noexcept {
    {
        const std::lock_guard lock(mutex_);
        if (!active_) return;
        stop_ = true;
    }
    interrupted_.notify_all();
}

double TestEngine::progress() const noexcept {
    const std::lock_guard lock(mutex_);
    if (!active_ || sleep_length_.count() == 0) return -1;
    const std::chrono::duration<double> slept = std::chrono::steady_clock::now() - sleep_start_;
    return std::clamp(slept / std::chrono::duration<double>(sleep_length_), 0.0, 1.0);
}

}  // namespace shortq::engine
