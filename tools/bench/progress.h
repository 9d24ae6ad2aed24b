// tools/bench/progress.h: a line on the terminal that says what is being measured.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace shortq::bench {

// " 3/12  dispatch.1x64.w4.32B.ipc  14 s, about 40 s left", written over itself on stderr, and
// erased at the end; nothing where stderr is no terminal. Threads: one.
class Progress {
public:
    Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    ~Progress();  // Erases the line.

    // How many steps there will be; 0: nobody knows.
    void expect(std::size_t steps) { expected_ = steps; }
    // The next one begins.
    void step(const std::string& what);
    // Takes the line away, for other output; the next step brings it back.
    void erase();

private:
    using Clock = std::chrono::steady_clock;

    bool terminal_;
    bool shown_ = false;
    std::size_t expected_ = 0;
    std::size_t begun_ = 0;
    Clock::time_point start_ = Clock::now();
};

}  // namespace shortq::bench
