#include "tools/bench/interrupts.h"

#include <signal.h>
#include <unistd.h>

#include <mutex>
#include <set>
#include <system_error>
#include <thread>

namespace shortq::bench {
namespace {

struct Folders {
    std::mutex mutex;
    std::set<std::filesystem::path> paths;
};

Folders& folders() {
    static Folders all;
    return all;
}

[[noreturn]] void wait_and_end(const sigset_t& signals) {
    constexpr int kEndedBySignal = 128;  // As shells count.
    int signal = 0;
    while (::sigwait(&signals, &signal) != 0) {
    }
    auto& all = folders();
    const std::scoped_lock lock(all.mutex);  // Kept: nobody makes or removes one any more.
    for (const auto& path : all.paths) {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
    // No destructors: other threads are still at work.
    ::_exit(kEndedBySignal + signal);
}

}  // namespace

void end_on_signals() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread([signals] { wait_and_end(signals); }).detach();
}

void remember_folder(const std::filesystem::path& folder) {
    auto& all = folders();
    const std::scoped_lock lock(all.mutex);
    all.paths.insert(folder);
}

void forget_folder(const std::filesystem::path& folder) {
    auto& all = folders();
    const std::scoped_lock lock(all.mutex);
    all.paths.erase(folder);
}

}  // namespace shortq::bench
