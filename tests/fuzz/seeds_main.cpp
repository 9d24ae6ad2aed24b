// tests/fuzz/seeds_main.cpp: writes the inputs that our own encoders make, for the corpus to begin
// with: FOLDER/TARGET/seed-N.
//   shortq_fuzz_seeds FOLDER [TARGET...]
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/fuzz/fuzz.h"

namespace {

bool write_seeds(const shortq::fuzz::Target& target, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    std::size_t number = 0;
    for (const auto& seed : target.seeds()) {
        std::ofstream out(folder / ("seed-" + std::to_string(number++)), std::ios::binary);
        out << seed;
        if (!out.flush()) return false;
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string_view> arguments(argv + 1, argv + argc);
    if (arguments.empty()) {
        std::fputs("usage: shortq_fuzz_seeds FOLDER [TARGET...]\n", stderr);
        return 2;
    }
    const std::span<const std::string_view> names(arguments.begin() + 1, arguments.end());
    for (const auto& target : shortq::fuzz::targets()) {
        if (!names.empty() && std::ranges::find(names, target.name) == names.end()) continue;
        if (write_seeds(target, std::filesystem::path(arguments.front()) / target.name)) continue;
        std::fputs("fuzz: cannot write the seeds\n", stderr);
        return 1;
    }
    return 0;
}
