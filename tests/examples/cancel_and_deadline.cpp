// Two ways to stop a query in the engine.
#include <shortq/client.h>

#include <iostream>

int main(int, char** argv) {
    auto client = shortq::Client::connect({.endpoints = {argv[1]}});
    if (!client) return 1;
    const auto slow = "select sum(a.i * b.i) from range(1000000) a(i), range(1000000) b(i)";

    shortq::QueryOptions options;
    options.timeout = std::chrono::milliseconds(300);  // In all: waiting, running, delivery.
    options.priority = shortq::RequestPriority::kLow;
    const auto late = client->deferred(slow, {}, options);
    std::cout << name_of(late.error().code) << '\n';  // The worker has stopped it.

    auto request = client->submit(slow);
    client->cancel(request.number);
    const auto cancelled = request.reply.get();
    std::cout << name_of(cancelled.error().code) << '\n';
}
