#include "tests/soak/ledger.h"

#include <fmt/format.h>

#include <algorithm>

namespace shortq::soak {
namespace {

constexpr std::size_t kFaultsKept = 400;
constexpr std::chrono::seconds kFaultsBefore{5};  // Before the request, in its history.

double seconds(Ledger::Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

}  // namespace

void Ledger::sent(const Plan& plan, const std::string& client) {
    const std::scoped_lock lock(mutex_);
    ++tally_.requests;
    Entry entry;
    entry.kind = plan.kind;
    entry.text = plan.text;
    entry.client = client;
    entry.sent = Clock::now();
    entry.patience = plan.patience;
    entry.blows = blows_;
    open_.emplace(plan.number, std::move(entry));
}

void Ledger::note(std::uint64_t number, const std::string& what) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(number);
    if (found != open_.end()) found->second.history.push_back({Clock::now(), what});
}

bool Ledger::allow_cancel(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) return false;
    found->second.may_be_cancelled = true;
    found->second.history.push_back({Clock::now(), "is cancelled by somebody else"});
    return true;
}

void Ledger::answered(std::uint64_t number, const std::string& client, const std::string& outcome,
                      bool ok, const std::optional<std::string>& fault) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(number);
    if (found == open_.end()) {
        violation(tally_.doubled, fmt::format("request {} got another final reply", number),
                  fmt::format("{} got: {}", client, outcome));
        return;
    }
    auto& entry = found->second;
    entry.history.push_back({Clock::now(), client + " got: " + outcome});
    ++(ok ? tally_.ok : tally_.errors);
    ++outcomes_[outcome.substr(0, outcome.find(':'))];
    if (entry.client != client) {
        violation(
            tally_.wrong_client,
            fmt::format("the reply to request {} of {} came to {}", number, entry.client, client),
            history_of(number, entry));
    } else if (fault && !excused(entry, outcome)) {
        violation(tally_.wrong_client, fmt::format("request {} got {}", number, *fault),
                  history_of(number, entry));
    }
    if (outcome.starts_with("worker_lost") && !could_lose_workers(entry)) {
        violation(tally_.wrong_client,
                  fmt::format("request {} lost workers that nobody killed", number),
                  history_of(number, entry));
    }
    open_.erase(found);
}

void Ledger::left(std::uint64_t number) {
    const std::scoped_lock lock(mutex_);
    tally_.left += open_.erase(number);
}

void Ledger::unexpected(std::uint64_t number, const std::string& client, const std::string& what) {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find(number);
    const auto got = fmt::format("{} got: {}", client, what);
    if (found == open_.end()) {
        violation(tally_.doubled,
                  fmt::format("a message came for request {} after its final reply", number), got);
    } else {
        violation(tally_.wrong_client,
                  fmt::format("a message for request {} of {} came to {}", number,
                              found->second.client, client),
                  got + '\n' + history_of(number, found->second));
    }
}

void Ledger::wrong(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    violation(tally_.wrong_client, what, {});
}

void Ledger::blow() {
    const std::scoped_lock lock(mutex_);
    ++blows_;
}

void Ledger::may_be_unavailable(std::chrono::seconds duration) {
    const std::scoped_lock lock(mutex_);
    unavailable_until_ = std::max(unavailable_until_, Clock::now() + duration);
}

bool Ledger::excused(const Entry& entry, const std::string& outcome) const {
    if (outcome.starts_with("unavailable")) return Clock::now() < unavailable_until_;
    return entry.may_be_cancelled && outcome.starts_with("cancelled");
}

// Two workers must have died under it. Rows that are read as they come end with one that dies, or
// that an operator kills or a reload interrupts.
bool Ledger::could_lose_workers(const Entry& entry) const {
    return entry.kind == Kind::kLarge || blows_ == 0 || blows_ - entry.blows >= 2;
}

void Ledger::fault(const std::string& what) {
    const std::scoped_lock lock(mutex_);
    faults_.push_back({Clock::now(), what});
    if (faults_.size() > kFaultsKept) faults_.pop_front();
}

void Ledger::add(const Tally& tally) {
    const std::scoped_lock lock(mutex_);
    tally_.requests += tally.requests;
    tally_.ok += tally.ok;
    tally_.errors += tally.errors;
    tally_.left += tally.left;
    tally_.lost += tally.lost;
    tally_.doubled += tally.doubled;
    tally_.wrong_client += tally.wrong_client;
}

void Ledger::look() {
    const std::scoped_lock lock(mutex_);
    const auto now = Clock::now();
    for (auto& [number, entry] : open_) {
        if (entry.told_lost || now - entry.sent < entry.patience) continue;
        entry.told_lost = true;
        violation(tally_.lost,
                  fmt::format("request {} has had no reply for {:.1f} s", number,
                              seconds(now - entry.sent)),
                  history_of(number, entry));
    }
}

std::size_t Ledger::unanswered() const {
    const std::scoped_lock lock(mutex_);
    return open_.size();
}

std::vector<std::string> Ledger::oldest(std::size_t count) const {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [number, entry] : open_) {
        if (found.size() == count) break;
        found.push_back(history_of(number, entry));
    }
    return found;
}

Tally Ledger::tally() const {
    const std::scoped_lock lock(mutex_);
    return tally_;
}

std::map<std::string, std::uint64_t> Ledger::outcomes() const {
    const std::scoped_lock lock(mutex_);
    return outcomes_;
}

std::string Ledger::history_of(std::uint64_t number, const Entry& entry) const {
    std::map<Clock::time_point, std::string> all;
    const auto add = [&](Clock::time_point at, const std::string& what) {
        all[at] += fmt::format("  {:9.3f} s  {}\n", seconds(at - start_), what);
    };
    add(entry.sent,
        fmt::format("sent by {} ({}): {}", entry.client, name_of(entry.kind), entry.text));
    for (const auto& moment : entry.history) add(moment.at, moment.what);
    for (const auto& fault : faults_) {
        if (fault.at > entry.sent - kFaultsBefore) add(fault.at, "FAULT: " + fault.what);
    }
    auto told = fmt::format("history of request {}:\n", number);
    for (const auto& [at, line] : all) told += line;
    return told;
}

void Ledger::violation(std::uint64_t& count, const std::string& what, const std::string& history) {
    ++count;
    tell_(fmt::format("VIOLATION at {:.3f} s: {}\n{}", seconds(Clock::now() - start_), what,
                      history));
}

}  // namespace shortq::soak
