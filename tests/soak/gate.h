// tests/soak/gate.h: lets load and faults go on, holds them at times of rest, and ends them.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace shortq::soak {

// Threads: any.
class Gate {
public:
    // A piece of work under way. Those that are not begun yet wait while the gate is shut.
    class Turn {
    public:
        explicit Turn(Gate& gate) : gate_(gate), granted_(gate.enter()) {}
        ~Turn() {
            if (granted_) gate_.leave();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        // False: the run is over.
        explicit operator bool() const noexcept { return granted_; }

    private:
        Gate& gate_;
        bool granted_;
    };

    void shut() { set(State::kShut); }
    void open() { set(State::kOpen); }
    void end() { set(State::kOver); }
    // For those that have to go on in times of rest, and for pauses that should end early.
    [[nodiscard]] bool is_open() {
        const std::scoped_lock lock(mutex_);
        return state_ == State::kOpen;
    }
    [[nodiscard]] bool is_over() {
        const std::scoped_lock lock(mutex_);
        return state_ == State::kOver;
    }
    // Waits for so long, or until the gate is not open any more.
    void pause(std::chrono::milliseconds duration) {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, duration, [&] { return state_ != State::kOpen; });
    }
    // True: nothing is under way.
    [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds patience) {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [&] { return inside_ == 0; });
    }

private:
    enum class State { kOpen, kShut, kOver };

    void set(State state) {
        {
            const std::scoped_lock lock(mutex_);
            state_ = state;
        }
        changed_.notify_all();
    }
    bool enter() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return state_ != State::kShut; });
        if (state_ == State::kOver) return false;
        ++inside_;
        return true;
    }
    void leave() {
        {
            const std::scoped_lock lock(mutex_);
            --inside_;
        }
        changed_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    State state_ = State::kOpen;
    int inside_ = 0;
};

}  // namespace shortq::soak
