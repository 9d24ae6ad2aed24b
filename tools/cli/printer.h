// tools/cli/printer.h: prints results where they belong: on the output, or, if they are tables
// longer than the terminal, in a pager.
#pragma once

#include <atomic>
#include <memory>

#include "tools/cli/writer.h"

namespace shortq::cli {

// Threads: one; paging() from any.
class Printer {
public:
    enum class Place : std::uint8_t {
        kPipe,
        kTerminal,       // Tables fit it.
        kPagedTerminal,  // And there is a keyboard for a pager.
    };

    Printer(Format format, Place place, Output& out) : format_(format), place_(place), out_(out) {}

    void print(const Table& table);

    // The same in parts, for formats that need not see the whole.
    [[nodiscard]] bool can_stream() const noexcept { return format_ != Format::kTable; }
    void begin(const Schema& schema);
    void rows(const Table& part);
    void end();

    [[nodiscard]] bool shares_screen() const noexcept { return place_ != Place::kPipe; }

    [[nodiscard]] Format format() const noexcept { return format_; }
    void set_format(Format format) noexcept { format_ = format; }
    // Whether the user is in the pager, whose Ctrl-C it then is.
    [[nodiscard]] bool paging() const noexcept { return paging_; }
    // Whether a result is on its way to the output.
    [[nodiscard]] bool printing() const noexcept { return printing_; }
    [[nodiscard]] Output& out() noexcept { return out_; }

private:
    [[nodiscard]] bool print_in_pager(const Table& table);

    Format format_;
    Place place_;
    Output& out_;
    std::unique_ptr<Writer> writer_;  // Between begin() and end().
    std::atomic<bool> paging_{false};
    std::atomic<bool> printing_{false};
};

}  // namespace shortq::cli
