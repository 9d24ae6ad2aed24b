// tests/end-to-end/reload_test.cpp: new data beside the old.
#include <atomic>
#include <map>
#include <optional>
#include <thread>
#include <vector>

#include "tests/end-to-end/processes.h"

namespace shortq::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

class ReloadTest : public Processes {
protected:
    // A process that loads the next generation. Throws if none comes.
    [[nodiscard]] static pid_t newcomer(const Server& server, const std::vector<pid_t>& workers,
                                        const std::vector<pid_t>& fork_servers) {
        pid_t found = -1;
        const bool came = wait_until([&] {
            const auto& known = forks() ? fork_servers : workers;
            for (const pid_t pid : forks() ? server.fork_servers() : server.workers()) {
                if (std::ranges::find(known, pid) == known.end()) found = pid;
            }
            return found > 0;
        });
        if (!came) throw std::runtime_error("nobody loads; log:\n" + server.log());
        return found;
    }
};

// Case 24. Goal: a reload that fails or hangs harms nobody. Method: a script that fails, one that
// ends its process, one that hangs, one whose process is killed as it loads, one that fails or
// hangs in a single worker; who asked is told why, the old generation serves on, and the next good
// one takes over.
TEST_F(ReloadTest, AReloadThatFailsOrHangsLeavesTheOldGeneration) {
    const auto arguments = test_engine(2, {"--load-timeout", "2"});
    const auto script = arguments.back();
    const Server server(arguments);
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    const auto loaders = server.fork_servers();
    const auto reload = [&](std::string_view lines) {
        rewrite("startup.test", lines);
        return summary(client.sync("call shortq_reload()"));
    };
    EXPECT_THAT(reload("load-sleep 1\nload-fail no such table\n"), HasSubstr("no such table"));
    EXPECT_THAT(reload("load-exit 3\n"), HasSubstr("exit status 3"));
    EXPECT_THAT(reload("load-hang\n"), HasSubstr("--load-timeout"));
    rewrite("startup.test", "load-hang\n");
    auto killed = client.submit_sync("call shortq_reload()");
    ASSERT_TRUE(send_signal(newcomer(server, workers, loaders), SIGKILL));
    EXPECT_THAT(summary(reply_of(killed)), HasSubstr("signal 9"));
    EXPECT_THAT(reload("load-fail-seat 2 not on this seat\n"), HasSubstr("not on this seat"));
    EXPECT_THAT(reload("load-sleep-seat 2 600000\n"), HasSubstr("--load-timeout"));
    EXPECT_EQ(cell(client.deferred("echo as ever")), "as ever");
    // The error is told before the last one's workers have gone.
    EXPECT_TRUE(wait_until(
        [&] { return server.workers() == workers && server.fork_servers() == loaders; }));
    EXPECT_EQ(reload(""), "ok") << script;
    const auto table = client.deferred("echo new");
    EXPECT_EQ(cell(table), "new");
    EXPECT_EQ(table->facts().generation, 8U);
    EXPECT_TRUE(wait_until([&] {
        const auto now = server.fork_servers();
        return now.size() == loaders.size() && (now.empty() || now != loaders);
    }));
}

// Goal: who asks for a reload gets what was written before, also while another one loads: that one
// may have read the old data. Method: HUP starts a slow load, which shows that it has begun; then
// the script is rewritten and a reload called, and the script is rewritten and HUP sent.
TEST_F(ReloadTest, AReloadAskedForWhileOneLoadsLoadsAgain) {
    const Server server(test_engine(1));
    auto client = server.connect();
    const auto mark = folder_.path() / "loading";
    const auto slowly = "load-touch " + mark.string() + "\nload-sleep 300\n";
    rewrite("startup.test", slowly);
    server.signal(SIGHUP);
    ASSERT_TRUE(wait_until([&] { return std::filesystem::remove(mark); }));
    rewrite("startup.test", "load-fail new data\n");
    EXPECT_THAT(summary(client.sync("call shortq_reload()")), HasSubstr("new data"));
    EXPECT_EQ(client.deferred("echo x")->facts().generation, 2U);

    rewrite("startup.test", slowly);
    auto called = client.submit_sync("call shortq_reload()");
    ASSERT_TRUE(wait_until([&] { return std::filesystem::remove(mark); }));
    rewrite("startup.test", "");
    server.signal(SIGHUP);
    EXPECT_EQ(reply_of(called)->integer(0, 0).value_or(-1), 4);
    QueryOptions fifth;
    fifth.min_generation = 5;
    EXPECT_EQ(cell(client.deferred("echo newest", {}, fifth)), "newest");
}

// ---- Fifty reloads under load.

constexpr int kTableRows = 5'000;

// A file whose every row says which generation it is of.
std::string data_of(int generation) {
    std::string rows = "v\n";
    for (int i = 0; i < kTableRows; ++i) rows += std::to_string(generation) + '\n';
    return rows;
}

// Clients that ask all the time, each on a thread of its own, until this object goes.
class Askers {
public:
    Askers(const Server& server, int one_at_a_time, int several_at_once) {
        for (int i = 0; i < one_at_a_time; ++i) start(server, 1);
        for (int i = 0; i < several_at_once; ++i) start(server, 12);
    }
    ~Askers() {
        stop_ = true;
        for (auto& thread : threads_) thread.join();
    }
    Askers(const Askers&) = delete;
    Askers& operator=(const Askers&) = delete;

    [[nodiscard]] int answered() const { return answered_; }

private:
    void start(const Server& server, std::size_t at_once) {
        threads_.emplace_back([this, &server, at_once] { ask(server, at_once); });
    }
    void ask(const Server& server, std::size_t at_once) {
        auto client = server.connect();
        // The newest generation that this client had seen when it sent the request.
        std::map<RequestNumber, std::int64_t> under_way;
        std::int64_t newest = 0;
        for (int sent = 0; !stop_ || !under_way.empty();) {
            while (!stop_ && under_way.size() < at_once) {
                const auto number = client.async(query(++sent));
                ASSERT_TRUE(number) << number.error().message;
                under_way.emplace(*number, newest);
            }
            if (under_way.empty()) return;
            const auto arrived = client.wait_for(kPatience);
            ASSERT_TRUE(arrived) << arrived.error().message;
            const auto generation = checked(arrived->reply);
            ASSERT_TRUE(generation);
            ASSERT_GE(*generation, under_way.at(arrived->number)) << "generations went back";
            under_way.erase(arrived->number);
            newest = std::max(newest, *generation);
            ++answered_;
        }
    }
    // Mostly short ones, and such as run while the next generation takes over.
    [[nodiscard]] static std::string query(int number) {
        return "select min(v), max(v), count(*) from t, range(" + std::to_string(times(number)) +
               ")";
    }
    [[nodiscard]] static std::int64_t times(int number) { return number % 8 == 0 ? 4000 : 20; }

    // The generation that a reply is of, entirely.
    [[nodiscard]] static std::optional<std::int64_t> checked(const Result<Table>& table) {
        EXPECT_TRUE(table) << summary(table);
        if (!table) return std::nullopt;
        const auto generation = static_cast<std::int64_t>(table->facts().generation);
        EXPECT_EQ(table->integer(0, 0).value_or(-1), generation);
        EXPECT_EQ(table->integer(0, 1).value_or(-1), generation);
        const auto count = table->integer(0, 2).value_or(-1);
        EXPECT_TRUE(count == kTableRows * times(1) || count == kTableRows * times(8)) << count;
        return generation;
    }

    std::atomic<bool> stop_{false};
    std::atomic<int> answered_{0};
    std::vector<std::thread> threads_;
};

// Looks all the time at how many generations there are, in the primary's view and as processes.
class Watcher {
public:
    explicit Watcher(const Server& server) : thread_([this, &server] { watch(server); }) {}
    ~Watcher() { stop(); }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

    void stop() {
        stop_ = true;
        if (thread_.joinable()) thread_.join();
    }
    // After stop().
    [[nodiscard]] std::int64_t generations_max() const { return generations_max_; }
    [[nodiscard]] std::size_t fork_servers_max() const { return fork_servers_max_; }
    [[nodiscard]] int looks() const { return looks_; }

private:
    void watch(const Server& server) {
        auto client = server.connect();
        constexpr milliseconds kAMoment{1000};
        std::map<pid_t, Clock::time_point> first_seen;
        for (; !stop_; ++looks_) {
            const auto count = client.sync("select count(*) from shortq.generations");
            ASSERT_TRUE(count) << summary(count);
            generations_max_ = std::max(generations_max_, count->integer(0, 0).value_or(99));
            // One that ends takes a moment, and what is being forked right now looks like one.
            const auto now = Clock::now();
            std::map<pid_t, Clock::time_point> seen;
            for (const auto& process : server.family()) {
                if (process.name != "shortq-fork" || process.parent != server.pid()) continue;
                const auto known = first_seen.find(process.pid);
                seen.emplace(process.pid, known == first_seen.end() ? now : known->second);
            }
            first_seen = std::move(seen);
            const auto lasting = static_cast<std::size_t>(std::ranges::count_if(
                first_seen, [&](const auto& one) { return now - one.second > kAMoment; }));
            fork_servers_max_ = std::max(fork_servers_max_, lasting);
        }
    }

    std::atomic<bool> stop_{false};
    std::int64_t generations_max_ = 0;
    std::size_t fork_servers_max_ = 0;
    int looks_ = 0;
    std::thread thread_;
};

// A server whose data is refreshed while clients ask all the time.
class RefreshTest : public Processes {
protected:
    static constexpr std::size_t kWorkers = 3;

    [[nodiscard]] std::vector<std::string> arguments(std::vector<std::string> options = {}) const {
        rewrite("data.csv", data_of(1));
        return duckdb(kWorkers, "create table t as from read_csv('data.csv');", std::move(options));
    }
    // New data, a reload, and some queries. The caller has it from then on.
    void refresh(Client& control, const Askers& askers, int generation) const {
        const int before = askers.answered();
        rewrite("data.csv", data_of(generation));
        const auto called = control.sync("call shortq_reload()");
        ASSERT_TRUE(called) << summary(called);
        EXPECT_EQ(cell(control.deferred("select max(v) from t")), std::to_string(generation));
        ASSERT_TRUE(wait_until([&] { return askers.answered() > before + 24; }));
    }
    // Of the primary and of the process that has loaded, in bytes.
    struct Memory {
        std::uint64_t primary = 0;
        std::uint64_t loaded = 0;
    };
    [[nodiscard]] static Memory memory_of(const Server& server) {
        return {.primary = resident_bytes(server.pid()),
                .loaded = resident_bytes(forks() ? fork_server(server) : server.workers().at(0))};
    }
    // One generation's processes, and no trace of the others.
    static void expect_one_generation(const Server& server, Client& control) {
        const std::size_t fork_servers = forks() ? 1 : 0;
        EXPECT_TRUE(
            wait_until([&] { return server.family().size() == 1 + fork_servers + kWorkers; }));
        EXPECT_THAT(server.fork_servers(), SizeIs(fork_servers));
        EXPECT_TRUE(wait_until([&] { return zombies_of(server.pid()).empty(); }));
        EXPECT_EQ(stat(control, "requests_retried"), 0);
        EXPECT_EQ(stat(control, "requests_failed"), 0);
    }
};

// Case 23. Goal: a reload is seen whole or not at all, and costs nothing that stays. Method: a
// script reads a file that is rewritten by rename before each reload, while clients ask all the
// time, some of them with many requests under way. No request fails; each reply is of one
// generation's data; what is sent after a reply is never answered by an earlier generation than
// that reply was; there are never more than two; and memory stays where it was after some reloads.
TEST_F(RefreshTest, FiftyReloadsUnderLoadAreSeenWholeAndLeaveNothing) {
    const int reloads = forks() ? 50 : 16;
    constexpr int kSettled = 8;  // Caches are warm by then.
    constexpr std::uint64_t kLittle = 4U << 20U;
    const Server server(arguments());
    auto control = server.connect();
    ASSERT_TRUE(wait_until_ready(control, kWorkers));
    const auto files = open_files(server.pid());
    Memory settled;
    {
        Watcher watcher(server);
        const Askers askers(server, 2, 2);
        for (int generation = 2; generation <= 1 + reloads; ++generation) {
            ASSERT_NO_FATAL_FAILURE(refresh(control, askers, generation));
            if (generation == 1 + kSettled) settled = memory_of(server);
        }
        watcher.stop();
        EXPECT_GT(watcher.looks(), reloads);
        EXPECT_EQ(watcher.generations_max(), 2);
        EXPECT_LE(watcher.fork_servers_max(), 2U);
    }
    expect_one_generation(server, control);
    EXPECT_TRUE(wait_until([&] { return open_files(server.pid()) <= files; }))
        << open_files(server.pid()) << " instead of " << files;
    const auto now = memory_of(server);
    if (!kSanitized) {
        EXPECT_LT(now.primary, settled.primary + kLittle);
        EXPECT_LT(now.loaded, settled.loaded + kLittle);
    }
}

// Goal: the same for requests that are given to workers on arrival: those that wait at one that
// leaves are taken back and answered by the next generation. Method: as above, without a window.
TEST_F(RefreshTest, ReloadsAreSeenWholeByRequestsThatWaitAtWorkers) {
    constexpr int kReloads = 6;
    const Server server(arguments({"--window", "0"}));
    auto control = server.connect();
    ASSERT_TRUE(wait_until_ready(control, kWorkers));
    {
        const Askers askers(server, 1, 3);
        for (int generation = 2; generation <= 1 + kReloads; ++generation)
            ASSERT_NO_FATAL_FAILURE(refresh(control, askers, generation));
    }
    expect_one_generation(server, control);
}

}  // namespace
}  // namespace shortq::test
