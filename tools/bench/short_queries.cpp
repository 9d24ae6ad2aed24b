// tools/bench/short_queries.cpp: a thread for each query that is under way.
#include "tools/bench/short_queries.h"

#include <utility>

namespace shortq::bench {

Result<std::unique_ptr<ShortQueries>> ShortQueries::start(const std::string& endpoint,
                                                          unsigned count) {
    ConnectOptions options;
    options.endpoints = {endpoint};
    auto client = Client::connect(options);
    if (!client) return tl::unexpected(client.error());
    std::unique_ptr<ShortQueries> queries(new ShortQueries(std::move(*client)));
    for (unsigned i = 0; i < count; ++i)
        queries->threads_.emplace_back([&asker = *queries] { asker.ask(); });
    return queries;
}

ShortQueries::~ShortQueries() { (void)stop(); }

void ShortQueries::ask() {
    while (!over_) {
        const auto table = client_.deferred("select 1");
        if (!table) {
            const std::lock_guard lock(mutex_);
            if (outcome_) outcome_ = tl::unexpected(table.error());
            return;
        }
        ++answered_;
    }
}

void ShortQueries::begin_count() {
    counted_ = answered_;
    since_ = Clock::now();
}

double ShortQueries::per_second() const {
    const std::chrono::duration<double> time = Clock::now() - since_;
    return static_cast<double>(answered_ - counted_) / time.count();
}

Result<void> ShortQueries::stop() {
    over_ = true;
    for (auto& thread : threads_) thread.join();
    threads_.clear();
    return outcome_;
}

}  // namespace shortq::bench
