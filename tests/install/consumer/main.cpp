// Uses the installed client library: its version, its error values, and a refused connection.
// Argument: the version to expect.
#include <shortq/client.h>
#include <shortq/table.h>

#include <chrono>
#include <iostream>

int main(int argc, char** argv) {
    if (argc != 2 || shortq::version() != argv[1]) {
        std::cerr << "the library says version " << shortq::version() << '\n';
        return 1;
    }
    shortq::ConnectOptions options;
    options.endpoints = {"tcp://127.0.0.1:1"};  // Nobody listens there.
    options.connect_timeout = std::chrono::milliseconds(200);
    const auto client = shortq::Client::connect(options);
    if (client || client.error().code != shortq::ErrorCode::kConnection) {
        std::cerr << "connected to nobody\n";
        return 1;
    }
    std::cout << shortq::version() << ' ' << client.error().message << '\n';
    return 0;
}
