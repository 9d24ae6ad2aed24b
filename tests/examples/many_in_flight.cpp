// A thousand queries at once, on all workers, each a future.
#include <shortq/client.h>

#include <iostream>
#include <vector>

int main(int, char** argv) {
    auto client = shortq::Client::connect({.endpoints = {argv[1]}});
    if (!client) return 1;
    std::vector<shortq::Submitted> requests;
    for (std::int64_t i = 0; i < 1000; ++i) {  // All under way at once, on all workers.
        requests.push_back(
            client->submit("select sum(size) from trade where size % 1000 = $n", {{"n", i}}));
    }
    std::int64_t total = 0;
    for (auto& request : requests) {
        const auto table = request.reply.get();
        if (!table) {
            std::cerr << table.error().message << '\n';
            return 1;
        }
        if (!table->is_null(0, 0)) total += table->integer(0, 0).value();
    }
    std::cout << "total " << total << '\n';
}
