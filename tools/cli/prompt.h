// tools/cli/prompt.h: the prompt: reads statements and commands from the terminal and runs them.
#pragma once

#include <memory>
#include <string>

#include "shortq/client.h"
#include "tools/cli/asker.h"
#include "tools/cli/catalogue.h"
#include "tools/cli/commands.h"
#include "tools/cli/history.h"
#include "tools/cli/interrupts.h"
#include "tools/cli/line_editor.h"
#include "tools/cli/printer.h"

namespace shortq::cli {

class Prompt {
public:
    // All must outlive the prompt. `interrupts` take the signals in kPromptSignals, too.
    Prompt(Client client, Options options, Printer& printer, ProgressLine& progress, Output& log,
           Interrupts& interrupts);
    ~Prompt();

    // Until the user leaves. The program's exit status.
    [[nodiscard]] int run();

private:
    [[nodiscard]] LineEditor::Typed read_line();
    void take_line(const std::string& line);
    void run_statement(const std::string& text, bool sync);
    void show(const Result<Table>& reply, const std::string& text, bool sync);
    void run_command(const std::string& line);
    void switch_to(bool sync, const std::string& query);
    [[nodiscard]] bool set_switch(bool& setting, const std::string& argument);
    void describe_table(const std::string& name);
    void set_format(const std::string& name);
    void connect(const std::string& where);
    void greet();
    void say(const std::string& text);
    void refresh_names();
    [[nodiscard]] CatalogueLoader& names() { return options_.sync ? sync_names_ : names_; }

    Client client_;
    Options options_;
    Printer& printer_;
    Output& log_;
    Interrupts& interrupts_;
    SignalInbox signals_;
    Asker asker_;
    History history_;
    CatalogueLoader names_{false};
    CatalogueLoader sync_names_{true};
    std::string begun_;  // A statement without its semicolon yet.
    LineEditor editor_;
    std::uint32_t generation_ = 0;   // That answered last.
    std::uint32_t definitions_ = 0;  // Sync statements that may have changed names.
    bool timing_ = false;
    bool leaving_ = false;
};

// To be taken by Interrupts beside SIGINT.
[[nodiscard]] std::initializer_list<int> prompt_signals();

}  // namespace shortq::cli
