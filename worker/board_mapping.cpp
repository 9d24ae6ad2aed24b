#include "worker/board_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace shortq::worker {

void BoardMapping::Unmap::operator()(proto::Board* board) const noexcept {
    ::munmap(board, sizeof(proto::Board));
}

Result<BoardMapping> BoardMapping::open(UniqueFd fd) {
    const auto bad = [] {
        return fail(ErrorCode::kBadRequest, "the descriptor is not a board", "--board-fd");
    };
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) return bad();
    // A shorter file would fault on access, which no check could catch later.
    if (status.st_size < static_cast<off_t>(sizeof(proto::Board))) return bad();
    void* page =
        ::mmap(nullptr, sizeof(proto::Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (page == MAP_FAILED) return bad();
    BoardMapping mapping(static_cast<proto::Board*>(page));
    if (mapping.board_->magic != proto::kBoardMagic) return bad();
    return mapping;
}

std::string_view BoardMapping::token() const noexcept {
    return {reinterpret_cast<const char*>(board_->token.data()), board_->token.size()};
}

}  // namespace shortq::worker
