#include "tools/cli/interrupts.h"

#include <pthread.h>
#include <unistd.h>

namespace shortq::cli {
namespace {

constexpr int kExitFailed = 1;

}  // namespace

Interrupts::Interrupts(std::initializer_list<int> others) {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGUSR1);  // Only ends the thread.
    for (const int signal : others) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
    thread_ = std::thread([this] { run(); });
}

Interrupts::~Interrupts() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    pthread_kill(thread_.native_handle(), SIGUSR1);
    thread_.join();
}

void Interrupts::handle_with(std::function<bool(int)> handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
}

void Interrupts::run() {
    for (int signal = 0; sigwait(&signals_, &signal) == 0;) {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        if (signal == SIGUSR1) continue;
        const bool goes_on = handler_ && handler_(signal);
        if (!goes_on && signal == SIGINT) ::_exit(kExitFailed);
    }
}

}  // namespace shortq::cli
