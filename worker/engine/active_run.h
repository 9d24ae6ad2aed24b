// worker/engine/active_run.h: marks load() or run() of an engine as under way, for interrupt().
#pragma once

#include <mutex>

namespace shortq::engine {

// `Engine` has mutex_, stop_ and active_, and makes this class its friend. An interrupt of an
// earlier run is forgotten when the next one begins.
template <class Engine>
class ActiveRun {
public:
    explicit ActiveRun(Engine& engine) : engine_(engine) {
        const std::lock_guard lock(engine_.mutex_);
        engine_.stop_ = false;
        engine_.active_ = true;
    }
    ActiveRun(const ActiveRun&) = delete;
    ActiveRun& operator=(const ActiveRun&) = delete;
    ~ActiveRun() {
        const std::lock_guard lock(engine_.mutex_);
        engine_.active_ = false;
    }

private:
    Engine& engine_;
};

}  // namespace shortq::engine
