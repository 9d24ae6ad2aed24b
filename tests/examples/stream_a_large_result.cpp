// A result of any size in bounded memory.
#include <shortq/client.h>

#include <iostream>

int main(int, char** argv) {
    auto client = shortq::Client::connect({.endpoints = {argv[1]}});
    if (!client) return 1;
    auto stream = client->stream("select i, i * i from range(1000000) t(i)");
    if (!stream) return 1;
    std::uint64_t rows = 0;
    std::int64_t sum = 0;
    while (true) {
        const auto piece = stream->next();  // About a megabyte of rows; the server waits for us.
        if (!piece) {
            std::cerr << piece.error().message << '\n';
            return 1;
        }
        if (!*piece) break;  // That was all.
        for (std::size_t batch = 0; batch < (*piece)->batches().size(); ++batch) {
            // The column's own bytes, as they came.
            const auto values = (*piece)->values<std::int64_t>(batch, 0);
            for (const auto value : *values) sum += value;
        }
        rows += (*piece)->rows();
    }
    std::cout << rows << " rows, sum " << sum << '\n';
}
