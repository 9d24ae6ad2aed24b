// tests/soak/connect.h: a client of the library that waits until a worker can answer.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "shortq/client.h"
#include "tests/patience.h"

namespace shortq::soak {

// Throws if nobody can answer.
[[nodiscard]] inline Client connect_to(const std::string& endpoint, const std::string& agent) {
    ConnectOptions options;
    options.endpoints = {endpoint};
    options.connect_timeout = test::kPatience;
    options.wait_until_ready = true;
    options.agent = agent;
    auto client = Client::connect(std::move(options));
    if (!client) throw std::runtime_error("no connection: " + client.error().message);
    return std::move(*client);
}

}  // namespace shortq::soak
