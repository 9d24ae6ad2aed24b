// primary/core/in_order.h: replies leave a connection in the order of its requests, whatever was
// finished first: for doors whose clients match replies by their order only (kdb+).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

namespace shortq::core {

// One line of requests: a finished one waits for those before it. Threads: one.
template <class Reply>
class InOrder {
public:
    // A request has come. Pre: ids rise.
    void expect(std::uint64_t id) { line_.push_back({id, std::nullopt}); }

    // False: it was not expected, or is finished already.
    bool finish(std::uint64_t id, Reply reply) {
        const auto found = std::ranges::lower_bound(line_, id, {}, &Place::id);
        if (found == line_.end() || found->id != id || found->reply) return false;
        found->reply = std::move(reply);
        ++finished_;
        return true;
    }

    // The next reply to leave, if its turn has come.
    [[nodiscard]] std::optional<Reply> take() {
        if (line_.empty() || !line_.front().reply) return std::nullopt;
        auto reply = std::move(line_.front().reply);
        line_.pop_front();
        --finished_;
        return reply;
    }

    // Requests whose replies have not left, and how many of these are finished.
    [[nodiscard]] std::size_t size() const noexcept { return line_.size(); }
    [[nodiscard]] std::size_t finished() const noexcept { return finished_; }
    [[nodiscard]] bool is_ready() const noexcept {
        return !line_.empty() && line_.front().reply.has_value();
    }

private:
    struct Place {
        std::uint64_t id = 0;
        std::optional<Reply> reply;
    };
    std::deque<Place> line_;  // By id.
    std::size_t finished_ = 0;
};

}  // namespace shortq::core
