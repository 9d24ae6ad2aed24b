// tests/soak/main.cpp: a long run of the real programs under load and faults; see --help.
#include <exception>
#include <iostream>

#include "tests/soak/guest.h"
#include "tests/soak/options.h"
#include "tests/soak/run.h"

int main(int argc, char** argv) try {
    int status = 0;
    const auto options = shortq::soak::parse_options(argc, argv, status);
    if (!options) return status;
    if (!options->client_of.empty()) return shortq::soak::be_guest(*options);
    return shortq::soak::run(*options);
} catch (const std::exception& error) {
    std::cerr << "soak: " << error.what() << '\n';
    return 1;
}
