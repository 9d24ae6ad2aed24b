// tests/fuzz/replay_main.cpp: a short slice of fuzzing for every compiler and every build: what the
// corpus holds, and so many random changes of it. The same inputs each time.
//   shortq_fuzz_replay TARGET CHANGES FILE|FOLDER...
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "tests/fuzz/fuzz.h"

// Of a sanitizer's library, where there is one.
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));

namespace {

using namespace shortq::fuzz;  // NOLINT(google-build-using-namespace): this is its main file.
namespace fs = std::filesystem;

// What is being fed, to be shown if it is the last thing that this process does.
std::string current;

void show_current() {
    std::fputs("fuzz: the input that did it, in hex:\n", stderr);
    for (const char c : current) std::fprintf(stderr, "%02x", static_cast<unsigned char>(c));
    std::fputc('\n', stderr);
}

extern "C" void die_of(int signal) {
    show_current();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

// A sanitizer sees the bad accesses itself, and says more about them.
void watch_for_death() {
    std::signal(SIGABRT, die_of);
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(show_current);
        return;
    }
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, die_of);
}

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> read_corpus(std::span<char*> places) {
    std::vector<fs::path> files;
    for (const char* place : places) {
        if (!fs::is_directory(place)) {
            files.emplace_back(place);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(place)) files.push_back(entry.path());
    }
    std::ranges::sort(files);  // As they come from the disk, they are in any order.
    std::vector<std::string> inputs;
    for (const auto& file : files) inputs.push_back(read_file(file));
    return inputs;
}

// Small edits: bytes changed, put in, taken out, doubled; two inputs joined.
class Changer {
public:
    explicit Changer(const std::vector<std::string>& corpus) : corpus_(corpus) {}

    std::string next(std::size_t bytes_max) {
        std::string input = any();
        for (std::size_t edits = 1 + below(4); edits > 0; --edits) edit(input);
        input.resize(std::min(input.size(), bytes_max));
        return input;
    }

private:
    std::size_t below(std::size_t bound) { return random_() % bound; }
    const std::string& any() { return corpus_[below(corpus_.size())]; }

    char byte() {
        constexpr std::string_view kTelling("\0\1\x7f\x80\xff\xc0\xdf';\"\n -$.", 15);
        return below(2) == 0 ? kTelling[below(kTelling.size())] : static_cast<char>(random_());
    }

    void edit(std::string& input) {
        const auto at = below(input.size() + 1);
        const auto length = std::min(1 + below(8), input.size() - at);
        switch (below(6)) {
            case 0:
                input.insert(at, 1, byte());
                break;
            case 1:
                input.erase(at, length);
                break;
            case 2:
                input.insert(at, input.substr(at, length));
                break;
            case 3:
                input = input.substr(0, at) + any();
                break;
            case 4:
                input.insert(below(input.size() + 1), input.substr(at, length));
                break;
            default:
                if (at < input.size()) input[at] = byte();
        }
    }

    const std::vector<std::string>& corpus_;
    std::mt19937_64 random_{1};
};

int replay(const Target& target, std::size_t changes, const std::vector<std::string>& corpus) {
    for (const auto& input : corpus) {
        current = input;
        feed(target, bytes_of(current));
    }
    Changer changer(corpus);
    for (std::size_t i = 0; i < changes; ++i) {
        current = changer.next(target.bytes_max);
        feed(target, bytes_of(current));
    }
    std::printf("fuzz: %s: %zu inputs and %zu changes of them\n", std::string(target.name).c_str(),
                corpus.size(), changes);
    return 0;
}

}  // namespace

int main(int argc, char** argv) try {
    const std::string_view count = argc > 2 ? argv[2] : "";
    std::size_t changes = 0;
    const auto read = std::from_chars(count.data(), count.data() + count.size(), changes);
    const auto* target = argc > 3 ? find_target(argv[1]) : nullptr;
    if (target == nullptr || read.ec != std::errc{}) {
        std::fputs("usage: shortq_fuzz_replay TARGET CHANGES FILE|FOLDER...\n", stderr);
        return 2;
    }
    const auto corpus = read_corpus(std::span(argv, static_cast<std::size_t>(argc)).subspan(3));
    if (corpus.empty()) {
        std::fputs("fuzz: the corpus is empty\n", stderr);
        return 2;
    }
    watch_for_death();
    std::set_terminate(std::abort);  // An exception that leaves a target is a bug of it.
    return replay(*target, changes, corpus);
} catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz: %s\n", error.what());
    show_current();
    return 1;
}
