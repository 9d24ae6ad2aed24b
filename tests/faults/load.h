// tests/faults/load.h: clients of all kinds at work, and an account of every request: answered
// once, with what belongs to it, or with an error that is counted.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "shortq/client.h"

namespace shortq::test {

// What a request asks for. The answer carries the request's own name or number.
enum class Ask : std::uint8_t {
    kShort,   // A name.
    kWork,    // A name, after some milliseconds of work.
    kWhole,   // A number in each of many rows, several pieces, taken as one table.
    kStream,  // The same, read piece by piece.
    kSync,    // A name, from the primary's own engine.
};

enum class LoadEngine : std::uint8_t { kDuckDb, kTest };

struct LoadOptions {
    std::string endpoint{};
    std::string name{};  // Of this client, in each of its texts: no two are alike.
    std::uint64_t seed = 0;
    LoadEngine engine = LoadEngine::kDuckDb;
    std::vector<Ask> asks{Ask::kShort, Ask::kWork, Ask::kShort,
                          Ask::kWhole, Ask::kWork, Ask::kStream};  // Drawn from, evenly.
    int voices = 2;          // Threads that share the one connection.
    std::uint64_t most = 0;  // Requests in all; 0: until finish().
};

// The sum of what one or more clients have seen. Every request sent is in exactly one of them, once
// its client is done.
struct Tally {
    std::uint64_t sent = 0;
    std::uint64_t right = 0;
    std::map<ErrorCode, std::uint64_t> errors;
    std::uint64_t streams_cut = 0;    // Of the errors: kWorkerLost in the middle of a stream.
    std::vector<std::string> faults;  // Wrong, doubled, lost: what never may be.

    void add(const Tally& other);
    [[nodiscard]] std::uint64_t of(ErrorCode code) const;
    [[nodiscard]] std::uint64_t all_errors() const;
    // One line, for messages of tests.
    [[nodiscard]] std::string text() const;
};

// One client of the library at work, from its making to finish().
class LoadClient {
public:
    // Errors: throws std::runtime_error if there is no connection.
    explicit LoadClient(LoadOptions options);
    ~LoadClient();
    LoadClient(const LoadClient&) = delete;
    LoadClient& operator=(const LoadClient&) = delete;

    // Final replies so far, errors included. Any thread.
    [[nodiscard]] std::uint64_t replies() const noexcept { return replies_; }
    // Asks nothing new; returns when everything asked is answered.
    void finish();
    // Returns when all of `most` requests are answered.
    void wait();
    // Pre: finish() or wait() has returned.
    [[nodiscard]] const Tally& tally() const noexcept { return tally_; }

private:
    void voice(std::uint64_t seed);
    void ask(Ask what, std::uint64_t number);
    void ask_several(std::uint64_t number);
    void ask_rows(std::uint64_t number, bool streaming);
    [[nodiscard]] std::string text_of(Ask what, std::uint64_t number) const;
    [[nodiscard]] std::string name_of_request(std::uint64_t number) const;
    void judge(std::uint64_t number, const std::string& expected, const Result<Table>& reply);
    void note_right();
    void note_error(const Error& error, const std::string& what, bool cut = false);
    void note_fault(std::string what);

    LoadOptions options_;
    Client client_;
    std::atomic<bool> over_ = false;
    std::atomic<std::uint64_t> numbers_ = 0;
    std::atomic<std::uint64_t> replies_ = 0;
    std::mutex mutex_;  // Guards the tally.
    Tally tally_;
    std::vector<std::thread> threads_;
};

}  // namespace shortq::test
