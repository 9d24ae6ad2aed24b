// primary/auth/gate.h: the queue of those who want in, where who guesses has to wait. No clock, no
// thread: the time comes in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "primary/auth/keyed_hash.h"
#include "primary/auth/secret.h"

namespace shortq::auth {

using Time = std::chrono::steady_clock::time_point;

enum class Verdict : std::uint8_t {
    kAccepted,
    kDenied,  // Unknown user or wrong password: nobody is told which.
    kBusy,    // Not looked at: too many wait. May be tried again later.
};

// Somebody who gives a name and a password.
struct Attempt {
    std::string user;
    Secret password;
    std::string address;  // Of the peer: "10.0.0.7", "::1". Without a port, if it is to count.
    std::function<void(Verdict)> done;
};

// How long who guesses waits. After `free` wrong passwords the next attempt is looked at only when
// `first_wait` has passed since the last wrong one, then twice as long, and so on.
struct GateRules {
    std::uint32_t free_per_user = 3;      // Of one user, from one address.
    std::uint32_t free_per_address = 20;  // Whatever the names. A network may share an address.
    std::chrono::milliseconds first_wait{250};
    std::chrono::milliseconds longest_wait{8000};
    std::chrono::minutes forgotten_after{10};
    std::size_t waiting_max = 8192;
    std::size_t held_per_address_max = 16;
    std::size_t records_max = 10'000;
};

// It holds up attempts, not answers: so an attempt with the right password waits just as long, and
// to send many at once does not help. A guesser's address waits, never the user: who comes from
// elsewhere is not held up. A success ends what is held against that user from that address, not
// what is held against the address, or one's own account would wash guesses at others.
// Threads: one at a time.
class Gate {
public:
    explicit Gate(GateRules rules = {}) : rules_(rules) {}

    // False: too many wait; `attempt` is left as it was.
    [[nodiscard]] bool add(Attempt& attempt);

    struct Next {
        Attempt attempt;
        bool busy = false;  // To be sent away unseen: too many of its address are held up.
    };
    // The next one whose turn it is; none: before next_wake() there is none.
    // Post: judged() follows, unless it is busy.
    [[nodiscard]] std::optional<Next> next(Time now);
    // Any that waits, due or not, as busy: the end of all.
    [[nodiscard]] std::optional<Next> drop();
    void judged(Time now, const Attempt& attempt, bool accepted);

    [[nodiscard]] std::optional<Time> next_wake() const;  // None: when something is added.
    [[nodiscard]] std::size_t waiting() const noexcept { return ready_.size() + held_.size(); }
    // Wrong ones that count against this user from there.
    [[nodiscard]] std::uint32_t failures(const Attempt& attempt) const;

private:
    struct Record {
        std::uint32_t failures = 0;
        Time last{};
    };
    using Records = std::map<Digest, Record>;

    [[nodiscard]] Digest user_key(const Attempt& attempt) const;
    [[nodiscard]] Digest address_key(const Attempt& attempt) const;
    [[nodiscard]] Time not_before(const Attempt& attempt) const;
    [[nodiscard]] Time not_before(const Digest& key, std::uint32_t free) const;
    void fail_once(Time now, const Digest& key);
    void make_room(Time now);
    void release(Time now);

    GateRules rules_;
    KeyedHash hash_;  // An unknown name may be a password: it is not kept.
    Records records_;
    std::deque<Attempt> ready_;
    std::multimap<Time, Attempt> held_;
    std::map<Digest, std::size_t> held_per_address_;
};

// Those who can change their address at will within it: a /64 of IPv6, and of a local peer
// (":uid:gid:pid") all processes.
[[nodiscard]] std::string network_of(const std::string& address);

}  // namespace shortq::auth
