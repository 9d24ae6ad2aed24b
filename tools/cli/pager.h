// tools/cli/pager.h: the user's pager, for results that are longer than the terminal.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace shortq::cli {

// $SHORTQ_PAGER, else $PAGER, else less; empty: none is wanted (the variable is empty, or the
// terminal is dumb).
[[nodiscard]] std::string pager_command();

// A pager under way. The destructor waits for its user to leave it.
class Pager {
public:
    // Runs the command through the shell; none if it cannot be started.
    [[nodiscard]] static std::optional<Pager> start(const std::string& command);

    Pager(Pager&& other) noexcept;
    Pager& operator=(Pager&&) = delete;
    ~Pager();

    // Where to write. A user who has seen enough makes that fail with EPIPE.
    [[nodiscard]] int descriptor() const noexcept { return input_; }

private:
    Pager(pid_t pid, int input) : pid_(pid), input_(input) {}

    pid_t pid_;
    int input_;
};

}  // namespace shortq::cli
