// What a kdb+ user writes as  h:hopen 5001; (neg h) q1; (neg h) q2; h[]; h[]; h "count .z.W"
#include <shortq/client.h>

#include <iostream>

int main(int, char** argv) {
    auto h = shortq::Client::connect({.endpoints = {argv[1]}});
    if (!h) return 1;
    const auto first = h->async("select count(*) from trade");  // Sent; nobody waits.
    const auto second = h->async("select max(price) from trade");
    if (!first || !second) return 1;
    for (int i = 0; i < 2; ++i) {
        const auto arrived = h->wait();  // h[]: the next reply, whichever it is.
        if (!arrived || !arrived->reply) return 1;
        std::cout << (arrived->number == *first ? "count " : "max ") << arrived->reply->text(0, 0)
                  << '\n';
    }
    const auto clients = h->sync("select count(*) from shortq.clients");  // By the primary itself.
    std::cout << "clients " << clients->text(0, 0) << '\n';
}
