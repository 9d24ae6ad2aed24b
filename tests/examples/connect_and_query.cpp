// A query with a parameter, on the least-busy worker.
#include <shortq/client.h>

#include <iostream>

int main(int, char** argv) {
    auto client = shortq::Client::connect({.endpoints = {argv[1]}});  // "tcp://127.0.0.1:5001"
    if (!client) {
        std::cerr << client.error().message << '\n';
        return 1;
    }
    const auto table = client->deferred("select sym, price from trade where size > ? order by sym",
                                        {{"", std::int64_t{50000}}});
    if (!table) {  // An error is a value: a code for programs, a message for people.
        std::cerr << name_of(table.error().code) << ": " << table.error().message << '\n';
        return 1;
    }
    for (std::uint64_t row = 0; row < table->rows(); ++row) {
        std::cout << table->text(row, 0) << ' ' << table->number(row, 1).value() << '\n';
    }
    std::cerr << "worker " << table->facts().worker << ", " << table->facts().run_ms << " ms\n";
}
