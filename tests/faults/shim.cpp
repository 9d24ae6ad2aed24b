// tests/faults/shim.cpp: a machine with faults, for a program that has this library preloaded: its
// calendar clock jumps, its disk is full.
//
//   SHORTQ_SHIM_CLOCK=FILE   seconds, as a number of 8 bytes, that are added to the calendar. The
//                            file is mapped: a test writes to it while the program runs.
//   SHORTQ_SHIM_DISK=FOLDER  the disk with this folder,
//   SHORTQ_SHIM_SIZE=BYTES   is so large according to statvfs,
//   SHORTQ_SHIM_FREE=BYTES   has so much room according to it,
//   SHORTQ_SHIM_ROOM=BYTES   and so much in truth, for each process: then ENOSPC.
//
// The monotonic clock is left alone: it does not jump.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

// ---- The calendar

const volatile std::int64_t* map_jump() {
    static const std::int64_t kNone = 0;
    const char* file = std::getenv("SHORTQ_SHIM_CLOCK");
    if (file == nullptr) return &kNone;
    const int fd = ::open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return &kNone;
    void* page = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    return page == MAP_FAILED ? &kNone : static_cast<const std::int64_t*>(page);
}

time_t jump() {
    static const volatile std::int64_t* const seconds = map_jump();
    return static_cast<time_t>(*seconds);
}

bool is_calendar(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
}

int real_clock(clockid_t clock, timespec* now) {
    return static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
}

// ---- The disk

// Whether what is open there lies on the disk that is full.
bool is_on_disk(int fd) {
    static const char* const folder = std::getenv("SHORTQ_SHIM_DISK");
    if (folder == nullptr) return false;
    std::array<char, 64> link{};
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", fd);
    std::array<char, PATH_MAX> path{};
    if (::readlink(link.data(), path.data(), path.size() - 1) < 0) return false;
    return std::strncmp(path.data(), folder, std::strlen(folder)) == 0;
}

long long number_of(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? 0 : std::atoll(text);
}

// Takes room for so many bytes; false: the disk is full.
bool take_room(int fd, std::size_t bytes) {
    static std::atomic<long long> room = number_of("SHORTQ_SHIM_ROOM");
    if (!is_on_disk(fd)) return true;
    return room.fetch_sub(static_cast<long long>(bytes)) >= static_cast<long long>(bytes);
}

template <class Function>
Function* real(const char* name) {
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

ssize_t refuse() {
    errno = ENOSPC;
    return -1;
}

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept {
    const int status = real_clock(clock, now);
    if (status == 0 && is_calendar(clock)) now->tv_sec += jump();
    return status;
}

int gettimeofday(timeval* now, void* /*zone*/) noexcept {
    timespec time{};
    clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return 0;
}

time_t time(time_t* out) noexcept {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out != nullptr) *out = now.tv_sec;
    return now.tv_sec;
}

ssize_t write(int fd, const void* bytes, size_t size) {
    static auto* const next = real<decltype(write)>("write");
    return take_room(fd, size) ? next(fd, bytes, size) : refuse();
}

ssize_t pwrite(int fd, const void* bytes, size_t size, off_t at) {
    static auto* const next = real<decltype(pwrite)>("pwrite");
    return take_room(fd, size) ? next(fd, bytes, size, at) : refuse();
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
    static auto* const next = real<decltype(pwrite64)>("pwrite64");
    return take_room(fd, size) ? next(fd, bytes, size, at) : refuse();
}

int statvfs(const char* path, struct statvfs* facts) noexcept {
    static auto* const next = real<decltype(statvfs)>("statvfs");
    static const char* const folder = std::getenv("SHORTQ_SHIM_DISK");
    const int status = next(path, facts);
    const bool ours = folder != nullptr && std::strncmp(path, folder, std::strlen(folder)) == 0;
    if (status != 0 || !ours) return status;
    facts->f_blocks = static_cast<fsblkcnt_t>(number_of("SHORTQ_SHIM_SIZE")) / facts->f_frsize;
    facts->f_bavail = static_cast<fsblkcnt_t>(number_of("SHORTQ_SHIM_FREE")) / facts->f_frsize;
    facts->f_bfree = facts->f_bavail;
    return status;
}

}  // extern "C"
