// tests/faults/client_main.cpp: a client as a process of its own, to be killed, stopped, or left in
// peace: shortq_faults_client ENDPOINT NAME SEED COUNT. With COUNT 0 it asks until it is ended.
// Says "asking" when its first reply is there; exit status 0: every reply was right.
#include <exception>
#include <iostream>
#include <string>
#include <thread>

#include "tests/faults/load.h"

namespace {

int work(const std::string& endpoint, const std::string& name, std::uint64_t seed,
         std::uint64_t count) {
    using shortq::test::Ask;
    shortq::test::LoadOptions options;
    options.endpoint = endpoint;
    options.name = name;
    options.seed = seed;
    options.most = count;
    options.asks = {Ask::kShort, Ask::kWork, Ask::kWhole, Ask::kStream, Ask::kSync};
    shortq::test::LoadClient client(options);
    while (client.replies() == 0) std::this_thread::yield();
    std::cout << "asking" << std::endl;
    client.wait();
    std::cout << client.tally().text() << std::endl;
    return client.tally().faults.empty() && client.tally().all_errors() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc != 5) return 2;
    return work(argv[1], argv[2], std::stoull(argv[3]), std::stoull(argv[4]));
} catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
}
