// tools/cli/line_editor.h: a line from the terminal, edited, completed and coloured. The only user
// of GNU readline.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/highlight.h"
#include "tools/cli/signal_inbox.h"

namespace shortq::cli {

// One per process: readline keeps its state in globals.
class LineEditor {
public:
    // `before`: the line up to the word; `word`: what is to be completed, as far as it is typed;
    // `after`: the line behind the cursor. Each candidate replaces the word.
    using Complete = std::function<std::vector<std::string>(
        std::string_view before, std::string_view word, std::string_view after)>;
    // The style of each byte of the line.
    using Paint = std::function<std::vector<Style>(std::string_view line)>;

    LineEditor(SignalInbox& signals, Complete complete, Paint paint);
    LineEditor(const LineEditor&) = delete;
    LineEditor& operator=(const LineEditor&) = delete;
    ~LineEditor();

    enum class Outcome : std::uint8_t {
        kLine,
        kInterrupted,  // Ctrl-C: what was typed is dropped.
        kEnd,          // Ctrl-D on an empty line, a terminal that is gone, or a signal to leave.
    };
    struct Typed {
        Outcome outcome = Outcome::kEnd;
        std::string line;
    };
    [[nodiscard]] Typed read(const std::string& prompt);

    // What arrow-up brings back, oldest first.
    void set_history(const std::vector<std::string>& entries);

private:
    [[nodiscard]] bool wait_for_input();
    void act_on(int signal);
    void resize();
    void redisplay() const;
    [[nodiscard]] char** matches(const char* word, int start, int end) const;

    static void on_line(char* line);
    static char** on_completion(const char* word, int start, int end);
    static void on_redisplay();
    static LineEditor* the_one_;

    SignalInbox& signals_;
    Complete complete_;
    Paint paint_;
    Typed typed_;
    bool done_ = false;
};

}  // namespace shortq::cli
