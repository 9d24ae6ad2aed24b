// Goal: bundles are to the doors what single messages are. Method: a Router on an inproc endpoint,
// and DEALERs played by hand.
#include "primary/wire.h"

#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "primary/worker_door.h"
#include "tests/patience.h"
#include "tests/proto/bundles.h"
#include "tests/temporary_folder.h"

namespace shortq::primary {
namespace {

using test::bundle_body;
using test::bundle_header;
using test::header_text;
using test::Texts;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Dealer {
public:
    Dealer(zmq::context_t& context, const std::string& endpoint, std::string_view name)
        : socket_(context, zmq::socket_type::dealer) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.set(zmq::sockopt::routing_id, std::string(name));
        socket_.set(zmq::sockopt::rcvtimeo,
                    static_cast<int>(std::chrono::milliseconds(test::kPatience).count()));
        socket_.connect(endpoint);
    }

    void send(const Texts& frames) {
        for (const auto& frame : frames) {
            const bool last = &frame == &frames.back();
            socket_.send(zmq::buffer(frame),
                         last ? zmq::send_flags::none : zmq::send_flags::sndmore);
        }
    }
    // One message as it comes; empty: none came.
    Texts receive() {
        Texts frames;
        zmq::message_t frame;
        do {
            if (!socket_.recv(frame)) return {};
            frames.push_back(frame.to_string());
        } while (frame.more());
        return frames;
    }

private:
    zmq::socket_t socket_;
};

// The frames of a message to a peer.
Texts heartbeat(std::uint64_t number) {
    return {header_text(proto::Heartbeat{.session = number}), "body " + std::to_string(number)};
}

class RouterTest : public ::testing::Test {
protected:
    static constexpr const char* kEndpoint = "inproc://router";

    RouterTest() {
        router_.socket().bind(kEndpoint);
        ann_.emplace(context_, kEndpoint, "ann");
        bob_.emplace(context_, kEndpoint, "bob");
        for (auto* peer : {&*ann_, &*bob_}) peer->send({"here"});
        for (int i = 0; i < 2; ++i) EXPECT_THAT(receive(), ElementsAre(::testing::_, "here"));
    }

    // The sender and the frames of the next message, as receive() gives them; empty: none.
    Texts receive() {
        std::vector<zmq::pollitem_t> items{{router_.socket().handle(), 0, ZMQ_POLLIN, 0}};
        for (;;) {
            auto frames = receive_at_once();
            if (!frames.empty() || zmq::poll(items, test::kPatience) == 0) return frames;
        }
    }
    Texts receive_at_once() {
        if (!router_.receive(in_)) return {};
        Texts frames{std::string(in_.sender()), test::text_of(in_.header_bytes())};
        for (const auto& body : in_.bodies) frames.push_back(body.to_string());
        return frames;
    }
    Sent send(std::string_view name, std::uint64_t number, Bundling bundling,
              std::optional<std::string> text = std::nullopt) {
        std::array<zmq::message_t, 1> bodies{
            frame_of(text.value_or("body " + std::to_string(number)))};
        return router_.send(name, proto::Heartbeat{.session = number}, bodies, bundling);
    }
    std::vector<std::string> flush() {
        std::vector<std::string> gone;
        router_.flush([&](const std::string& name) { gone.push_back(name); });
        return gone;
    }

    zmq::context_t context_;
    Router router_{context_};
    Incoming in_;
    std::optional<Dealer> ann_;
    std::optional<Dealer> bob_;
};

// A single one goes as it is, at the latest with flush(); two go together, by peer.
TEST_F(RouterTest, OneGoesAsItIsAndTwoGoTogether) {
    EXPECT_TRUE(router_.flushed());
    for (int round = 0; round < 2; ++round) {  // The second one reuses what the first left.
        EXPECT_EQ(send("ann", 1, Bundling::kYes), Sent::kYes);
        EXPECT_EQ(send("bob", 2, Bundling::kYes), Sent::kYes);
        EXPECT_EQ(send("ann", 3, Bundling::kYes), Sent::kYes);
        EXPECT_FALSE(router_.flushed());
        EXPECT_THAT(flush(), IsEmpty());
        EXPECT_TRUE(router_.flushed());
        EXPECT_EQ(bob_->receive(), heartbeat(2));
        EXPECT_THAT(ann_->receive(),
                    ElementsAre(bundle_header(), bundle_body({heartbeat(1), heartbeat(3)})));
    }
}

// Goal: a peer gets its messages in the order in which they were sent. Method: bundled ones, single
// ones and large ones by turns, more than one bundle holds.
TEST_F(RouterTest, OrderIsKept) {
    constexpr std::uint64_t kCount = 2000;
    const std::string large(proto::kBundledBytesMax, 'x');
    for (std::uint64_t i = 0; i < kCount; ++i) {
        std::optional<std::string> text;
        if (i % 97 == 50) text = large;
        const auto bundling = i % 611 == 610 ? Bundling::kNo : Bundling::kYes;
        ASSERT_EQ(send("ann", i, bundling, text), Sent::kYes);
        if (i % 3 == 0) {
            ASSERT_EQ(send("bob", i, Bundling::kYes), Sent::kYes);
        }
    }
    EXPECT_THAT(flush(), IsEmpty());
    std::uint64_t next = 0;
    std::uint64_t messages = 0;
    while (next < kCount) {
        const auto frames = ann_->receive();
        ASSERT_FALSE(frames.empty());
        ++messages;
        if (frames[0] == bundle_header()) {
            EXPECT_LE(frames[1].size(), proto::kBundleBytesMax);
        }
        for (const auto& message : test::unbundled(frames))
            ASSERT_EQ(message.at(0), header_text(proto::Heartbeat{.session = next++}));
    }
    EXPECT_LT(messages, kCount / 5);
    for (next = 0; next < kCount;) {
        for (const auto& message : test::unbundled(bob_->receive())) {
            ASSERT_EQ(message, heartbeat(next));
            next += 3;
        }
    }
}

// Goal: who is gone is found when the bundle is sent, once, and the others get theirs. Method: one
// of two leaves.
TEST_F(RouterTest, WhoIsGoneIsFoundAtFlush) {
    ann_.reset();
    const auto until = std::chrono::steady_clock::now() + test::kPatience;
    std::vector<std::string> gone;
    std::uint64_t rounds = 0;
    // The connection's end is noticed by another thread.
    while (gone.empty() && std::chrono::steady_clock::now() < until) {
        ++rounds;
        for (int i = 0; i < 2; ++i) EXPECT_EQ(send("ann", 1, Bundling::kYes), Sent::kYes);
        EXPECT_EQ(send("bob", rounds, Bundling::kYes), Sent::kYes);
        gone = flush();
    }
    EXPECT_THAT(gone, ElementsAre("ann"));
    EXPECT_TRUE(router_.flushed());
    EXPECT_THAT(flush(), IsEmpty());
    for (std::uint64_t i = 1; i <= rounds; ++i) EXPECT_EQ(bob_->receive(), heartbeat(i));
    EXPECT_EQ(send("ann", 1, Bundling::kNo), Sent::kNoPeer);
}

// Goal: what waited for who is gone does not vanish in silence. Method: a send() whose caller does
// not care is the first to find it; then somebody new comes under the same name, who is not gone.
TEST_F(RouterTest, ALossFoundBetweenIsToldAtFlush) {
    ann_.reset();
    const auto until = std::chrono::steady_clock::now() + test::kPatience;
    while (send("ann", 1, Bundling::kNo) == Sent::kYes && std::chrono::steady_clock::now() < until)
        continue;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(send("ann", 2, Bundling::kYes), Sent::kYes);
    EXPECT_EQ(send("ann", 3, Bundling::kNo), Sent::kNoPeer);
    EXPECT_THAT(flush(), ElementsAre("ann"));
    EXPECT_THAT(flush(), IsEmpty());
    EXPECT_EQ(send("ann", 4, Bundling::kYes), Sent::kYes);
    EXPECT_EQ(send("ann", 5, Bundling::kNo), Sent::kNoPeer);
    // The name is free once another thread has cleared up.
    std::vector<zmq::pollitem_t> items{{router_.socket().handle(), 0, ZMQ_POLLIN, 0}};
    Texts frames;
    while (frames.empty() && std::chrono::steady_clock::now() < until) {
        ann_.emplace(context_, kEndpoint, "ann");
        ann_->send({"again"});
        zmq::poll(items, std::chrono::milliseconds(20));
        frames = receive_at_once();
    }
    ASSERT_THAT(frames, ElementsAre("ann", "again"));
    EXPECT_EQ(send("ann", 6, Bundling::kNo), Sent::kYes);
    EXPECT_THAT(flush(), IsEmpty());
    EXPECT_EQ(ann_->receive(), heartbeat(6));
}

// Goal: what is in a bundle comes one by one, from its sender, and others' messages come as well.
// Method: bundles of two peers, with a single message behind.
TEST_F(RouterTest, BundlesAreTakenApart) {
    ann_->send({bundle_header(), bundle_body({{"a"}, {"b", "1", ""}, {"c", "2"}})});
    EXPECT_THAT(receive(), ElementsAre("ann", "a"));
    EXPECT_TRUE(in_.bundled);
    bob_->send({bundle_header(), bundle_body({{"e"}, {"f"}})});
    bob_->send({"g", "3"});
    EXPECT_FALSE(router_.drained());
    EXPECT_THAT(receive_at_once(), ElementsAre("ann", "b", "1", ""));
    // Sending in between must not harm what is taken apart.
    for (std::uint64_t i = 1; i < 4; ++i) EXPECT_EQ(send("ann", i, Bundling::kYes), Sent::kYes);
    EXPECT_THAT(flush(), IsEmpty());
    EXPECT_THAT(receive_at_once(), ElementsAre("ann", "c", "2"));
    EXPECT_THAT(receive(), ElementsAre("bob", "e"));
    EXPECT_THAT(receive(), ElementsAre("bob", "f"));
    EXPECT_TRUE(in_.bundled);
    EXPECT_THAT(receive(), ElementsAre("bob", "g", "3"));
    EXPECT_FALSE(in_.bundled);
}

// Goal: what is malformed comes once, without a header, and nothing of what follows in it. Method:
// each way to be so, with a good message of another peer behind.
TEST_F(RouterTest, MalformedBundlesComeWithoutAHeader) {
    const auto good = bundle_body({{"good"}});
    std::string full;  // As many bytes as one may have, and no message that does not fit.
    while (full.size() + 2000 <= proto::kBundleBytesMax)
        full += bundle_body({{std::string(1000, 'x')}});
    for (const std::string& bad : {std::string("\x01"), std::string("\x90"), std::string("\x91"),
                                   std::string("\x91\xa1z"), std::string("\xdd\xff\xff\xff\xff")}) {
        ann_->send({bundle_header(), good + bad + good});
        bob_->send({"on"});
        EXPECT_THAT(receive(), ElementsAre("ann", "good"));
        EXPECT_THAT(receive(), ElementsAre("ann", "")) << "malformed";
        EXPECT_THAT(receive(), ElementsAre("bob", "on"));
    }
    for (const std::string& bad : {std::string(), full + full}) {
        ann_->send({bundle_header(), bad});
        EXPECT_THAT(receive(), ElementsAre("ann", ""));
    }
    // No bundles, but messages of a kind that nobody knows.
    ann_->send({bundle_header()});
    EXPECT_THAT(receive(), ElementsAre("ann", bundle_header()));
    ann_->send({bundle_header(), good, good});
    EXPECT_THAT(receive(), ElementsAre("ann", bundle_header(), good, good));
    // One in another: its body is not looked into.
    ann_->send({bundle_header(), bundle_body({{bundle_header(), good}, {"last"}})});
    EXPECT_THAT(receive(), ElementsAre("ann", bundle_header(), good));
    EXPECT_THAT(receive(), ElementsAre("ann", "last"));
    EXPECT_THAT(receive_at_once(), IsEmpty());
    ann_->send({bundle_header(), full});
    EXPECT_THAT(receive(), ElementsAre("ann", std::string(1000, 'x')));
}

class WorkerDoorBundleTest : public ::testing::Test {
protected:
    // Says hello as the worker of this number.
    void hello(Dealer& dealer, std::uint16_t version) {
        dealer.send({header_text(proto::Hello{.role = proto::Role::kWorker,
                                              .version_max = version,
                                              .token = std::string(proto::kTokenBytes, 't')})});
        ASSERT_TRUE(next());
        EXPECT_THAT(dealer.receive(), SizeIs(1));
    }
    std::optional<WorkerDoor::WorkerSays> next() {
        std::vector<zmq::pollitem_t> items{{door_.router().socket().handle(), 0, ZMQ_POLLIN, 0}};
        while (!door_.receive())
            if (zmq::poll(items, test::kPatience) == 0) throw std::runtime_error("nothing came");
        return door_.interpret();
    }

    static constexpr core::WorkerId kWorker{(std::uint64_t{1} << 32) | 1};

    test::TemporaryFolder folder_;
    zmq::context_t context_;
    WorkerDoor door_{context_, folder_.path(), [](std::string_view) { return kWorker; }};
};

// Goal: only who speaks version 2 gets bundles. Method: a worker of each.
TEST_F(WorkerDoorBundleTest, AWorkerOfVersionOneGetsNone) {
    for (const auto version : std::initializer_list<std::uint16_t>{1, 2}) {
        Dealer dealer(context_, door_.endpoint(), "worker " + std::to_string(version));
        hello(dealer, version);
        for (std::uint64_t id = 1; id <= 2; ++id)
            EXPECT_TRUE(door_.send(kWorker, proto::Recall{id}, {}, Bundling::kYes));
        EXPECT_THAT(door_.flush(), IsEmpty());
        EXPECT_EQ(dealer.receive().at(0) == bundle_header(), version == 2);
        door_.forget(kWorker);
    }
}

// Goal: a worker's bundle is replies like others; what is malformed in it is counted. Method: two
// replies and garbage.
TEST_F(WorkerDoorBundleTest, ABundleOfRepliesIsTakenApart) {
    Dealer dealer(context_, door_.endpoint(), "worker");
    hello(dealer, 2);
    dealer.send({bundle_header(), bundle_body({{header_text(proto::Reply{.id = 1}), "one"},
                                               {header_text(proto::Reply{.id = 2}), "two"}}) +
                                      "\x90"});
    for (std::uint64_t id = 1; id <= 2; ++id) {
        const auto says = next();
        ASSERT_TRUE(says);
        EXPECT_EQ(says->worker, kWorker);
        EXPECT_EQ(std::get<proto::Reply>(says->message).id, id);
        EXPECT_EQ(text_of(door_.bodies().at(0)), id == 1 ? "one" : "two");
    }
    EXPECT_FALSE(next());
    EXPECT_EQ(door_.malformed(), 1U);
}

// A worker that is gone is told of when what waits is sent.
TEST_F(WorkerDoorBundleTest, AWorkerThatIsGoneIsFoundAtFlush) {
    std::optional<Dealer> dealer(std::in_place, context_, door_.endpoint(), "worker");
    hello(*dealer, 2);
    dealer.reset();
    const auto until = std::chrono::steady_clock::now() + test::kPatience;
    std::vector<core::WorkerId> gone;
    while (gone.empty() && std::chrono::steady_clock::now() < until) {
        EXPECT_TRUE(door_.send(kWorker, proto::Recall{1}, {}, Bundling::kYes));
        gone = door_.flush();
    }
    EXPECT_THAT(gone, ElementsAre(kWorker));
}

}  // namespace
}  // namespace shortq::primary
