// Goal: what a client tells the server that it has taken, and what becomes of a reader of rows when
// the connection breaks. Method: as session_test.cpp, with pieces of a megabyte.
#include <gmock/gmock.h>

#include "client/session.h"
#include "tests/client/frames.h"

namespace shortq::detail {
namespace {

using namespace std::chrono_literals;
using test::number_reply;
using test::numbers_in;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint64_t kSession = 11;

class SessionFlowTest : public ::testing::Test {
protected:
    SessionFlowTest() : session_(ConnectOptions{}) {
        session_.start(now_);
        welcome(kSession);
    }

    void welcome(std::uint64_t session) {
        proto::Welcome welcome;
        welcome.session = session;
        welcome.query_bytes_max = 100;
        welcome.pending_max = 10;
        hear(test::frames_of(welcome));
    }

    RequestNumber ask(bool streaming, QueryOptions options = {}) {
        const Parameters none;
        const auto number =
            session_.submit(now_, {proto::Mode::kDeferred, "select 1", &none, &options, streaming});
        collect();
        return number.value();
    }

    // The bytes of its bodies.
    std::uint64_t hear(const test::Frames& frames) {
        session_.receive(now_, frames);
        collect();
        std::uint64_t bytes = 0;
        for (const auto& body : std::span(frames).subspan(1)) bytes += body.bytes.size();
        return bytes;
    }

    std::uint64_t megabyte(const test::ReplyPiece& piece) {
        return hear(number_reply(piece, std::vector<std::int64_t>((1 << 17) + 1, 7)));
    }

    void took(RequestNumber number, std::uint64_t bytes) {
        session_.took(number, bytes);
        collect();
    }

    void collect() {
        for (auto& action : session_.take_actions()) {
            if (auto* send = std::get_if<Send>(&action)) {
                const auto message = proto::decode(send->frames.front().bytes).value();
                if (const auto* credit = std::get_if<proto::Credit>(&message))
                    credits_.push_back(*credit);
                requests_ += std::holds_alternative<proto::Request>(message) ? 1 : 0;
            }
            if (auto* piece = std::get_if<Piece>(&action)) pieces_.push_back(std::move(*piece));
            if (auto* told = std::get_if<Progressed>(&action)) told->tell(told->progress);
            if (auto* answer = std::get_if<Answer>(&action)) answers_.push_back(std::move(*answer));
        }
    }

    [[nodiscard]] std::vector<proto::Credit> credits_of(std::uint64_t id) const {
        std::vector<proto::Credit> found;
        for (const auto& credit : credits_)
            if (credit.id == id) found.push_back(credit);
        return found;
    }

    Time now_{};
    Session session_;
    std::vector<proto::Credit> credits_;
    std::vector<Piece> pieces_;
    std::vector<Answer> answers_;
    int requests_ = 0;
};

TEST_F(SessionFlowTest, WholeResultsAreTakenAsTheyArrive) {
    ask(false);
    const auto first = megabyte({1, 0, 0, false});
    const auto second = megabyte({1, 0, 1, false});
    EXPECT_THAT(credits_of(1), ElementsAre(proto::Credit{1, kSession, 0, first},
                                           proto::Credit{1, kSession, 0, first + second}));
    EXPECT_THAT(credits_of(0), ElementsAre(proto::Credit{0, kSession, 0, first},
                                           proto::Credit{0, kSession, 0, first + second}));
    EXPECT_THAT(pieces_, IsEmpty());
    megabyte({1, 0, 2, true});
    ASSERT_THAT(answers_, SizeIs(1));
    EXPECT_EQ(answers_[0].reply->rows(), 3U * ((1 << 17) + 1));
    EXPECT_THAT(credits_of(1), SizeIs(2)) << "the last piece needs no credit of its own";
    EXPECT_THAT(credits_of(0), SizeIs(3));
}

// Small results cost no message each.
TEST_F(SessionFlowTest, SmallRepliesAreTakenTogether) {
    for (std::uint64_t id = 1; id <= 100; ++id) {
        ask(false);
        hear(number_reply({id, 0, 0, true}, {1, 2, 3}));
    }
    EXPECT_THAT(credits_, IsEmpty());
    EXPECT_THAT(answers_, SizeIs(100));
}

TEST_F(SessionFlowTest, AReaderOfRowsTakesThemWhenItIsDone) {
    const auto number = ask(true);
    const auto bytes = megabyte({1, 0, 0, false});
    EXPECT_THAT(credits_of(1), IsEmpty());
    EXPECT_THAT(credits_of(0), SizeIs(1)) << "the connection has taken it";
    ASSERT_THAT(pieces_, SizeIs(1));
    EXPECT_EQ(pieces_[0].bytes, bytes);
    EXPECT_EQ(pieces_[0].rows.rows(), (1U << 17) + 1);
    took(number, bytes);
    EXPECT_THAT(credits_of(1), ElementsAre(proto::Credit{1, kSession, 0, bytes}));
    hear(number_reply({1, 0, 1, true}, {5}));
    ASSERT_THAT(answers_, SizeIs(1));
    EXPECT_THAT(numbers_in(*answers_[0].reply), ElementsAre(5));
    took(number, bytes);  // Too late to matter.
    EXPECT_THAT(credits_of(1), SizeIs(1));
}

TEST_F(SessionFlowTest, ANewAttemptIsTakenFromNothing) {
    ask(false);
    megabyte({1, 0, 0, false});
    megabyte({1, 0, 1, false});
    const auto again = megabyte({1, 1, 0, false});
    megabyte({1, 0, 2, false});  // Of the dead attempt.
    const auto credits = credits_of(1);
    ASSERT_THAT(credits, SizeIs(3));
    EXPECT_EQ(credits[2], (proto::Credit{1, kSession, 1, again}));
    EXPECT_THAT(credits_of(0), SizeIs(4)) << "it came over the connection all the same";
}

// Rows that were handed out cannot be taken back: a reader learns of the break. One that has none
// yet does not notice.
TEST_F(SessionFlowTest, ABrokenConnectionEndsAResultThatIsBeingRead) {
    ask(true);
    ask(true);
    megabyte({1, 0, 0, false});
    requests_ = 0;
    session_.disconnected(now_);
    collect();
    ASSERT_THAT(answers_, SizeIs(1));
    EXPECT_EQ(answers_[0].number, RequestNumber{1});
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kConnection);
    EXPECT_TRUE(answers_[0].reply.error().retryable);
    EXPECT_THAT(answers_[0].reply.error().message, HasSubstr("in the middle of the result"));
    welcome(kSession + 1);
    EXPECT_EQ(requests_, 1);
    hear(number_reply({2, 0, 0, true}, {4}));
    ASSERT_THAT(answers_, SizeIs(2));
    EXPECT_THAT(numbers_in(*answers_[1].reply), ElementsAre(4));
}

TEST_F(SessionFlowTest, ANewSessionCountsFromNothing) {
    ask(false);
    megabyte({1, 0, 0, false});
    session_.disconnected(now_);
    collect();
    welcome(kSession + 1);
    credits_.clear();
    const auto bytes = megabyte({1, 0, 0, false});
    EXPECT_THAT(credits_, ElementsAre(proto::Credit{0, kSession + 1, 0, bytes},
                                      proto::Credit{1, kSession + 1, 0, bytes}));
}

TEST_F(SessionFlowTest, ProgressIsTold) {
    std::vector<Progress> told;
    QueryOptions options;
    options.progress = [&](const Progress& progress) { told.push_back(progress); };
    ask(false, options);
    ask(false);
    hear(test::frames_of(proto::Progress{.id = 1, .progress_ppm = 250'000}));
    hear(test::frames_of(proto::Progress{.id = 1, .progress_ppm = -1}));
    hear(test::frames_of(proto::Progress{.id = 2, .progress_ppm = 1}));
    hear(test::frames_of(proto::Progress{.id = 3, .progress_ppm = 1}));
    ASSERT_THAT(told, SizeIs(2));
    EXPECT_DOUBLE_EQ(told[0].fraction, 0.25);
    EXPECT_LT(told[1].fraction, 0);
    megabyte({1, 0, 0, false});
    ASSERT_THAT(told, SizeIs(3));
    EXPECT_GT(told[2].bytes, 0U);
    EXPECT_EQ(session_.malformed(), 0U);
}

}  // namespace
}  // namespace shortq::detail
