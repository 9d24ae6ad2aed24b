// tests/faults/clock_faults_test.cpp: the calendar jumps while everything is under way.
#include <fcntl.h>
#include <sys/mman.h>

#include "primary/worker_process.h"
#include "tests/faults/faults.h"
#include "tests/faults/shim.h"

namespace shortq::test {
namespace {

constexpr std::int64_t kHour = 3600;

// The calendar of programs that run with it.
class Calendar {
public:
    explicit Calendar(const TemporaryFolder& folder)
        : file_(folder.write("jump", std::string(sizeof(std::int64_t), '\0'))) {
        const UniqueFd fd(::open(file_.c_str(), O_RDWR | O_CLOEXEC));
        void* page =
            ::mmap(nullptr, sizeof(std::int64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
        if (page == MAP_FAILED) throw std::runtime_error("mmap failed");
        seconds_ = static_cast<std::int64_t*>(page);
    }
    ~Calendar() { ::munmap(seconds_, sizeof(std::int64_t)); }
    Calendar(const Calendar&) = delete;
    Calendar& operator=(const Calendar&) = delete;

    [[nodiscard]] Environment environment() const {
        return with_shim({{"SHORTQ_SHIM_CLOCK", file_}});
    }
    void set(std::int64_t seconds) { *static_cast<volatile std::int64_t*>(seconds_) = seconds; }

private:
    std::string file_;
    std::int64_t* seconds_ = nullptr;
};

class ClockFaultsTest : public Faults {
protected:
    // Of a worker or the primary, in hours ahead of this process.
    [[nodiscard]] static std::int64_t hours_ahead(const Result<Table>& table) {
        if (!table) throw std::runtime_error(summary(table));
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto here = std::chrono::duration_cast<std::chrono::seconds>(now).count();
        const auto there = table->integer(0, 0).value();
        return (there - here + kHour / 2 + 1000 * kHour) / kHour - 1000;
    }
    static constexpr auto kNow = "select epoch(now())::bigint";
};

// Goal: no decision goes by the calendar. Method: primary, workers and a client as a process run on
// a calendar that jumps by hours, to and fro, under load with deadlines; nobody times out, is taken
// for silent, replaced or dropped, waits do not last longer, and no time that is told is absurd.
TEST_F(ClockFaultsTest, JumpsOfTheCalendarDoNotMatter) {
    Seed seed;
    Calendar calendar(folder_);
    const Server server(duckdb(2, "", {"--timeout", "50", "--stall", "50"}), 0,
                        calendar.environment());
    auto client = server.connect();
    ASSERT_TRUE(wait_until_ready(client, 2));
    const auto workers = server.workers();
    Ledger ledger(
        server.endpoint(), seed,
        {.clients = 1, .each = {.asks = {Ask::kShort, Ask::kWork, Ask::kStream, Ask::kSync}}});
    Program asking(FAULTS_CLIENT, {server.endpoint(), "jumping", "1", kSanitized ? "100" : "400"},
                   {}, calendar.environment());
    for (const std::int64_t hours : {1, -1, 24, 0, -24, 1, 0, 1000, -2}) {
        calendar.set(hours * kHour);
        ledger.wait_for(seed.between(5, 40));
        EXPECT_EQ(hours_ahead(client.deferred(kNow)), hours) << "the fault is not there";
        EXPECT_EQ(hours_ahead(client.sync(kNow)), hours) << "the fault is not there";
    }
    expect_kept(ledger.finish(), {});
    const auto outcome = asking.finish();
    EXPECT_EQ(outcome.status, kSucceeded) << outcome.out << outcome.err;
    EXPECT_EQ(server.workers(), workers);
    EXPECT_EQ(cell(client.sync("select sum(restarts) from shortq.workers")), "0");
    EXPECT_EQ(stat(client, "requests_dropped"), 0);
    expect_at_rest(client);
}

// Goal: a deadline comes when it is due, whatever the calendar says. Method: queries without an end
// and with a deadline of a second; the calendar jumps back, or forward, as they run.
TEST_F(ClockFaultsTest, DeadlinesComeOnTimeThroughJumps) {
    Calendar calendar(folder_);
    const Server server(duckdb(2, ""), 0, calendar.environment());
    auto client = server.connect();
    for (const std::int64_t hours : {-5, 5}) {
        const auto start = Clock::now();
        auto endless = client.submit(
            "select count(*) from range(1000000000) a, range(1000000) b where "
            "a.range % 7 = b.range",
            {}, within(milliseconds(1000)));
        ASSERT_TRUE(wait_until_running(client, 1));
        calendar.set(hours * kHour);
        const auto reply = reply_of(endless);
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, ErrorCode::kTimeout);
        EXPECT_GE(since(start), milliseconds(1000));
        EXPECT_LT(since(start), milliseconds(10'000));
    }
    expect_at_rest(client);
}

}  // namespace
}  // namespace shortq::test
