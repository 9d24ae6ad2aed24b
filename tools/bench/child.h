// tools/bench/child.h: a process that a bench started, and that ends with it.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "proto/error.h"

namespace shortq::bench {

class Child {
public:
    // Starts `arguments[0]` and waits until it has written a line to its stdout. The kernel
    // ends it (SIGTERM) when this process is gone. Call from a thread that lives as long as the
    // child. Errors: kInternal if it could not be started or ended before its line.
    [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments);

    Child(Child&& other) noexcept;
    Child& operator=(Child&& other) noexcept;
    ~Child();  // SIGTERM, and waits for its end; SIGKILL if that takes long.

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    [[nodiscard]] const std::string& first_line() const noexcept { return first_line_; }

private:
    explicit Child(pid_t pid) : pid_(pid) {}

    pid_t pid_ = -1;
    std::string first_line_;
};

// "tcp://127.0.0.1:5001" of a primary's "ready tcp://127.0.0.1:5001 workers=2 ..."; else empty.
[[nodiscard]] std::string endpoint_in(const std::string& ready_line);

// Starts this program with other arguments.
[[nodiscard]] Result<Child> start_this_program(const std::vector<std::string>& arguments);

// The program `name` in the folder of this program.
[[nodiscard]] std::string program_next_to_this_one(const std::string& name);

}  // namespace shortq::bench
