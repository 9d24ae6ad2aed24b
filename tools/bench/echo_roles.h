// tools/bench/echo_roles.h: the opponent: libzmq's own zmq_proxy in front of processes that echo,
// the least that any dispatcher over ZeroMQ has to do. shortq-bench starts itself in these roles.
#pragma once

#include <string>

namespace shortq::bench {

// Binds a free TCP port for clients and `workers_endpoint` for workers, prints the first as a line
// on stdout, and forwards until the process is ended.
int run_proxy(const std::string& workers_endpoint);

// Connects to a proxy, prints a line, and sends back whatever comes until the process is ended.
int run_echo_worker(const std::string& endpoint);

}  // namespace shortq::bench
