#include "primary/auth/gate.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace shortq::auth {

std::string network_of(const std::string& address) {
    in6_addr ipv6{};
    if (::inet_pton(AF_INET6, address.c_str(), &ipv6) != 1) {
        const bool local = address.starts_with(':');
        return local ? address.substr(0, address.rfind(':')) : address;
    }
    const auto& bytes = ipv6.s6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&ipv6)) {
        std::array<char, INET_ADDRSTRLEN> text{};
        return ::inet_ntop(AF_INET, &bytes[12], text.data(), text.size());
    }
    constexpr std::size_t kNetworkBytes = 8;
    std::fill(std::begin(ipv6.s6_addr) + kNetworkBytes, std::end(ipv6.s6_addr), std::uint8_t{0});
    std::array<char, INET6_ADDRSTRLEN> text{};
    return std::string(::inet_ntop(AF_INET6, &ipv6, text.data(), text.size())) + "/64";
}

Digest Gate::user_key(const Attempt& attempt) const {
    return hash_({"user", attempt.user, network_of(attempt.address)});
}

Digest Gate::address_key(const Attempt& attempt) const {
    return hash_({"address", network_of(attempt.address)});
}

bool Gate::add(Attempt& attempt) {
    if (waiting() >= rules_.waiting_max) return false;
    ready_.push_back(std::move(attempt));
    return true;
}

std::optional<Gate::Next> Gate::next(Time now) {
    release(now);
    while (!ready_.empty()) {
        Attempt attempt = std::move(ready_.front());
        ready_.pop_front();
        const auto due = not_before(attempt);
        if (due <= now) return Next{std::move(attempt), false};
        auto& held = held_per_address_[address_key(attempt)];
        if (held >= rules_.held_per_address_max) return Next{std::move(attempt), true};
        ++held;
        held_.emplace(due, std::move(attempt));
    }
    return std::nullopt;
}

std::optional<Gate::Next> Gate::drop() {
    release(Time::max());
    if (ready_.empty()) return std::nullopt;
    Next last{std::move(ready_.front()), true};
    ready_.pop_front();
    return last;
}

// Whose time has come. Of several with the same the first may be held against the others again.
void Gate::release(Time now) {
    while (!held_.empty() && held_.begin()->first <= now) {
        auto entry = held_.extract(held_.begin());
        const auto found = held_per_address_.find(address_key(entry.mapped()));
        if (--found->second == 0) held_per_address_.erase(found);
        ready_.push_back(std::move(entry.mapped()));
    }
}

std::optional<Time> Gate::next_wake() const {
    if (!ready_.empty()) return Time::min();
    if (held_.empty()) return std::nullopt;
    return held_.begin()->first;
}

Time Gate::not_before(const Attempt& attempt) const {
    return std::max(not_before(user_key(attempt), rules_.free_per_user),
                    not_before(address_key(attempt), rules_.free_per_address));
}

Time Gate::not_before(const Digest& key, std::uint32_t free) const {
    const auto found = records_.find(key);
    if (found == records_.end() || found->second.failures < free) return Time::min();
    constexpr std::uint32_t kDoublingsMax = 20;
    const auto doublings = std::min(found->second.failures - free, kDoublingsMax);
    const auto wait = std::min(rules_.first_wait * (1U << doublings), rules_.longest_wait);
    return found->second.last + wait;
}

void Gate::judged(Time now, const Attempt& attempt, bool accepted) {
    if (accepted) {
        records_.erase(user_key(attempt));
        return;
    }
    fail_once(now, user_key(attempt));
    fail_once(now, address_key(attempt));
}

void Gate::fail_once(Time now, const Digest& key) {
    if (!records_.contains(key)) make_room(now);
    auto& record = records_[key];
    if (now - record.last > rules_.forgotten_after) record.failures = 0;
    ++record.failures;
    record.last = now;
}

// Forgets what is old; if nothing is, the oldest.
void Gate::make_room(Time now) {
    if (records_.size() < rules_.records_max) return;
    std::erase_if(records_, [&](const auto& entry) {
        return now - entry.second.last > rules_.forgotten_after;
    });
    if (records_.size() < rules_.records_max) return;
    const auto older = [](const auto& a, const auto& b) { return a.second.last < b.second.last; };
    records_.erase(std::ranges::min_element(records_, older));
}

std::uint32_t Gate::failures(const Attempt& attempt) const {
    const auto found = records_.find(user_key(attempt));
    return found == records_.end() ? 0 : found->second.failures;
}

}  // namespace shortq::auth
