// tests/tools/cli/terminal.h: shortq-cli on a pseudo-terminal, with a person's hands and eyes.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/patience.h"
#include "tests/tools/cli/virtual_screen.h"

namespace shortq::cli::test {

inline constexpr const char* kCtrlC = "\x03";
inline constexpr const char* kCtrlD = "\x04";
inline constexpr const char* kUp = "\x1b[A";

class Terminal {
public:
    struct Setup {
        std::size_t columns = 80;
        std::size_t rows = 24;
        std::map<std::string, std::string> environment{};  // Beside a plain one.
    };

    // Runs shortq-cli with these arguments.
    Terminal(const Setup& setup, std::vector<std::string> arguments);
    ~Terminal();  // Kills it.
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    void type(std::string_view keys);
    void resize(std::size_t columns, std::size_t rows);
    [[nodiscard]] const VirtualScreen& screen() const noexcept { return screen_; }
    // Everything that was written.
    [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
    [[nodiscard]] pid_t pid() const noexcept { return pid_; }
    // Whether the keyboard echoes, as it does unless a line editor has it.
    [[nodiscard]] bool echoes() const;

    // Reads until it holds; false: it was not so in time.
    [[nodiscard]] bool wait_until(const std::function<bool(const VirtualScreen&)>& holds);
    // Until the screen has the text.
    [[nodiscard]] bool shows(const std::string& text);
    // Until the cursor's row is exactly this, without spaces at its end: "shortq>".
    [[nodiscard]] bool asks(const std::string& row);
    // Until the program has left: its exit status, or 128 and the signal. None: it lives on.
    [[nodiscard]] std::optional<int> end();

private:
    // False: nothing more comes.
    bool read_some();

    VirtualScreen screen_;
    std::string bytes_;
    pid_t pid_ = -1;
    int master_ = -1;
    bool over_ = false;
};

}  // namespace shortq::cli::test
