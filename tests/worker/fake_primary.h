// tests/worker/fake_primary.h: the primary's end of the workers' protocol, by hand: a ROUTER in a
// folder of its own, and one real shortq-worker with the test engine.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
#include <zmq.hpp>

#include "primary/worker_process.h"
#include "proto/bundle.h"
#include "proto/columnar.h"
#include "proto/message.h"
#include "proto/value.h"
#include "tests/patience.h"
#include "tests/temporary_folder.h"

namespace shortq::test {

// A message of the worker. `message` points into `frames`.
struct Received {
    std::vector<zmq::message_t> frames;  // Without the identity.
    proto::Message message;

    template <class Kind>
    [[nodiscard]] const Kind* as() const noexcept {
        return std::get_if<Kind>(&message);
    }
    [[nodiscard]] std::string_view body(std::size_t index) const;
};

// A whole result, put together as a client would.
struct Collected {
    std::uint64_t id = 0;
    std::size_t messages = 0;
    std::int64_t rows = 0;
    Schema schema;
    std::vector<Batch> batches;
    proto::Facts facts;
    std::optional<ErrorCode> error;
    std::string error_message;
    std::string error_where;
    bool sick = false;
};

class FakePrimary {
public:
    FakePrimary();

    // Starts the worker; `more` is added to its arguments.
    void start(std::vector<std::string> more = {"--engine", "test"});
    // Takes the hello, welcomes, and waits for ready.
    void welcome_until_ready(std::uint16_t version = proto::kVersionMin);
    // The hello, with the worker's address remembered.
    [[nodiscard]] Received take_hello();

    void send(const proto::Message& message, std::vector<zmq::message_t> bodies = {});
    void send_raw(std::string_view frame);  // One frame of any bytes.
    void send_frames(const std::vector<std::string>& frames);
    void request(std::uint64_t id, std::string_view text, const Parameters& parameters = {});

    // What came so far, a bundle as one message; and how many were bundles.
    [[nodiscard]] std::size_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::size_t bundles() const noexcept { return bundles_; }

    // The next message that is not a heartbeat, also out of a bundle. None: nothing came within
    // `patience`.
    [[nodiscard]] std::optional<Received> next(std::chrono::milliseconds patience = kPatience);
    [[nodiscard]] std::optional<Received> next_heartbeat();
    // The whole reply to one request, whose reader takes what comes; what belongs to none fails the
    // test.
    [[nodiscard]] Collected collect();

    // How the worker ended. None: it lives on after `patience`.
    [[nodiscard]] std::optional<ExitStatus> wait_for_exit(
        std::chrono::milliseconds patience = kPatience);
    [[nodiscard]] WorkerProcess& worker() { return *worker_; }
    // Waits until the worker says that it runs this request.
    [[nodiscard]] bool wait_until_running(std::uint64_t id);
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return folder_.path(); }

private:
    [[nodiscard]] std::optional<Received> receive(std::chrono::milliseconds patience);
    [[nodiscard]] std::vector<zmq::message_t> take_frames();
    void unpack(const std::vector<zmq::message_t>& bundle);

    TemporaryFolder folder_;
    zmq::context_t context_;
    zmq::socket_t socket_;
    zmq::message_t identity_;
    std::deque<std::vector<zmq::message_t>> unpacked_;
    std::size_t messages_ = 0;
    std::size_t bundles_ = 0;
    std::optional<WorkerProcess> worker_;
};

}  // namespace shortq::test
