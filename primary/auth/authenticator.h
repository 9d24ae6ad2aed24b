// primary/auth/authenticator.h: says whether a name and a password belong together, on a thread of
// its own: to check a hash takes tens of milliseconds and 64 MiB.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "primary/auth/denials.h"
#include "primary/auth/gate.h"
#include "primary/auth/keyed_hash.h"
#include "primary/auth/users.h"

namespace shortq::auth {

// One attempt at a time, in order of arrival but for those that have to wait (gate.h). An unknown
// user costs the same time as a wrong password. A pair that was right is known for some minutes, so
// that a thousand clients that come back cost one hash, not a thousand.
// Threads: safe to share.
class Authenticator {
public:
    // Pre: `users` is not empty.
    explicit Authenticator(Users users, GateRules rules = {});
    Authenticator(const Authenticator&) = delete;
    Authenticator& operator=(const Authenticator&) = delete;
    ~Authenticator();  // Who still waits is told kBusy.

    // Calls attempt.done exactly once, from this object's thread; or at once, from the caller's, if
    // too many wait. It must return soon.
    void check(Attempt attempt);

    // From now on. Who was let in stays. Pre: not empty.
    void replace(Users users);

    [[nodiscard]] std::uint64_t denied() const noexcept { return denied_; }

private:
    struct Verified {
        Digest pair{};
        Time until{};
    };

    void run();
    [[nodiscard]] Verdict judge(const Attempt& attempt);
    [[nodiscard]] std::string hash_for(const std::string& user, bool& known) const;
    [[nodiscard]] bool is_remembered(Time now, const Attempt& attempt, const Digest& pair) const;
    void note_denial(Time now, const Attempt& attempt, bool known);

    mutable std::mutex mutex_;  // Guards all that follows but the thread's own.
    std::condition_variable changed_;
    Users users_;
    std::uint64_t edition_ = 0;  // Of users_: a hash may be checked while they are replaced.
    Gate gate_;
    std::map<std::string, Verified, std::less<>> verified_;
    bool stopping_ = false;
    std::atomic<std::uint64_t> denied_{0};

    KeyedHash hash_;   // Never changes.
    Denials denials_;  // The thread's.
    std::thread thread_;
};

}  // namespace shortq::auth
