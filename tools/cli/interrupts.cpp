#include "tools/cli/interrupts.h"

#include <pthread.h>
#include <unistd.h>

#include <csignal>

namespace shortq::cli {
namespace {

constexpr int kExitFailed = 1;

// SIGUSR1 only ends the thread.
sigset_t taken_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGUSR1);
    return signals;
}

}  // namespace

Interrupts::Interrupts() {
    const auto signals = taken_signals();
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
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

void Interrupts::handle_with(std::function<bool()> handler) {
    const std::lock_guard lock(mutex_);
    handler_ = std::move(handler);
}

void Interrupts::run() {
    const auto signals = taken_signals();
    bool cancelled_once = false;
    for (int signal = 0; sigwait(&signals, &signal) == 0;) {
        const std::lock_guard lock(mutex_);
        if (stopping_) return;
        if (signal != SIGINT) continue;
        if (cancelled_once || !handler_ || !handler_()) ::_exit(kExitFailed);
        cancelled_once = true;
    }
}

}  // namespace shortq::cli
