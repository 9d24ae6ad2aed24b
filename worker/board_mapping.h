// worker/board_mapping.h: the worker's side of the page it shares with the primary.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "proto/board.h"
#include "proto/error.h"
#include "worker/engine/unique_fd.h"

namespace shortq::worker {

// Threads: any, after open().
class BoardMapping {
public:
    // Maps the inherited descriptor, and closes it. Errors: kBadRequest if it is not a board.
    [[nodiscard]] static Result<BoardMapping> open(UniqueFd fd);

    [[nodiscard]] std::string_view token() const noexcept;
    [[nodiscard]] std::int64_t primary_pid() const noexcept { return board_->primary_pid; }

    // What the primary is to find there should this process die now. 0: nothing.
    void set_running(std::uint64_t request) noexcept { board_->running.store(request); }

private:
    struct Unmap {
        void operator()(proto::Board* board) const noexcept;
    };
    explicit BoardMapping(proto::Board* board) : board_(board) {}
    std::unique_ptr<proto::Board, Unmap> board_;
};

}  // namespace shortq::worker
