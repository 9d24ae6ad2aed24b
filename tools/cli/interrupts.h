// tools/cli/interrupts.h: Ctrl-C and other signals as calls on a thread of their own.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <mutex>
#include <thread>

namespace shortq::cli {

// Make it before any other thread: it blocks its signals in the whole process and takes them on a
// thread of its own.
class Interrupts {
public:
    // SIGINT, and those of `others`, are taken.
    explicit Interrupts(std::initializer_list<int> others = {});
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts();

    // Called with each signal, on the thread of this class. False, or no handler: after SIGINT the
    // program leaves at once, with status 1.
    void handle_with(std::function<bool(int signal)> handler);

private:
    void run();

    std::mutex mutex_;
    std::function<bool(int)> handler_;
    sigset_t signals_{};
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace shortq::cli
