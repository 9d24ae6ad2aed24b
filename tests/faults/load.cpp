#include "tests/faults/load.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "tests/patience.h"

namespace shortq::test {
namespace {

constexpr std::size_t kFaultsKept = 10;
constexpr std::uint64_t kRowsOfALargeResult = 300'000;  // Of 16 bytes: some pieces.
constexpr int kAtOnce = 8;                              // Short ones that are sent together.

Client connected(const LoadOptions& options) {
    ConnectOptions how;
    how.endpoints = {options.endpoint};
    how.connect_timeout = kPatience;
    how.wait_until_ready = true;
    auto client = Client::connect(std::move(how));
    if (!client) throw std::runtime_error("no connection: " + client.error().message);
    return std::move(*client);
}

// A reply that does not come becomes the client's own kTimeout, which no test expects.
QueryOptions patient() {
    QueryOptions options;
    options.timeout = kPatience;
    return options;
}

// Rows of a large result: the request's number, and the place.
struct Rows {
    std::uint64_t count = 0;
    std::int64_t next = 0;
    bool right = true;

    void take(const Table& table, std::int64_t number, LoadEngine engine) {
        const bool numbered = engine == LoadEngine::kDuckDb;
        for (std::size_t batch = 0; batch < table.batches().size(); ++batch) {
            const auto places = table.values<std::int64_t>(batch, 0).value();
            for (const auto place : places) right = right && place == next++;
            count += places.size();
            if (!numbered) continue;
            const auto numbers = table.values<std::int64_t>(batch, 1).value();
            for (const auto one : numbers) right = right && one == number;
        }
    }
};

// The test engine's rows carry no number but their count.
std::uint64_t rows_of(LoadEngine engine, std::uint64_t number) {
    return engine == LoadEngine::kDuckDb ? kRowsOfALargeResult : kRowsOfALargeResult + number;
}

}  // namespace

// ---- Tally

void Tally::add(const Tally& other) {
    sent += other.sent;
    right += other.right;
    streams_cut += other.streams_cut;
    for (const auto& [code, count] : other.errors) errors[code] += count;
    faults.insert(faults.end(), other.faults.begin(), other.faults.end());
}

std::uint64_t Tally::of(ErrorCode code) const {
    const auto found = errors.find(code);
    return found == errors.end() ? 0 : found->second;
}

std::uint64_t Tally::all_errors() const {
    std::uint64_t sum = 0;
    for (const auto& [code, count] : errors) sum += count;
    return sum;
}

std::string Tally::text() const {
    std::ostringstream out;
    out << "sent=" << sent << " right=" << right;
    for (const auto& [code, count] : errors) out << ' ' << name_of(code) << '=' << count;
    for (const auto& fault : faults) out << "\n  " << fault;
    return out.str();
}

// ---- LoadClient

LoadClient::LoadClient(LoadOptions options)
    : options_(std::move(options)), client_(connected(options_)) {
    for (int i = 0; i < options_.voices; ++i) {
        threads_.emplace_back(
            [this, seed = options_.seed + static_cast<std::uint64_t>(i)] { voice(seed); });
    }
}

LoadClient::~LoadClient() { finish(); }

void LoadClient::finish() {
    over_ = true;
    wait();
}

void LoadClient::wait() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

void LoadClient::voice(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_int_distribution<std::size_t> draw(0, options_.asks.size() - 1);
    while (!over_) {
        const auto number = ++numbers_;
        if (options_.most != 0 && number > options_.most) return;
        ask(options_.asks[draw(random)], number);
    }
}

std::string LoadClient::name_of_request(std::uint64_t number) const {
    return options_.name + "-" + std::to_string(number);
}

std::string LoadClient::text_of(Ask what, std::uint64_t number) const {
    const auto name = name_of_request(number);
    const bool duckdb = options_.engine == LoadEngine::kDuckDb;
    switch (what) {
        case Ask::kSync:
            return "select '" + name + "'";
        case Ask::kShort:
            return duckdb ? "select '" + name + "'" : "echo " + name;
        case Ask::kWork:
            return duckdb ? "select '" + name + "' from range(1000000) t(i) having sum(i % 7) > 0"
                          : "sleep " + std::to_string(1 + number % 9);
        case Ask::kWhole:
        case Ask::kStream:
            break;
    }
    const auto rows = std::to_string(rows_of(options_.engine, number));
    return duckdb ? "select i, " + std::to_string(number) + "::bigint from range(" + rows + ") t(i)"
                  : "rows " + rows;
}

void LoadClient::ask(Ask what, std::uint64_t number) {
    if (what == Ask::kWhole || what == Ask::kStream) return ask_rows(number, what == Ask::kStream);
    if (what == Ask::kShort) return ask_several(number);
    const auto text = text_of(what, number);
    const bool sleeps = options_.engine == LoadEngine::kTest && what == Ask::kWork;
    const auto expected = sleeps ? std::to_string(1 + number % 9) : name_of_request(number);
    judge(number, expected,
          what == Ask::kSync ? client_.sync(text, {}, patient())
                             : client_.deferred(text, {}, patient()));
}

// Many small ones under way at once: this is where a mix-up would show.
void LoadClient::ask_several(std::uint64_t number) {
    std::vector<std::pair<std::uint64_t, Submitted>> under_way;
    for (int i = 0; i < kAtOnce; ++i) {
        const auto one = i == 0 ? number : ++numbers_;
        under_way.emplace_back(one, client_.submit(text_of(Ask::kShort, one), {}, patient()));
    }
    for (auto& [one, submitted] : under_way)
        judge(one, name_of_request(one), submitted.reply.get());
}

void LoadClient::ask_rows(std::uint64_t number, bool streaming) {
    const auto text = text_of(streaming ? Ask::kStream : Ask::kWhole, number);
    const auto what = name_of_request(number);
    Rows rows;
    const auto take = [&](const Table& table) {
        rows.take(table, static_cast<std::int64_t>(number), options_.engine);
    };
    const auto check = [&](std::uint64_t expected) {
        if (!rows.right || rows.count != expected)
            return note_fault(what + ": wrong rows, " + std::to_string(rows.count) + " of them");
        note_right();
    };
    if (!streaming) {
        const auto table = client_.deferred(text, {}, patient());
        if (!table) return note_error(table.error(), what);
        take(*table);
        return check(rows_of(options_.engine, number));
    }
    auto stream = client_.stream(text, {}, patient());
    if (!stream) return note_error(stream.error(), what);
    for (;;) {
        const auto piece = stream->next();
        if (!piece) {
            if (!rows.right) note_fault(what + ": wrong rows before an error");
            return note_error(piece.error(), what, piece.error().retryable);
        }
        if (!*piece) return check(rows_of(options_.engine, number));
        take(**piece);
    }
}

void LoadClient::judge(std::uint64_t number, const std::string& expected,
                       const Result<Table>& reply) {
    const auto what = name_of_request(number);
    if (!reply) return note_error(reply.error(), what);
    if (reply->rows() != 1 || reply->columns() != 1 || reply->text(0, 0) != expected)
        return note_fault(what + " got another's answer: " + reply->text(0, 0));
    note_right();
}

void LoadClient::note_right() {
    const std::lock_guard lock(mutex_);
    ++tally_.sent;
    ++tally_.right;
    ++replies_;
}

void LoadClient::note_error(const Error& error, const std::string& what, bool cut) {
    const std::lock_guard lock(mutex_);
    ++tally_.sent;
    ++tally_.errors[error.code];
    if (cut && error.code == ErrorCode::kWorkerLost) ++tally_.streams_cut;
    // Nobody asked for these: a reply was lost, or is not what was asked for.
    const bool never = error.code == ErrorCode::kTimeout || error.code == ErrorCode::kCancelled ||
                       error.code == ErrorCode::kBadRequest || error.code == ErrorCode::kInternal;
    if (never && tally_.faults.size() < kFaultsKept) {
        tally_.faults.push_back(what + ": " + std::string(name_of(error.code)) + ": " +
                                error.message);
    }
    ++replies_;
}

void LoadClient::note_fault(std::string what) {
    const std::lock_guard lock(mutex_);
    ++tally_.sent;
    if (tally_.faults.size() < kFaultsKept) tally_.faults.push_back(std::move(what));
    ++replies_;
}

}  // namespace shortq::test
