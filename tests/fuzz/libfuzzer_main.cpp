// tests/fuzz/libfuzzer_main.cpp: hands the inputs of libFuzzer to a target.
//   shortq_fuzz TARGET [libFuzzer's options] [CORPUS...]
//   shortq_fuzz --list
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/fuzz/fuzz.h"

namespace {

using namespace shortq::fuzz;  // NOLINT(google-build-using-namespace): this is its main file.

const Target* target = nullptr;

void list() {
    for (const auto& one : targets())
        std::printf("%.*s %zu %.*s\n", static_cast<int>(one.name.size()), one.name.data(),
                    one.bytes_max, static_cast<int>(one.about.size()), one.about.data());
}

// Some modes of libFuzzer (-merge, -fork, -jobs) run the program again, with its own arguments
// only: this tells those what the target is.
constexpr const char* kTargetVariable = "SHORTQ_FUZZ_TARGET";

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    if (const char* inherited = std::getenv(kTargetVariable)) {
        target = find_target(inherited);
        if (target != nullptr) return 0;
    }
    const std::string_view name = *argc > 1 ? (*argv)[1] : "";
    if (name == "--list") {
        list();
        std::exit(0);
    }
    target = find_target(name);
    if (target == nullptr) {
        std::fputs("usage: shortq_fuzz TARGET [OPTION...] [CORPUS...]; targets: --list\n", stderr);
        std::exit(2);
    }
    ::setenv(kTargetVariable, std::string(name).c_str(), 1);
    // The name is ours: libFuzzer sees what is behind it.
    (*argv)[1] = (*argv)[0];
    ++*argv;
    --*argc;
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    target->run({reinterpret_cast<const std::byte*>(data), size});
    return 0;
}
