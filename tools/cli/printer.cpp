#include "tools/cli/printer.h"

#include <unistd.h>

#include "tools/cli/pager.h"
#include "tools/cli/terminal.h"

namespace shortq::cli {
namespace {

constexpr std::size_t kLinesAround = 4;     // Header, rule, count, and the prompt that follows.
constexpr std::size_t kRowsShownMax = 200;  // On a terminal without a pager.

}  // namespace

void Printer::print(const Table& table) {
    if (print_in_pager(table)) return;
    Screen screen;
    if (place_ != Place::kPipe) {
        screen = {terminal_size(STDOUT_FILENO).columns, kRowsShownMax};
    }
    printing_ = true;
    make_writer(format_, screen)->write(table, out_);
    out_.flush();
    printing_ = false;
}

void Printer::begin(const Schema& schema) {
    printing_ = true;
    writer_ = make_writer(format_);
    writer_->begin(schema, out_);
}

void Printer::rows(const Table& part) {
    writer_->rows(part, out_);
    if (shares_screen()) out_.flush();
}

void Printer::end() {
    writer_->end(out_);
    writer_.reset();
    out_.flush();
    printing_ = false;
}

bool Printer::print_in_pager(const Table& table) {
    if (place_ != Place::kPagedTerminal || format_ != Format::kTable) return false;
    const auto size = terminal_size(STDOUT_FILENO);
    if (table.rows() + kLinesAround <= size.lines) return false;
    const auto command = pager_command();
    if (command.empty()) return false;
    out_.flush();
    paging_ = true;
    {
        const auto pager = Pager::start(command);
        if (!pager) {
            paging_ = false;
            return false;
        }
        Output to_pager(pager->descriptor());
        make_writer(format_, {size.columns, 0})->write(table, to_pager);
        to_pager.flush();  // Whoever left the pager early has seen enough.
    }
    paging_ = false;
    return true;
}

}  // namespace shortq::cli
