#include "tools/cli/line_editor.h"

// readline.h needs it first.
#include <clocale>
#include <cstdio>
// clang-format off
#include <readline/readline.h>
#include <readline/history.h>
// clang-format on

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>

#include "tools/cli/line_painting.h"
#include "tools/cli/terminal.h"
#include "tools/cli/terminal_text.h"

namespace shortq::cli {
namespace {

// Dots, double quotes and backslashes belong to words: schema.table, "a name", \format.
constexpr const char* kWordBreaks = " \t\n'`@$><=;|&{(,+-*/%^!~?:[])}";

// Readline frees what it is given.
char* copy_for_readline(const std::string& text) { return ::strdup(text.c_str()); }

std::string common_beginning(const std::vector<std::string>& texts) {
    std::string_view common = texts.front();
    for (const std::string_view text : texts) {
        const auto end = std::ranges::mismatch(common, text).in1;
        common = common.substr(0, static_cast<std::size_t>(end - common.begin()));
    }
    while (!common.empty() && (common.back() & 0x80) != 0) common.remove_suffix(1);
    return std::string(common);
}

bool is_set(const char* variable) {
    const char* value = rl_variable_value(variable);
    return value != nullptr && std::strcmp(value, "on") == 0;
}

void write_all(std::string_view text) {
    std::fflush(rl_outstream);
    while (!text.empty()) {
        const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
        if (written < 0) return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace

LineEditor* LineEditor::the_one_ = nullptr;

LineEditor::LineEditor(SignalInbox& signals, Complete complete, Paint paint)
    : signals_(signals), complete_(std::move(complete)), paint_(std::move(paint)) {
    the_one_ = this;
    rl_readline_name = "shortq-cli";
    rl_catch_signals = 0;  // They come through the inbox.
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_completer_word_break_characters = kWordBreaks;
    rl_instream = stdin;
    rl_outstream = stdout;
    rl_attempted_completion_function = &LineEditor::on_completion;
    ::using_history();
    // First: with a function of its own it would take every terminal for a dumb one.
    rl_initialize();
    std::setlocale(LC_CTYPE, "C.UTF-8");  // It has taken the environment's; texts are UTF-8.
    if (paint_) rl_redisplay_function = &LineEditor::on_redisplay;
}

LineEditor::~LineEditor() {
    rl_attempted_completion_function = nullptr;
    rl_redisplay_function = rl_redisplay;
    the_one_ = nullptr;
}

void LineEditor::set_history(const std::vector<std::string>& entries) {
    ::clear_history();
    for (const auto& entry : entries) ::add_history(entry.c_str());
}

LineEditor::Typed LineEditor::read(const std::string& prompt) {
    typed_ = {};
    done_ = false;
    rl_reset_screen_size();  // It may have changed while a query ran.
    rl_callback_handler_install(prompt.c_str(), &LineEditor::on_line);
    while (!done_ && wait_for_input()) {
        rl_callback_read_char();
    }
    if (!done_) rl_callback_handler_remove();
    return std::move(typed_);
}

// False: there is nothing more to read, typed_ says why.
bool LineEditor::wait_for_input() {
    for (;;) {
        std::array<pollfd, 2> waits{
            {{STDIN_FILENO, POLLIN, 0}, {signals_.descriptor(), POLLIN, 0}}};
        if (::poll(waits.data(), waits.size(), -1) < 0) continue;
        while (const auto signal = signals_.take()) {
            act_on(*signal);
            if (done_) return false;
        }
        if ((waits[0].revents & POLLIN) != 0) return true;
        if (waits[0].revents != 0) return false;  // The terminal is gone.
    }
}

void LineEditor::act_on(int signal) {
    if (signal == SIGWINCH) {
        if (!is_dumb_terminal()) resize();
    } else if (signal == SIGCONT) {
        rl_deprep_terminal();  // Else it believes that the terminal still is as it left it.
        rl_prep_terminal(1);
        rl_on_new_line();
        rl_forced_update_display();
    } else {
        rl_callback_sigcleanup();
        rl_point = rl_end;
        rl_redisplay();
        write_all(signal == SIGINT ? "^C\r\n" : "\r\n");
        rl_replace_line("", 0);
        rl_callback_handler_remove();
        typed_.outcome = signal == SIGINT ? Outcome::kInterrupted : Outcome::kEnd;
        done_ = true;
    }
}

// Terminals wrap what is on them anew, so that the line begins where it would at the new width.
// (Readline itself clears the cursor's row only.)
void LineEditor::resize() {
    const auto columns = terminal_size(STDOUT_FILENO).columns;
    const std::string_view line(rl_line_buffer, static_cast<std::size_t>(rl_point));
    const auto row = place_after(line, display_width(rl_display_prompt), columns).row;
    write_all("\r" + (row > 0 ? fmt::format("\x1b[{}A", row) : "") + "\x1b[J");
    rl_reset_screen_size();
    rl_on_new_line();
    rl_forced_update_display();
}

void LineEditor::on_line(char* line) {
    auto& self = *the_one_;
    self.done_ = true;
    self.typed_.outcome = line == nullptr ? Outcome::kEnd : Outcome::kLine;
    if (line != nullptr) self.typed_.line = line;
    std::free(line);  // NOLINT: readline's, by its contract.
    rl_callback_handler_remove();
}

// ---- completion ----

char** LineEditor::on_completion(const char* word, int start, int end) {
    rl_attempted_completion_over = 1;  // No file names.
    return the_one_->matches(word, start, end);
}

char** LineEditor::matches(const char* word, int start, int end) const {
    const std::string_view line(rl_line_buffer, static_cast<std::size_t>(rl_end));
    const auto found = complete_(line.substr(0, static_cast<std::size_t>(start)), word,
                                 line.substr(static_cast<std::size_t>(end)));
    if (found.empty()) return nullptr;
    const char last = found.front().back();
    rl_completion_append_character = last == '(' || last == '.' || last == ')' ? '\0' : ' ';
    auto common = common_beginning(found);
    if (common.size() < std::strlen(word)) common = word;  // They differ in case.
    auto** list = static_cast<char**>(std::calloc(found.size() + 2, sizeof(char*)));
    if (list == nullptr) return nullptr;
    list[0] = copy_for_readline(common);
    if (found.size() == 1) return list;
    for (std::size_t i = 0; i < found.size(); ++i) list[i + 1] = copy_for_readline(found[i]);
    return list;
}

// ---- colours ----

void LineEditor::on_redisplay() {
    rl_redisplay();
    the_one_->redisplay();
}

void LineEditor::redisplay() const {
    const bool searching = RL_ISSTATE(RL_STATE_ISEARCH | RL_STATE_NSEARCH | RL_STATE_NUMERICARG);
    if (rl_end == 0 || searching || done_ || is_set("horizontal-scroll-mode")) return;
    const std::string_view line(rl_line_buffer, static_cast<std::size_t>(rl_end));
    const auto size = terminal_size(STDOUT_FILENO);
    const auto start = display_width(rl_display_prompt);
    // What has been scrolled off the screen cannot be painted.
    if (start >= size.columns || place_after(line, start, size.columns).row + 1 >= size.lines) {
        return;
    }
    write_all(repaint(line, paint_(line), static_cast<std::size_t>(rl_point), start, size.columns));
}

}  // namespace shortq::cli
