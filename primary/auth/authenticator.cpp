#include "primary/auth/authenticator.h"

#include <spdlog/spdlog.h>

#include <cassert>
#include <cstring>
#include <iterator>
#include <utility>

#include "primary/auth/password_hash.h"

namespace shortq::auth {
namespace {

constexpr std::chrono::minutes kRemembered{5};

}  // namespace

Authenticator::Authenticator(Users users, GateRules rules)
    : users_(std::move(users)), gate_(rules) {
    assert(!users_.empty());
    thread_ = std::thread([this] { run(); });
}

Authenticator::~Authenticator() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void Authenticator::check(Attempt attempt) {
    {
        const std::lock_guard lock(mutex_);
        if (gate_.add(attempt)) {
            changed_.notify_all();
            return;
        }
    }
    attempt.done(Verdict::kBusy);
}

void Authenticator::replace(Users users) {
    assert(!users.empty());
    const std::lock_guard lock(mutex_);
    users_ = std::move(users);
    verified_.clear();
    ++edition_;
}

void Authenticator::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        auto next = stopping_ ? gate_.drop() : gate_.next(std::chrono::steady_clock::now());
        if (next) {
            lock.unlock();
            next->attempt.done(next->busy ? Verdict::kBusy : judge(next->attempt));
            next.reset();  // Wiped without the lock.
            lock.lock();
        } else if (stopping_) {
            return;
        } else if (const auto wake = gate_.next_wake()) {
            changed_.wait_until(lock, *wake);
        } else {
            changed_.wait(lock);
        }
    }
}

// An unknown user's password is checked against somebody's hash, always the same one's, so that the
// time it takes tells nothing.
std::string Authenticator::hash_for(const std::string& user, bool& known) const {
    const auto found = users_.find(user);
    known = found != users_.end();
    if (known) return found->second;
    const auto digest = hash_({"stand-in", user});
    std::uint32_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    return std::next(users_.begin(), static_cast<std::ptrdiff_t>(number % users_.size()))->second;
}

bool Authenticator::is_remembered(Time now, const Attempt& attempt, const Digest& pair) const {
    const auto found = verified_.find(attempt.user);
    return found != verified_.end() && now < found->second.until && equal(found->second.pair, pair);
}

Verdict Authenticator::judge(const Attempt& attempt) {
    const auto begun = std::chrono::steady_clock::now();
    const auto pair = hash_({"pair", attempt.user, attempt.password.view()});
    bool known = false;
    std::string hash;
    std::uint64_t edition = 0;
    {
        const std::lock_guard lock(mutex_);
        if (is_remembered(begun, attempt, pair)) {
            gate_.judged(begun, attempt, true);
            return Verdict::kAccepted;
        }
        hash = hash_for(attempt.user, known);
        edition = edition_;
    }
    const bool accepted = matches_password(hash, attempt.password.view()) && known;
    const auto now = std::chrono::steady_clock::now();
    {
        const std::lock_guard lock(mutex_);
        gate_.judged(now, attempt, accepted);
        if (accepted && edition == edition_) verified_[attempt.user] = {pair, now + kRemembered};
    }
    if (!accepted) note_denial(now, attempt, known);
    return accepted ? Verdict::kAccepted : Verdict::kDenied;
}

void Authenticator::note_denial(Time now, const Attempt& attempt, bool known) {
    ++denied_;
    const auto line =
        denials_.line(now, known ? std::string_view(attempt.user) : "", attempt.address);
    if (line) spdlog::warn("{}", *line);
}

}  // namespace shortq::auth
