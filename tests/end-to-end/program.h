// tests/end-to-end/program.h: any program as a child of a test: its outputs in files, its end as an
// event, and every process that it leaves behind in sight.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "primary/worker_process.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace shortq::test {

// Asks until `holds` is true. False: it was not within `patience`.
[[nodiscard]] bool wait_until(const std::function<bool()>& holds,
                              std::chrono::milliseconds patience = kPatience);

[[nodiscard]] std::string read_file(const std::filesystem::path& path);

// Whether this build is instrumented.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

// The lines of a log in which a sanitizer complains.
[[nodiscard]] std::string sanitizer_reports(const std::string& log);

// A process that is not a zombie.
struct ProcessInfo {
    pid_t pid = 0;
    pid_t parent = 0;
    std::string name;
    char state = '?';
};
[[nodiscard]] std::optional<ProcessInfo> process_info(pid_t pid);
[[nodiscard]] std::uint64_t resident_bytes(pid_t pid);
// A process's share of the memory that it uses together with others.
[[nodiscard]] std::uint64_t proportional_bytes(pid_t pid);
[[nodiscard]] std::size_t open_files(pid_t pid);
[[nodiscard]] std::chrono::milliseconds cpu_time(pid_t pid);  // User's and system's.

// How a program ended, and all that it wrote.
struct Outcome {
    ExitStatus status;
    std::string out;
    std::string err;
};

using Environment = std::map<std::string, std::string>;

// Starts on construction. Children of the program, their children and so on carry its mark in their
// environment, so that none is overlooked. The destructor kills all of them; a program that a test
// is done with has ended before.
class Program {
public:
    // `environment` is added to this process's own.
    Program(const std::filesystem::path& program, const std::vector<std::string>& arguments,
            std::string_view input = {}, const Environment& environment = {});
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    void signal(int number) const noexcept;
    // None: it lives on. The first call that gets the end reaps it.
    [[nodiscard]] std::optional<ExitStatus> wait(std::chrono::milliseconds patience = kPatience);
    // Waits for the end and gives everything. Throws if it does not end in time.
    [[nodiscard]] Outcome finish(std::chrono::milliseconds patience = kPatience);

    [[nodiscard]] std::string out() const { return read_file(folder_.path() / "out"); }
    [[nodiscard]] std::string err() const { return read_file(folder_.path() / "err"); }
    // Every live process that descends from this one, itself included.
    [[nodiscard]] std::vector<ProcessInfo> family() const;

private:
    TemporaryFolder folder_;
    std::string mark_;
    pid_t pid_ = -1;
    UniqueFd pidfd_;
    std::optional<ExitStatus> status_;
};

// Runs a program to its end.
[[nodiscard]] Outcome run(const std::filesystem::path& program,
                          const std::vector<std::string>& arguments, std::string_view input = {});

}  // namespace shortq::test
