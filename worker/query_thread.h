// worker/query_thread.h: the thread that owns the engine: loads the source, then runs one query
// after the other, while the io thread keeps talking to the primary.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "worker/board_mapping.h"
#include "worker/engine/engine.h"
#include "worker/engine/wakeup.h"
#include "worker/frames.h"

namespace shortq::worker {

// A request as it came: the texts stay in the frames they arrived in.
struct Job {
    std::uint64_t id = 0;
    zmq::message_t text;
    zmq::message_t parameters;  // Empty: none.
    bool more = false;          // Of the bundle it came in: its reply may wait for theirs.
};

// What the query thread has to say to the primary.
struct Outgoing {
    enum class Event : std::uint8_t { kChunk, kFinal, kLoaded, kLoadFailed };
    Event event = Event::kChunk;
    std::uint64_t request = 0;
    Frames frames;  // Empty: nothing to send.
};

struct LoadOptions {
    std::string engine;
    std::unique_ptr<engine::Engine> forked;  // Loaded by the fork server: it only has to start.
    engine::EngineOptions engine_options;
    std::filesystem::path source;
    std::uint32_t seat = 0;
    std::uint32_t generation = 0;
    std::uint64_t result_bytes_max = 0;  // 0: none.
};

// The socket, as the query thread sees it. Both functions are for whoever holds it; false: the
// query thread is to give it back. Neither blocks on the engine, neither throws.
class Socket {
public:
    virtual ~Socket() = default;
    [[nodiscard]] virtual bool wait_and_serve() noexcept = 0;  // Until there is something to do.
    [[nodiscard]] virtual bool deliver() noexcept = 0;         // What collect() gives.
};

// The io thread holds the socket while the engine may be busy for long, so that heartbeats, recalls
// and interrupts work then. Between two queries it lends it to this thread, which then takes a
// request, evaluates it and sends its reply without waking anybody: half of a tiny query's time
// went into such wake-ups. A query that is not over in a moment, or sends its result in pieces, has
// the io thread take the socket back.
//
// A request's way: submit() -> queued -> running -> final reply in collect().
//                              | take_back()   | interrupt(), again and again, ends it sooner
// Threads: all functions are for the holder of the socket, none blocks on the engine but stop().
class QueryThread {
public:
    // All outlive it. `wakeup` is notified when collect() has something to give to the io thread.
    QueryThread(BoardMapping& board, Wakeup& wakeup, Socket& socket)
        : board_(board), wakeup_(wakeup), socket_(socket) {}
    ~QueryThread() { stop(); }

    // Starts the thread, which loads first. Once.
    void start(LoadOptions options);

    // If nothing is under way: lends it the socket, and returns when that is back.
    void lend_socket();

    void submit(Job job);
    // True if the request was waiting: it is dropped and nothing more comes of it. False if it has
    // started or is unknown.
    [[nodiscard]] bool take_back(std::uint64_t request);
    // Interrupts the engine if it is running this request. False if it is not.
    [[nodiscard]] bool interrupt(std::uint64_t request);
    void interrupt_load();
    // Pieces of this request's reply may go out while those before have less than `bytes`:
    // PROTOCOL.md#flow-control.
    void grant(std::uint64_t request, std::uint64_t bytes);

    // Moves what is ready to be sent to the end of `out`.
    void collect(std::vector<Outgoing>& out);

    [[nodiscard]] std::uint64_t running();
    [[nodiscard]] std::int32_t progress_ppm();  // -1: unknown.
    // Nothing is loading, queued, running or waiting for collect().
    [[nodiscard]] bool idle();

    // Ends the thread after the query under way.
    void stop();

private:
    enum class Holder : std::uint8_t { kIoThread, kQueryThread };  // Of the socket.
    using Lock = std::unique_lock<std::mutex>;

    // More chunks than this wait for the io thread: the engine is held up instead.
    static constexpr std::size_t kChunksWaitingMax = 8;

    void main(LoadOptions& options);
    [[nodiscard]] bool load(LoadOptions& options);
    [[nodiscard]] Result<void> load_engine(LoadOptions& options);
    [[nodiscard]] bool next(Job& job);
    void take(Job& job);
    void return_socket();
    [[nodiscard]] bool takes_long(Lock& lock);
    [[nodiscard]] bool is_idle() const;
    [[nodiscard]] bool reply_may_wait() const;
    void evaluate(Job& job);
    [[nodiscard]] Frames run(const Job& job);
    [[nodiscard]] bool emit_chunk(std::uint64_t request, Frames frames);
    void finish(std::uint64_t request, Frames frames);

    BoardMapping& board_;
    Wakeup& wakeup_;
    Socket& socket_;
    std::uint64_t result_bytes_max_ = 0;
    std::string place_;  // "worker 2"

    std::mutex mutex_;  // Guards all below.
    std::condition_variable changed_;
    std::unique_ptr<engine::Engine> engine_;  // Changed by the query thread only.
    std::deque<Job> queue_;
    std::vector<Outgoing> outbox_;
    std::uint64_t running_ = 0;
    Holder holder_ = Holder::kIoThread;
    std::condition_variable watched_;  // Of the io thread while the socket is lent.
    std::uint64_t runs_ = 0;           // Begun so far.
    bool more_of_bundle_ = false;      // After the query that ran last.
    std::chrono::steady_clock::time_point waiting_since_;  // The oldest reply in the outbox.
    bool watching_ = false;            // The io thread looks every moment for a query that lasts.
    bool cancelled_ = false;           // The running request, or the load.
    std::uint64_t sent_bytes_ = 0;     // Of the running request's reply.
    std::uint64_t granted_bytes_ = 0;  // A piece may go while what was sent is below.
    bool held_up_ = false;             // The engine, until collect() makes room.
    bool loading_ = false;
    bool stop_ = false;

    std::thread thread_;
};

}  // namespace shortq::worker
