// tests/end-to-end/spill_test.cpp: queries that need more memory than their workers may take.
#include <map>
#include <set>

#include "tests/end-to-end/processes.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::size_t kWorkers = 3;

// 64 MB that the workers share when they are forked.
constexpr const char* kScript =
    "create table base as select hash(range) as a, hash(range, 1) as b from range(4000000);";
constexpr const char* kScan = "select bit_xor(a), bit_xor(b), count(*) from base";
constexpr const char* kUnlimited = "4G";
// Room for the base, in each worker that loads for itself, and for a part of a sort.
constexpr const char* kScarceForked = "160M";
constexpr const char* kScarceAlone = "290M";

// Orders rows of about 130 MB, and gives a checksum that depends on the place of each.
std::string sort(int number) {
    return "select bit_xor(hash(place, v)), count(*), max(place) from (select v, row_number() over "
           "(order by pad, v) as place from (select hash(range, " +
           std::to_string(number) +
           ") as v, md5((range % 1000)::varchar) || repeat('x', 60) as pad from range(1000000)))";
}

// Everything of a result's only row.
std::string row(const Result<Table>& table) {
    if (!table) return summary(table);
    std::string text;
    for (std::size_t column = 0; column < table->columns(); ++column)
        text += table->text(0, column) + '|';
    return text;
}

class SpillTest : public Processes {
protected:
    [[nodiscard]] std::vector<std::string> server_with(const std::string& memory) const {
        return duckdb(kWorkers, kScript, {"--memory-limit", memory, "--threads", "1"});
    }
    // The folders of the spill files that a process has open.
    [[nodiscard]] static std::set<std::filesystem::path> spill_folders(pid_t pid) {
        std::set<std::filesystem::path> found;
        std::error_code ignored;
        const auto folder = "/proc/" + std::to_string(pid) + "/fd";
        for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
            const auto file = std::filesystem::read_symlink(entry.path(), ignored);
            if (file.string().find("/shortq-spill") != std::string::npos)
                found.insert(file.parent_path());
        }
        return found;
    }
    // Every worker reads the whole table, so that it is in its memory.
    [[nodiscard]] static std::set<std::string> scan_everywhere(Client& client) {
        std::set<std::string> results;
        std::set<std::uint32_t> seats;
        EXPECT_TRUE(wait_until([&] {
            std::vector<Submitted> scans;
            for (std::size_t i = 0; i < kWorkers; ++i) scans.push_back(client.submit(kScan));
            for (auto& scan : scans) {
                const auto table = reply_of(scan);
                results.insert(row(table));
                if (table) seats.insert(table->facts().worker);
            }
            return seats.size() == kWorkers;
        }));
        return results;
    }
    [[nodiscard]] static std::uint64_t memory_of_all(const Server& server) {
        std::uint64_t sum = 0;
        for (const auto& process : server.family()) sum += proportional_bytes(process.pid);
        return sum;
    }
    // One sort for each worker, all at once; the folders that they spill into, each its own.
    [[nodiscard]] static std::set<std::filesystem::path> sort_everywhere(
        Client& client, const std::vector<pid_t>& workers,
        const std::vector<std::string>& expected) {
        std::vector<Submitted> sorts;
        for (int number = 1; number <= static_cast<int>(workers.size()); ++number)
            sorts.push_back(client.submit(sort(number)));
        std::map<pid_t, std::set<std::filesystem::path>> folders;
        EXPECT_TRUE(wait_until([&] {
            for (const pid_t worker : workers) {
                const auto own = spill_folders(worker);
                if (!own.empty()) folders[worker].insert(own.begin(), own.end());
            }
            return folders.size() == workers.size();
        })) << folders.size();
        for (std::size_t i = 0; i < sorts.size(); ++i)
            EXPECT_EQ(row(reply_of(sorts[i])), expected.at(i));
        std::set<std::filesystem::path> distinct;
        for (const auto& [worker, own] : folders) {
            EXPECT_THAT(own, SizeIs(1));
            distinct.insert(own.begin(), own.end());
        }
        EXPECT_THAT(distinct, SizeIs(workers.size()));
        return distinct;
    }
    // What each of the sorts gives, without a limit that would make it spill.
    [[nodiscard]] std::vector<std::string> unspilled(int sorts) const {
        const Server server(server_with(kUnlimited));
        auto client = server.connect();
        std::vector<std::string> results;
        for (int number = 1; number <= sorts; ++number)
            results.push_back(row(client.deferred(sort(number))));
        EXPECT_THAT(server.log(), Not(HasSubstr("spilled")));
        return results;
    }
};

// Case 35. Goal: workers that sort more than fits into memory, all at once, do not harm each other
// or the base that they share. Method: one such sort for each worker, twice; the results are those
// of workers with memory enough, every worker spills into a folder of its own, and forked ones are
// replaced: afterwards all together have as much memory as at the start, and the folders are gone.
TEST_F(SpillTest, SortsBeyondMemoryAtOnceAreRightAndLeaveTheBaseShared) {
    constexpr int kSorts = static_cast<int>(kWorkers);
    const auto expected = unspilled(kSorts);
    EXPECT_THAT(std::set<std::string>(expected.begin(), expected.end()), SizeIs(kSorts));
    std::set<std::filesystem::path> all_folders;
    {
        const Server server(server_with(forks() ? kScarceForked : kScarceAlone));
        auto client = server.connect();
        ASSERT_TRUE(wait_until_ready(client, kWorkers));
        const auto base = scan_everywhere(client);
        EXPECT_THAT(base, SizeIs(1));
        const auto memory = memory_of_all(server);
        for (int round = 1; round <= 2; ++round) {
            const auto workers = server.workers();
            const auto folders = sort_everywhere(client, workers, expected);
            all_folders.insert(folders.begin(), folders.end());
            if (forks()) {
                ASSERT_TRUE(wait_for_others(server, workers)) << server.log();
                ASSERT_TRUE(wait_until_ready(client, kWorkers));
                for (const auto& folder : folders)
                    EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
            }
            EXPECT_EQ(scan_everywhere(client), base);
            if (forks()) {
                EXPECT_LT(memory_of_all(server), memory + memory / 4);
            }
        }
        EXPECT_EQ(stat(client, "requests_retried"), 0);
    }
    for (const auto& folder : all_folders) EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
}

}  // namespace
}  // namespace shortq::test
