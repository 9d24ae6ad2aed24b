// tests/fuzz/process_targets.cpp: what processes read from each other and from the system: the
// channel of fork servers, the board, control groups.
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "primary/cgroup.h"
#include "proto/fork.h"
#include "tests/fuzz/frames.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/temporary_folder.h"
#include "worker/board_mapping.h"
#include "worker/engine/fork_channel.h"

namespace shortq::fuzz {
namespace {

// ---- channel: packets as they come, with a descriptor that nobody asked for.

void send_packet(const ForkChannel& channel, Input packet) {
    SHORTQ_FUZZ_CHECK(::send(channel.fd(), packet.data(), packet.size(), MSG_NOSIGNAL) ==
                      static_cast<ssize_t>(packet.size()));
}

void run_channel(Input input) {
    auto ends = ForkChannel::make();
    SHORTQ_FUZZ_CHECK(ends.has_value());
    auto& [primary, server] = *ends;
    Taker taker(input);
    for (const auto packet : taker.frames()) {
        if (packet.empty()) continue;  // An empty packet is the end of a channel.
        send_packet(primary, packet);
        const auto order = server.receive_order();
        SHORTQ_FUZZ_CHECK(order.has_value() == proto::decode_fork_order(packet).has_value());
        send_packet(server, packet);
        const auto report = primary.receive_report();
        SHORTQ_FUZZ_CHECK(report.has_value() == proto::decode_fork_report(packet).has_value());
        SHORTQ_FUZZ_CHECK(!report || report->has_value());
    }
    const auto nothing = primary.receive_report();
    SHORTQ_FUZZ_CHECK(nothing && !nothing->has_value());
    server.close();
    SHORTQ_FUZZ_CHECK(!primary.receive_report());
}

std::vector<std::string> channel_seeds() {
    std::string all;
    for (const auto& packet : fork_seeds()) append_frame(all, packet);
    return {all};
}

// ---- board

void run_board(Input input) {
    Taker taker(input);
    const auto size = static_cast<off_t>(taker.number(2));
    UniqueFd file(::memfd_create("board", MFD_CLOEXEC));
    const auto bytes = taker.rest();
    SHORTQ_FUZZ_CHECK(::write(file.get(), bytes.data(), bytes.size()) ==
                      static_cast<ssize_t>(bytes.size()));
    SHORTQ_FUZZ_CHECK(::ftruncate(file.get(), size) == 0);
    auto board = worker::BoardMapping::open(std::move(file));
    if (!board) {
        SHORTQ_FUZZ_CHECK(board.error().code == ErrorCode::kBadRequest);
        return;
    }
    SHORTQ_FUZZ_CHECK(board->token().size() == proto::kTokenBytes);
    static_cast<void>(board->primary_pid());
    board->set_running(7);
}

std::vector<std::string> board_seeds() {
    const std::string magic("BWQS", 4);
    return {std::string("\0\x10", 2) + magic + std::string("\1\2\0\0", 4) + std::string(32, 't'),
            std::string("\0\x10", 2) + "none", std::string("\4\0", 2) + magic};
}

// ---- cgroup: the files of a machine, in a folder

void run_cgroup(Input input) {
    static const test::TemporaryFolder kRoot;
    static const bool kMade = [] {
        std::filesystem::create_directories(kRoot.path() / "proc/self");
        return std::filesystem::create_directories(kRoot.path() / "m/a");
    }();
    SHORTQ_FUZZ_CHECK(kMade);
    Taker taker(input);
    kRoot.write("proc/self/mountinfo", taker.text());
    kRoot.write("proc/self/cgroup", taker.text());
    kRoot.write("m/memory.max", taker.text());
    kRoot.write("m/a/memory.max", taker.text());
    kRoot.write("m/memory.limit_in_bytes", taker.text());
    kRoot.write("m/memory.stat", taker.text());
    const auto bytes = primary::cgroup_memory_bytes(kRoot.path());
    SHORTQ_FUZZ_CHECK(!bytes || *bytes < std::uint64_t{1} << 62);
}

std::vector<std::string> cgroup_seeds() {
    std::string two;
    for (const char* text : {"36 35 0:33 / /m rw,noatime shared:9 - cgroup2 cgroup2 rw\n",
                             "0::/a\n", "max\n", "1073741824\n", "", ""})
        append_frame(two, std::string_view(text));
    std::string one;
    for (const char* text : {"36 35 0:33 /docker/x /m\\040m rw - cgroup cgroup rw,memory\n"
                             "37 35 0:34 / /m rw - cgroup cgroup rw,cpu,memory\n",
                             "4:cpu,memory:/a/b\n3:pids:/\n", "", "", "536870912\n",
                             "cache 1\nhierarchical_memory_limit 268435456\n"})
        append_frame(one, std::string_view(text));
    return {two, one};
}

}  // namespace

std::vector<Target> process_targets() {
    return {
        {"channel", "packets between primary and fork server", 512, run_channel, channel_seeds},
        {"board", "the page that primary and worker share", 128, run_board, board_seeds},
        {"cgroup", "the memory limits of control groups", 512, run_cgroup, cgroup_seeds},
    };
}

}  // namespace shortq::fuzz
