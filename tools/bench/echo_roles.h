// tools/bench/echo_roles.h: the opponent: libzmq's own zmq_proxy in front of processes that echo,
// the least that any dispatcher over ZeroMQ has to do; and such processes without it.
// shortq-bench starts itself in these roles. Each tells on its first line where it can be reached.
#pragma once

#include <string>

namespace shortq::bench {

// Never return; the exit status if they fail.
[[nodiscard]] int run_proxy(const std::string& clients, const std::string& workers);
[[nodiscard]] int run_echo_worker(const std::string& endpoint);  // Connects to a proxy.
[[nodiscard]] int run_echo_server(const std::string& endpoint);  // Is connected to.

// Connects to a proxy. Answers a number of bytes, in decimal, with messages of 1 MiB, the last one
// with what remains.
[[nodiscard]] int run_byte_source(const std::string& endpoint);

}  // namespace shortq::bench
