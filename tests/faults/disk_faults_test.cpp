// tests/faults/disk_faults_test.cpp: queries that spill, and no room to spill to.
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>

#include "tests/faults/faults.h"
#include "tests/faults/shim.h"

namespace shortq::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

class DiskFaultsTest : public Faults {
protected:
    static constexpr auto kSmallMemory = "64M";
    // Sorts much more than fits into a worker's memory.
    static std::string sort() {
        return "select sum(n) from (select row_number() over (order by hash(i), i) as n, i from "
               "range(2500000) t(i))";
    }
    // Sorting fails with the engine's text, as often as it is tried; meanwhile everybody else is
    // served, and the workers are there.
    static void expect_only_spilling_fails(const Server& server, Seed& seed,
                                           const ::testing::Matcher<std::string>& says) {
        auto client = server.connect();
        ASSERT_TRUE(wait_until_ready(client, 2));
        Ledger ledger(server.endpoint(), seed,
                      {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kSync}}});
        for (int round = 0; round < 3; ++round) {
            auto first = client.submit(sort());
            auto second = client.submit(sort());
            for (auto* one : {&first, &second}) {
                const auto reply = reply_of(*one);
                ASSERT_FALSE(reply) << "the disk is not full";
                EXPECT_EQ(reply.error().code, ErrorCode::kQueryError) << summary(reply);
                EXPECT_THAT(reply.error().message, says);
            }
        }
        ledger.wait_for(5);
        expect_kept(ledger.finish(), {});
        expect_all_back(client, 2);
        expect_at_rest(client);
        EXPECT_EQ(cell(client.deferred("select sum(n) from (select row_number() over (order by "
                                       "hash(i)) as n from range(1000) t(i))")),
                  "500500");
    }
    // A small disk at `folder`, that goes with this process. False: it is not permitted here.
    [[nodiscard]] static bool mount_small_disk(const std::string& folder) {
        const auto user = ::getuid();
        if (::unshare(CLONE_NEWNS) != 0) {
            if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
            std::ofstream("/proc/self/uid_map") << "0 " << user << " 1\n";
        }
        if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
        return ::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=16m") == 0;
    }
    [[nodiscard]] std::string make_folder(const std::string& name) const {
        const auto folder = folder_.path() / name;
        std::filesystem::create_directory(folder);
        return folder.string();
    }
};

// Goal: a disk that fills up fails the queries that need it, with the engine's words. Method: a
// small disk for TMPDIR, filled by somebody else once the server runs. Where no disk can be
// mounted, the shim has its writes fail.
TEST_F(DiskFaultsTest, AFullDiskFailsWhatSpillsAndNothingElse) {
    Seed seed;
    const auto folder = make_folder("disk");
    const bool forced = std::getenv("SHORTQ_TEST_NO_MOUNT") != nullptr;
    const bool mounted = !forced && mount_small_disk(folder);
    const Environment plain{{"TMPDIR", folder}};
    auto shimmed = with_shim({{"SHORTQ_SHIM_DISK", folder},
                              {"SHORTQ_SHIM_SIZE", "1000000000"},
                              {"SHORTQ_SHIM_FREE", "1000000000"},
                              {"SHORTQ_SHIM_ROOM", "100000"}});
    shimmed["TMPDIR"] = folder;
    const Server server(duckdb(2, "", {"--memory-limit", kSmallMemory}), 0,
                        mounted ? plain : shimmed);
    if (mounted) {
        std::ofstream other(folder + "/somebody-elses", std::ios::binary);
        const std::string block(1 << 20, 'x');
        while (other.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
        }
    }
    // A worker that begins on the full disk has a limit that may stop it first.
    expect_only_spilling_fails(
        server, seed,
        AnyOf(HasSubstr("No space left on device"), HasSubstr("max_temp_directory_size")));
}

// Goal: a small disk is shared out, not filled up. Method: the disk has little room from the start;
// the error is the limit's, and names it.
TEST_F(DiskFaultsTest, ASmallDiskIsNotFilled) {
    Seed seed;
    const auto folder = make_folder("small");
    auto environment = with_shim({{"SHORTQ_SHIM_DISK", folder},
                                  {"SHORTQ_SHIM_SIZE", "4000000"},
                                  {"SHORTQ_SHIM_FREE", "4000000"},
                                  {"SHORTQ_SHIM_ROOM", "1000000000"}});
    environment["TMPDIR"] = folder;
    const Server server(duckdb(2, "", {"--memory-limit", kSmallMemory}), 0, environment);
    expect_only_spilling_fails(server, seed, HasSubstr("max_temp_directory_size"));
}

// Goal: workers that begin while the disk is full spill once it is not. Method: no room when they
// are started, room when they sort.
TEST_F(DiskFaultsTest, WhoBeginsOnAFullDiskSpillsLater) {
    const auto folder = make_folder("full-once");
    auto environment = with_shim({{"SHORTQ_SHIM_DISK", folder},
                                  {"SHORTQ_SHIM_SIZE", "10000000000"},
                                  {"SHORTQ_SHIM_FREE", "0"},
                                  {"SHORTQ_SHIM_ROOM", "10000000000"}});
    environment["TMPDIR"] = folder;
    const Server server(duckdb(2, "", {"--memory-limit", kSmallMemory}), 0, environment);
    EXPECT_EQ(cell(server.connect().deferred(sort())), "3125001250000");
}

// Goal: a limit of the system on the size of files is an error, not the end of the process. Method:
// RLIMIT_FSIZE for the whole family from the start, as ulimit -f sets it.
TEST_F(DiskFaultsTest, ALimitOnFilesFailsWhatSpillsAndKillsNobody) {
    Seed seed;
    constexpr rlimit kLimit{1 << 20, 1 << 20};
    const Server server(duckdb(2, "", {"--memory-limit", kSmallMemory}));
    for (const auto& process : server.family())
        ASSERT_EQ(::prlimit(process.pid, RLIMIT_FSIZE, &kLimit, nullptr), 0);
    const auto workers = server.workers();
    expect_only_spilling_fails(server, seed, HasSubstr("File too large"));
    EXPECT_THAT(server.log(), ::testing::Not(HasSubstr("XFSZ")));
}

// Goal: whoever tidies up /tmp does not stop the service. Method: the folders for spilling and for
// the workers' socket vanish with all that is in them; the workers that are connected serve on, the
// next ones find their way and spill; and nothing is left behind.
TEST_F(DiskFaultsTest, VanishedTemporaryFoldersAreMadeAgain) {
    const auto folder = make_folder("tidied");
    {
        const Server server(duckdb(1, "", {"--memory-limit", "32M"}), 0,
                            {{"TMPDIR", folder}, {"XDG_RUNTIME_DIR", folder}});
        auto client = server.connect();
        for (int round = 0; round < 2; ++round) {
            ASSERT_FALSE(std::filesystem::is_empty(folder));
            // Somebody may be writing to it: a worker that has spilled is being replaced.
            ASSERT_TRUE(wait_until([&] {
                std::error_code ignored;
                for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
                    std::filesystem::remove_all(entry.path(), ignored);
                return std::filesystem::is_empty(folder);
            }));
            EXPECT_EQ(cell(client.deferred("select 42")), "42");
            replace(server, client, server.workers().at(0));
            EXPECT_EQ(cell(client.deferred(sort())), "3125001250000");
        }
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

}  // namespace
}  // namespace shortq::test
