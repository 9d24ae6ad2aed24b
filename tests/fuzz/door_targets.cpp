// tests/fuzz/door_targets.cpp: the primary's two doors: messages of any frames, in any order, from
// two peers of which one may be let in. The doors and their peers live as long as the process; an
// input begins and ends with nobody let in.
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <map>

#include "primary/client_door.h"
#include "primary/worker_door.h"
#include "proto/bundle.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/proto/samples.h"
#include "tests/temporary_folder.h"

namespace shortq::fuzz {
namespace {

using namespace primary;  // NOLINT(google-build-using-namespace): both doors.

constexpr std::uint64_t kQueryBytesMax = 64;
constexpr int kPatienceMs = 60'000;

// One DEALER.
class Peer {
public:
    Peer(zmq::context_t& context, const std::string& endpoint)
        : socket_(context, zmq::socket_type::dealer) {
        socket_.set(zmq::sockopt::linger, 0);
        socket_.connect(endpoint);
    }

    void send(const std::vector<Input>& frames) {
        for (std::size_t i = 0; i < frames.size(); ++i) {
            const auto flags =
                i + 1 < frames.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
            socket_.send(zmq::buffer(frames[i].data(), frames[i].size()), flags);
        }
    }
    // What has come, message by message.
    template <class Visit>
    void drain(Visit visit) {
        zmq::message_t header;
        while (socket_.recv(header, zmq::recv_flags::dontwait)) {
            std::size_t bodies = 0;
            zmq::message_t body;
            for (bool more = header.more(); more; ++bodies) {
                static_cast<void>(socket_.recv(body));
                more = body.more();
            }
            if (bodies == 1 && proto::is_bundle(bytes_of(header))) {
                std::vector<Input> frames;
                for (proto::BundleReader reader(bytes_of(body)); !reader.done();) {
                    SHORTQ_FUZZ_CHECK(reader.next(frames).has_value());
                    visit_one(frames.front(), frames.size() - 1, visit);
                }
            } else {
                visit_one(bytes_of(header), bodies, visit);
            }
        }
    }

private:
    static Input bytes_of(const zmq::message_t& frame) {
        return {static_cast<const std::byte*>(frame.data()), frame.size()};
    }
    template <class Visit>
    static void visit_one(Input header, std::size_t bodies, Visit& visit) {
        const auto message = proto::decode(header);
        SHORTQ_FUZZ_CHECK(message.has_value());
        visit(*message, bodies);
    }

    zmq::socket_t socket_;
};

zmq::context_t& context() {
    spdlog::set_level(spdlog::level::off);
    static zmq::context_t context;
    return context;
}

// Header and bodies of the next message: any bytes, or a message that makes sense.
class Script {
public:
    explicit Script(Input input) : taker_(input) {}

    [[nodiscard]] bool done() const { return taker_.done(); }

    struct Next {
        std::size_t peer = 0;
        std::vector<Input> frames;
    };
    // `sessions`: what a message that makes sense names.
    Next next(const std::array<std::uint64_t, 2>& sessions) {
        const auto choice = taker_.byte();
        Next next{.peer = choice & 1U, .frames = {}};
        if ((choice & 2U) != 0) {
            next.frames.push_back(taker_.frame());
        } else {
            const auto session = (choice & 4U) != 0 ? 12345 : sessions[next.peer];
            next.frames.push_back(proto::encode(message(session), buffer_));
        }
        for (std::size_t bodies = taker_.byte() % 4; bodies > 0; --bodies)
            next.frames.push_back(taker_.frame());
        if ((choice & 8U) != 0) bundle(next.frames);
        return next;
    }

private:
    // The message in a bundle, up to three times, and what follows it there.
    void bundle(std::vector<Input>& frames) {
        proto::BundleWriter writer;
        for (int times = taker_.byte() % 4; times > 0; --times) {
            writer.begin(frames.size());
            for (const auto frame : frames) writer.frame(frame);
        }
        const auto rest = taker_.frame();
        bundle_.assign(writer.body().begin(), writer.body().end());
        bundle_.insert(bundle_.end(), rest.begin(), rest.end());
        frames = {proto::kBundleHeader, bundle_};
    }

    proto::Message message(std::uint64_t session) {
        switch (taker_.byte() % 8) {
            case 0:
                return proto::Hello{.pid = 7};
            case 1:
                return proto::Hello{.role = proto::Role::kWorker, .token = test::kSampleToken};
            case 2:
                return proto::Cancel{.id = taker_.byte(), .session = session};
            case 3:
                return proto::Credit{.id = taker_.byte(), .session = session, .bytes = 9};
            case 4:
                return proto::Heartbeat{.session = session};
            case 5:
                return proto::Goodbye{.session = session};
            case 6:
                return proto::Ready{.generation = taker_.byte()};
            default:
                return proto::Request{.id = taker_.byte(), .session = session};
        }
    }

    Taker taker_;
    proto::HeaderBuffer buffer_{};
    std::vector<std::byte> bundle_;
};

// ---- client_door

class Clients {
public:
    Clients() : door_(context(), options()) {
        for (auto& peer : peers_) peer.emplace(context(), "inproc://clients");
    }

    void run(Input input) {
        for (Script script(input); !script.done();) {
            const auto next = script.next(sessions_);
            peers_[next.peer]->send(next.frames);
            SHORTQ_FUZZ_CHECK(door_.receive());
            do {  // A bundle is several.
                on(next.peer, door_.interpret());
            } while (door_.receive());
            SHORTQ_FUZZ_CHECK(door_.flush().empty());
            for (std::size_t i = 0; i < peers_.size(); ++i) read(i);
        }
        for (std::size_t i = 0; i < peers_.size(); ++i) leave(i);
    }

private:
    static ClientDoorOptions options() {
        ClientDoorOptions options;
        options.endpoint = "inproc://clients";
        options.query_bytes_max = kQueryBytesMax;
        options.pending_per_client_max = 10;
        return options;
    }

    core::ClientId id_of(std::size_t peer) const { return core::ClientId{lives_ << 32 | peer}; }

    void leave(std::size_t peer) {
        door_.forget(ids_[peer]);
        SHORTQ_FUZZ_CHECK(door_.facts(ids_[peer]) == nullptr);
        ids_[peer] = {};
        sessions_[peer] = 0;
    }

    void on(std::size_t peer, const ClientSays& says) {
        const auto is_own = [&](core::ClientId client) {
            return client == ids_[peer] && door_.facts(client) != nullptr;
        };
        if (std::holds_alternative<HelloAgain>(says)) {
            SHORTQ_FUZZ_CHECK(is_own(std::get<HelloAgain>(says).client));
            leave(peer);
            const auto again = door_.interpret();
            SHORTQ_FUZZ_CHECK(!std::holds_alternative<HelloAgain>(again));
            return on(peer, again);
        }
        if (std::holds_alternative<NewClient>(says)) {
            ++lives_;
            ids_[peer] = id_of(peer);
            door_.admit(ids_[peer], 2, 1);
            SHORTQ_FUZZ_CHECK(is_own(ids_[peer]));
        } else if (const auto* request = std::get_if<NewRequest>(&says)) {
            SHORTQ_FUZZ_CHECK(is_own(request->event.client) && request->id != 0);
            std::uint64_t bytes = 0;
            for (const auto& body : door_.bodies()) bytes += body.size();
            SHORTQ_FUZZ_CHECK(request->event.bytes == bytes && bytes <= kQueryBytesMax);
            SHORTQ_FUZZ_CHECK(door_.bodies().size() == 1 || door_.bodies().size() == 2);
        } else if (const auto* lost = std::get_if<core::ClientLost>(&says)) {
            SHORTQ_FUZZ_CHECK(is_own(lost->client));
            leave(peer);
        } else if (const auto* cancel = std::get_if<core::CancelRequested>(&says)) {
            SHORTQ_FUZZ_CHECK(is_own(cancel->client));
        } else if (const auto* credit = std::get_if<core::CreditArrived>(&says)) {
            SHORTQ_FUZZ_CHECK(is_own(credit->client));
        } else if (const auto* heard = std::get_if<core::ClientHeard>(&says)) {
            SHORTQ_FUZZ_CHECK(is_own(heard->client));
        }
    }

    void read(std::size_t peer) {
        peers_[peer]->drain([&](const proto::Message& message, std::size_t bodies) {
            if (const auto* welcome = std::get_if<proto::Welcome>(&message)) {
                SHORTQ_FUZZ_CHECK(welcome->session != 0);
                sessions_[peer] = welcome->session;
            } else if (std::holds_alternative<proto::ErrorReply>(message)) {
                SHORTQ_FUZZ_CHECK(bodies == 2);
            } else {
                SHORTQ_FUZZ_CHECK(std::holds_alternative<proto::Heartbeat>(message));
            }
        });
    }

    ClientDoor door_;
    std::array<std::optional<Peer>, 2> peers_;
    std::array<core::ClientId, 2> ids_{};
    std::array<std::uint64_t, 2> sessions_{};
    std::uint64_t lives_ = 0;
};

void run_client_door(Input input) {
    static Clients clients;
    clients.run(input);
}

// ---- worker_door: only the bearer of the token is heard.

class Workers {
public:
    Workers() : door_(context(), folder_.path(), identify) {
        for (auto& peer : peers_) peer.emplace(context(), door_.endpoint());
    }

    void run(Input input) {
        for (Script script(input); !script.done();) {
            const auto next = script.next({0, 0});
            peers_[next.peer]->send(next.frames);
            wait();
            SHORTQ_FUZZ_CHECK(door_.receive());
            do {  // A bundle is several.
                const auto before = door_.malformed();
                const auto says = door_.interpret();
                SHORTQ_FUZZ_CHECK(!says || (says->worker == kWorker && door_.connected(kWorker)));
                SHORTQ_FUZZ_CHECK(!says || door_.malformed() == before);
            } while (door_.receive());
            door_.heartbeat_all();
            for (auto& peer : peers_) peer->drain([](const proto::Message&, std::size_t) {});
        }
        door_.forget(kWorker);
        SHORTQ_FUZZ_CHECK(!door_.connected(kWorker));
    }

private:
    static constexpr core::WorkerId kWorker{std::uint64_t{7} << 32 | 3};

    static std::optional<core::WorkerId> identify(std::string_view token) {
        if (token != test::kSampleToken) return std::nullopt;
        return kWorker;
    }

    void wait() {
        zmq::pollitem_t item{door_.router().socket().handle(), 0, ZMQ_POLLIN, 0};
        int ready = 0;
        do {  // libFuzzer's own timer interrupts it.
            ready = ::zmq_poll(&item, 1, kPatienceMs);
        } while (ready < 0 && ::zmq_errno() == EINTR);
        SHORTQ_FUZZ_CHECK(ready == 1);
    }

    test::TemporaryFolder folder_;
    WorkerDoor door_;
    std::array<std::optional<Peer>, 2> peers_;
};

void run_worker_door(Input input) {
    static Workers workers;
    workers.run(input);
}

// ---- seeds: both doors read the same scripts.

std::vector<std::string> door_seeds() {
    const std::string hello("\0\0\0", 3);
    const std::string worker("\0\1\0", 3);
    const std::string request("\0\7\5\1\10select 1", 12);
    std::vector<std::string> seeds{
        hello + request + std::string("\0\2\5\0\0\3\5\0\0\4\0\0\5\0", 14), hello + hello + request,
        hello + std::string("\4\7\5\1\1x\0\7\0\1\1x\0\7\5\0", 16),
        worker + std::string("\0\6\1\0\0\4\0\1\4\0", 10) + worker,
        hello + "\1" + std::string("\0\0", 2) + request + std::string("\0\7\5\2\1x\1y", 8)};
    for (const auto& message : test::typical_messages()) {
        proto::HeaderBuffer buffer;
        std::string seed = hello + '\2';
        append_frame(seed, proto::encode(message, buffer));
        seeds.push_back(seed + std::string("\2\3one\3two", 9));
    }
    // In bundles: a request three times, and one with garbage behind it.
    seeds.push_back(hello + std::string("\10\7\5\1\1x\3\0\10\7\5\1\1x\1\2\x90z", 18));
    seeds.push_back(worker + std::string("\10\6\1\0\3\0", 6));
    return seeds;
}

}  // namespace

std::vector<Target> door_targets() {
    return {
        {"client_door", "messages of clients to the primary", 512, run_client_door, door_seeds},
        {"worker_door", "messages of workers to the primary", 256, run_worker_door, door_seeds},
    };
}

}  // namespace shortq::fuzz
