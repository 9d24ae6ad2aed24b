// tools/cli/interrupts.h: Ctrl-C: the first one cancels what runs, the next one leaves.
#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace shortq::cli {

// Make it before any other thread: it blocks SIGINT in the whole process and takes it on a thread
// of its own.
class Interrupts {
public:
    Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;
    ~Interrupts();

    // Called on Ctrl-C, on the thread of this class. True: something was cancelled, go on.
    // False, or no handler: the program leaves at once, with status 1.
    void handle_with(std::function<bool()> handler);

private:
    void run();

    std::mutex mutex_;
    std::function<bool()> handler_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace shortq::cli
