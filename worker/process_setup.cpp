#include "worker/process_setup.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>

namespace shortq::worker {

Result<void> bind_to_primary(std::int64_t primary_pid) {
    // The terminal's are for the primary; the others would end a process for a write that fails.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // It may have died before the line above; then nobody would ever send the signal.
    if (::getppid() != primary_pid) {
        return fail(ErrorCode::kUnavailable, "the primary is gone", "start");
    }
    return {};
}

}  // namespace shortq::worker
