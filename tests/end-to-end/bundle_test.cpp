// Goal: what travels together is answered one by one. Method: real programs, one client with as
// much under way as fills bundles in each direction.
#include <algorithm>
#include <csignal>
#include <map>

#include "tests/end-to-end/fixture.h"

namespace shortq::test {
namespace {

class BundleTest : public EndToEnd {
protected:
    // Distinct texts, now and then one that takes some milliseconds or fails.
    struct Question {
        std::string text;
        std::string answer;  // As cell() tells it.
    };
    static Question question(std::size_t number) {
        const auto name = std::to_string(number);
        if (number % 61 == 0) return {"sleep 5 " + name, "5"};
        if (number % 67 == 0) return {"fail " + name, "query_error: " + name};
        return {"echo " + name, name};
    }
};

// Goal: each request is answered once, with its own answer, whatever becomes of a worker. Method:
// 200 are under way for a second, and one of the workers is killed in the middle.
TEST_F(BundleTest, EachOfManyRequestsGetsItsOwnAnswer) {
    constexpr std::size_t kUnderWay = 200;
    constexpr std::size_t kAtLeast = 2000;
    const Server server(test_engine(2));
    ASSERT_TRUE(server.wait_for_workers(2));
    const auto workers = server.workers();
    auto client = server.connect();
    std::map<std::uint64_t, std::string> open;
    std::size_t asked = 0;
    std::size_t answered = 0;
    bool killed = false;
    const auto start = Clock::now();
    const auto ask = [&] {
        const auto next = question(++asked);
        const auto number = client.async(next.text).value();
        ASSERT_TRUE(open.emplace(static_cast<std::uint64_t>(number), next.answer).second);
    };
    while (asked < kUnderWay) ask();
    while (!open.empty()) {
        const auto arrived = client.wait_for(kPatience);
        ASSERT_TRUE(arrived) << arrived.error().message << ", " << answered << " were answered";
        const auto found = open.find(static_cast<std::uint64_t>(arrived->number));
        ASSERT_NE(found, open.end()) << "answered twice";
        ASSERT_EQ(cell(arrived->reply), found->second);
        open.erase(found);
        ++answered;
        if (!killed && answered >= kAtLeast / 2) {
            ASSERT_EQ(::kill(workers.front(), SIGKILL), 0);
            killed = true;
        }
        if (asked < kAtLeast || since(start) < milliseconds(1000)) ask();
    }
    EXPECT_TRUE(killed);
    EXPECT_EQ(answered, asked);
    EXPECT_EQ(client.wait().error().code, ErrorCode::kNotFound);
    EXPECT_TRUE(server.wait_for_workers(2));
    EXPECT_EQ(stat(client, "requests_queued") + stat(client, "requests_abandoned"), 0);
}

}  // namespace
}  // namespace shortq::test
