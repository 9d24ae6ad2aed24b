// Goal: the rules of the client's end of a connection: hello, limits, deadlines, cancel, loss and
// failover. Method: facts and a made-up clock go into the pure machine, its actions are read.
#include "client/session.h"

#include <gmock/gmock.h>

#include "tests/client/frames.h"

namespace shortq::detail {
namespace {

using namespace std::chrono_literals;
using test::error_reply;
using test::number_reply;
using test::numbers_in;
using test::text_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kFirstSession = 11;

class SessionTest : public ::testing::Test {
protected:
    explicit SessionTest(std::vector<std::string> endpoints = {"tcp://a:1"})
        : session_(options(std::move(endpoints))) {
        session_.start(now_);
        collect();
    }

    static ConnectOptions options(std::vector<std::string> endpoints) {
        ConnectOptions made;
        made.endpoints = std::move(endpoints);
        made.connect_timeout = 5s;
        return made;
    }

    void welcome(std::uint64_t session = kFirstSession, std::uint32_t pending_max = 3) {
        proto::Welcome welcome;
        welcome.session = session;
        welcome.workers = 2;
        welcome.query_bytes_max = 100;
        welcome.pending_max = pending_max;
        hear(test::frames_of(welcome));
    }

    void hear(const test::Frames& frames) {
        session_.receive(now_, frames);
        collect();
    }

    void pass(std::chrono::milliseconds time) {  // In steps, as a shell would tick.
        for (const auto end = now_ + time; now_ < end;) {
            now_ = std::min(end, now_ + 50ms);
            session_.tick(now_);
            collect();
        }
    }

    Result<RequestNumber> submit(std::string_view text, proto::Mode mode = proto::Mode::kDeferred,
                                 QueryOptions query = {}, const Parameters& parameters = {}) {
        auto number = session_.submit(now_, {mode, text, &parameters, &query});
        collect();
        return number;
    }

    void collect() {
        for (auto& action : session_.take_actions()) {
            if (auto* open = std::get_if<Open>(&action)) opened_.push_back(open->endpoint);
            if (auto* send = std::get_if<Send>(&action)) sent_.push_back(std::move(send->frames));
            if (auto* answer = std::get_if<Answer>(&action)) answers_.push_back(std::move(*answer));
        }
    }

    // The messages of one kind that were sent since the last call of forget().
    template <class T>
    std::vector<T> sent() const {
        std::vector<T> found;
        for (const auto& frames : sent_) {
            const auto message = proto::decode(frames.front().bytes).value();
            if (const auto* wanted = std::get_if<T>(&message)) found.push_back(*wanted);
        }
        return found;
    }

    void forget() {
        opened_.clear();
        sent_.clear();
        answers_.clear();
    }

    Time now_{1000s};
    Session session_;
    std::vector<std::string> opened_;
    std::vector<Frames> sent_;
    std::vector<Answer> answers_;
};

class FailoverTest : public SessionTest {
protected:
    FailoverTest() : SessionTest({"tcp://a:1", "tcp://b:2"}) {}
};

TEST_F(SessionTest, SaysHelloFirst) {
    EXPECT_THAT(opened_, ElementsAre("tcp://a:1"));
    const auto hellos = sent<proto::Hello>();
    ASSERT_EQ(hellos.size(), 1U);
    EXPECT_EQ(hellos[0].role, proto::Role::kClient);
    EXPECT_THAT(std::string(hellos[0].agent), HasSubstr("libshortq/"));
    EXPECT_EQ(session_.phase(), Session::Session::Phase::kGreeting);
    welcome();
    EXPECT_EQ(session_.phase(), Session::Session::Phase::kOpen);
    EXPECT_EQ(session_.server().workers, 2U);
}

TEST_F(SessionTest, RequestsWaitForTheWelcome) {
    const auto number = submit("select 1").value();
    EXPECT_THAT(sent<proto::Request>(), IsEmpty());
    welcome();
    const auto requests = sent<proto::Request>();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].id, static_cast<std::uint64_t>(number));
    EXPECT_EQ(requests[0].session, kFirstSession);
    EXPECT_EQ(text_of(sent_.back()[1]), "select 1");
}

TEST_F(SessionTest, RequestCarriesItsOptions) {
    welcome();
    QueryOptions query;
    query.timeout = 1500ms;
    query.priority = RequestPriority::kLow;
    query.min_generation = 4;
    ASSERT_TRUE(submit("select ?", proto::Mode::kSync, query, {{"", std::int64_t{7}}}));
    const auto requests = sent<proto::Request>();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].mode, proto::Mode::kSync);
    EXPECT_EQ(requests[0].timeout_ms, 1500U);
    EXPECT_EQ(requests[0].priority, proto::Priority::kLow);
    EXPECT_EQ(requests[0].min_generation, 4U);
    ASSERT_EQ(sent_.back().size(), 3U);
    const auto parameters = proto::decode_parameters(sent_.back()[2].bytes).value();
    EXPECT_THAT(parameters, ElementsAre(Parameter{"", std::int64_t{7}}));
}

TEST_F(SessionTest, ReplyAnswersItsRequestOnce) {
    welcome();
    ASSERT_TRUE(submit("select 1"));
    const auto second = submit("select 2").value();
    const auto id = static_cast<std::uint64_t>(second);
    hear(number_reply({id, 0, 0, false}, {1}));
    EXPECT_THAT(answers_, IsEmpty());
    hear(number_reply({id, 0, 1, true}, {2}));
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].number, second);
    EXPECT_THAT(numbers_in(answers_[0].reply.value()), ElementsAre(1, 2));
    hear(number_reply({id, 0, 0, true}, {3}));
    EXPECT_EQ(answers_.size(), 1U) << "a second reply has nobody to go to";
}

TEST_F(SessionTest, ErrorsArePassedOnWhole) {
    welcome();
    const auto id = static_cast<std::uint64_t>(submit("selec").value());
    hear(error_reply(id, ErrorCode::kQueryError, "Parser Error: ...", "worker 2"));
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error(),
              (Error{ErrorCode::kQueryError, "Parser Error: ...", "worker 2", false}));
}

TEST_F(SessionTest, GapInTheReplyIsAnErrorAndCancelsTheRest) {
    welcome();
    const auto id = static_cast<std::uint64_t>(submit("select 1").value());
    hear(number_reply({id, 0, 1, true}, {1}));
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kInternal);
    ASSERT_EQ(sent<proto::Cancel>().size(), 1U);
    EXPECT_EQ(sent<proto::Cancel>()[0].id, id);
}

TEST_F(SessionTest, LimitsOfTheWelcomeAreCheckedBeforeSending) {
    welcome();
    EXPECT_TRUE(submit(std::string(100, 'x')));
    const auto too_large = submit(std::string(101, 'x'));
    EXPECT_EQ(too_large.error().code, ErrorCode::kTooLarge);
    EXPECT_THAT(too_large.error().message, HasSubstr("at most 100"));
    const auto parameters = submit("p", proto::Mode::kDeferred, {}, {{"", std::string(100, 'x')}});
    EXPECT_EQ(parameters.error().code, ErrorCode::kTooLarge);
    const auto together =
        submit(std::string(60, 'x'), proto::Mode::kDeferred, {}, {{"", std::string(60, 'y')}});
    EXPECT_EQ(together.error().code, ErrorCode::kTooLarge) << "each alone would do";
    EXPECT_THAT(parameters.error().message, HasSubstr("at most 100 (--max-query-bytes)"));
    EXPECT_TRUE(submit("two"));
    EXPECT_TRUE(submit("three"));
    EXPECT_EQ(submit("four").error().code, ErrorCode::kOverloaded);
    EXPECT_EQ(sent<proto::Request>().size(), 3U);
    QueryOptions negative;
    negative.timeout = -1ms;
    EXPECT_EQ(submit("x", proto::Mode::kDeferred, negative).error().code, ErrorCode::kBadRequest);
}

TEST_F(SessionTest, HeartbeatsGoOutEverySecond) {
    welcome();
    for (int second = 0; second < 5; ++second) {
        pass(1000ms);
        hear(test::frames_of(proto::Ping{}));
    }
    const auto heartbeats = sent<proto::Heartbeat>();
    ASSERT_EQ(heartbeats.size(), 5U);
    EXPECT_EQ(heartbeats[0].session, kFirstSession);
    EXPECT_EQ(opened_.size(), 1U);
}

// Case 32: the primary restarted. Deferred requests go again, under their ids; sync ones may have
// run and end.
TEST_F(SessionTest, UnknownSessionMeansHelloAgain) {
    welcome();
    const auto deferred = submit("select 1").value();
    const auto sync = submit("set variable x = 1", proto::Mode::kSync).value();
    hear(number_reply({static_cast<std::uint64_t>(deferred), 0, 0, false}, {1}));
    forget();
    now_ += 1s;
    hear(error_reply(0, ErrorCode::kUnknownSession, "who are you?"));
    EXPECT_THAT(opened_, ElementsAre("tcp://a:1"));
    EXPECT_EQ(sent<proto::Hello>().size(), 1U);
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].number, sync);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kConnection);
    EXPECT_EQ(answers_[0].reply.error().message,
              "the connection to tcp://a:1 broke while a sync request was under way; it may or may "
              "not have run");
    welcome(12);
    const auto requests = sent<proto::Request>();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].id, static_cast<std::uint64_t>(deferred));
    EXPECT_EQ(requests[0].session, 12U);
    hear(number_reply({static_cast<std::uint64_t>(deferred), 0, 0, true}, {5}));
    ASSERT_EQ(answers_.size(), 2U);
    EXPECT_THAT(numbers_in(answers_[1].reply.value()), ElementsAre(5)) << "the old piece is gone";
}

TEST_F(SessionTest, SyncRequestThatWasNotSentIsSentLater) {
    welcome();
    now_ += 1s;
    session_.disconnected(now_);
    collect();
    forget();
    ASSERT_TRUE(submit("select 1", proto::Mode::kSync));
    welcome(12);
    EXPECT_EQ(sent<proto::Request>().size(), 1U);
    EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(SessionTest, ResentRequestCarriesWhatIsLeftOfItsTime) {
    welcome();
    QueryOptions query;
    query.timeout = 10s;
    ASSERT_TRUE(submit("select 1", proto::Mode::kDeferred, query));
    now_ += 4s;
    session_.disconnected(now_);
    collect();
    forget();
    welcome(12);
    ASSERT_EQ(sent<proto::Request>().size(), 1U);
    EXPECT_EQ(sent<proto::Request>()[0].timeout_ms, 6000U);
}

// Case 31: a primary that is paused for ten seconds comes back with all it holds.
TEST_F(SessionTest, PausedServerKeepsItsOnlyClient) {
    welcome();
    ASSERT_TRUE(submit("select 1", proto::Mode::kSync));
    pass(10s);
    hear(test::frames_of(proto::Heartbeat{}));
    EXPECT_THAT(answers_, IsEmpty());
    EXPECT_EQ(opened_.size(), 1U);
    pass(15s);
    EXPECT_EQ(opened_.size(), 2U) << "silent for good";
    EXPECT_EQ(sent<proto::Goodbye>().size(), 1U);
    EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(FailoverTest, SilentServerIsLeftForTheNext) {
    welcome();
    ASSERT_TRUE(submit("select 1"));
    forget();
    pass(2900ms);
    EXPECT_THAT(opened_, IsEmpty());
    pass(200ms);
    EXPECT_THAT(opened_, ElementsAre("tcp://a:1"));
    pass(1000ms);
    EXPECT_THAT(opened_, ElementsAre("tcp://a:1", "tcp://b:2"));
    welcome(12);
    EXPECT_EQ(session_.server().endpoint, "tcp://b:2");
    EXPECT_EQ(sent<proto::Request>().size(), 1U);
}

TEST_F(FailoverTest, RefusedConnectionMovesOnAtOnce) {
    session_.refused(now_);
    pass(100ms);
    EXPECT_THAT(opened_, ElementsAre("tcp://a:1", "tcp://b:2"));
}

// Goal: who hangs up on every greeting is given up, well before the time to connect is over.
// Method: three times in a row, which a server that is being restarted does not do; the words say
// why.
TEST_F(SessionTest, HangingUpAgainAndAgainIsTheEnd) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(session_.phase(), Session::Phase::kGreeting);
        session_.handshake_failed(now_, false);
    }
    EXPECT_EQ(session_.phase(), Session::Phase::kFailed);
    EXPECT_EQ(session_.connect_error().code, ErrorCode::kConnection);
    EXPECT_THAT(session_.connect_error().message, HasSubstr("hangs up at once"));
}

// Goal: one endpoint that hangs up does not end the search for another. Method: three each.
TEST_F(FailoverTest, HangingUpIsCountedForAllEndpoints) {
    for (int i = 0; i < 6; ++i) {
        EXPECT_EQ(session_.phase(), Session::Phase::kGreeting) << i;
        session_.handshake_failed(now_, false);
    }
    EXPECT_EQ(session_.phase(), Session::Phase::kFailed);
}

TEST_F(SessionTest, LostForLongEndsTheRequests) {
    welcome();
    ASSERT_TRUE(submit("select 1"));
    session_.disconnected(now_);
    collect();
    pass(29s);
    EXPECT_THAT(answers_, IsEmpty());
    pass(8s);
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kConnection);
    EXPECT_GT(opened_.size(), 4U) << "it went on trying";
}

TEST_F(SessionTest, CancelGoesToTheServerAndTheReplyStillCounts) {
    welcome();
    const auto number = submit("select 1").value();
    session_.cancel(number);
    session_.cancel(RequestNumber{99});
    collect();
    ASSERT_EQ(sent<proto::Cancel>().size(), 1U);
    EXPECT_EQ(sent<proto::Cancel>()[0].session, kFirstSession);
    EXPECT_THAT(answers_, IsEmpty());
    hear(error_reply(static_cast<std::uint64_t>(number), ErrorCode::kCancelled, "cancelled"));
    EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(SessionTest, CancelWithoutConnectionAnswersItself) {
    const auto number = submit("select 1").value();
    session_.cancel(number);
    collect();
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kCancelled);
    welcome();
    EXPECT_THAT(sent<proto::Request>(), IsEmpty());
}

TEST_F(SessionTest, DeadlineEndsARequestThatNobodyAnswers) {
    welcome();
    QueryOptions query;
    query.timeout = 500ms;
    ASSERT_TRUE(submit("select 1", proto::Mode::kDeferred, query));
    pass(2400ms);
    EXPECT_THAT(answers_, IsEmpty()) << "the server's own answer gets some time to arrive";
    pass(200ms);
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kTimeout);
    EXPECT_THAT(answers_[0].reply.error().message, HasSubstr("0.5 s"));
    EXPECT_EQ(sent<proto::Cancel>().size(), 1U);
}

TEST_F(SessionTest, RefusalIsForGood) {
    ASSERT_TRUE(submit("select 1"));
    hear(error_reply(0, ErrorCode::kBadRequest, "this server speaks version 9"));
    EXPECT_EQ(session_.phase(), Session::Session::Phase::kFailed);
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().message, "this server speaks version 9");
    EXPECT_EQ(submit("select 2").error().message, "this server speaks version 9");
    pass(60s);
    EXPECT_EQ(opened_.size(), 1U);
}

// Texts that a server would refuse, or that would not fit the header, end here with a clear error.
TEST(SessionNamesTest, UserThatCannotBeSentIsRefused) {
    for (const auto& [user, message] :
         {std::pair{std::string(300, 'x'), "the user's name has more than 128 bytes"},
          std::pair{std::string("\xff"), "the user's name is not UTF-8"}}) {
        ConnectOptions options;
        options.user = user;
        Session session(options, 1);
        session.start(Time{});
        EXPECT_EQ(session.phase(), Session::Session::Phase::kFailed);
        EXPECT_EQ(session.connect_error().code, ErrorCode::kBadRequest);
        EXPECT_EQ(session.connect_error().message, message);
    }
}

// The cut at the limit falls into a two-byte character: the whole character goes.
TEST_F(SessionTest, LongAgentIsCutBetweenCharacters) {
    ConnectOptions options;
    options.agent = std::string(proto::kAgentBytesMax - 1, 'a') + "\xc3\xa9";
    Session session(options, 1);
    session.start(Time{});
    EXPECT_EQ(session.phase(), Session::Session::Phase::kGreeting);
}

TEST_F(SessionTest, ServiceThatIsNotUtf8IsRefusedHere) {
    QueryOptions query;
    query.service = "\xff";
    EXPECT_EQ(submit("select 1", proto::Mode::kDeferred, query).error().code,
              ErrorCode::kBadRequest);
}

TEST_F(SessionTest, ServerThatDrainsIsTriedAgain) {
    hear(error_reply(0, ErrorCode::kUnavailable, "shutting down"));
    EXPECT_EQ(session_.phase(), Session::Session::Phase::kGreeting);
    EXPECT_EQ(session_.connect_error().code, ErrorCode::kUnavailable);
    pass(200ms);
    EXPECT_EQ(opened_.size(), 2U);
}

TEST_F(SessionTest, SilenceSaysHowToStartAServer) {
    pass(5s);
    EXPECT_EQ(session_.connect_error().message,
              "cannot connect to tcp://a:1: no shortq answered within 5 s; is it running? (start "
              "one with: shortq -p 1 2 startup.sql)");
}

TEST(SessionReadyTest, WaitsUntilThereAreWorkers) {
    ConnectOptions options;
    options.wait_until_ready = true;
    Session session(options);
    Time now{1000s};
    session.start(now);
    proto::Welcome welcome;
    welcome.session = 5;
    session.receive(now, test::frames_of(welcome));
    EXPECT_EQ(session.phase(), Session::Session::Phase::kGreeting);
    EXPECT_THAT(session.connect_error().message, HasSubstr("no worker was ready"));
    now += 200ms;
    session.tick(now);
    welcome.workers = 1;
    session.receive(now, test::frames_of(welcome));
    EXPECT_EQ(session.phase(), Session::Session::Phase::kOpen);
}

TEST_F(SessionTest, GarbageIsCountedAndDropped) {
    welcome();
    ASSERT_TRUE(submit("select 1"));
    hear({});
    hear({test::own_text("")});
    hear({test::own_text("garbage"), test::own_text("more")});
    hear(test::frames_of(proto::Request{}, {test::own_text("servers do not ask")}));
    proto::Welcome second;
    second.session = 77;
    hear(test::frames_of(second));
    EXPECT_EQ(session_.malformed(), 3U);
    EXPECT_EQ(session_.phase(), Session::Session::Phase::kOpen);
    EXPECT_THAT(answers_, IsEmpty());
}

TEST_F(SessionTest, StopSaysGoodbyeAndAnswersEverything) {
    welcome();
    ASSERT_TRUE(submit("select 1"));
    session_.stop();
    collect();
    EXPECT_EQ(sent<proto::Goodbye>().size(), 1U);
    ASSERT_EQ(answers_.size(), 1U);
    EXPECT_EQ(answers_[0].reply.error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace shortq::detail
