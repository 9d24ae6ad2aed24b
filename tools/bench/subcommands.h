// tools/bench/subcommands.h: every subcommand adds itself.
#pragma once

#include "tools/bench/commands.h"

namespace shortq::bench {

void add_core(Commands& commands);
void add_dispatch(Commands& commands);
void add_policy(Commands& commands);
void add_query(Commands& commands);
void add_start(Commands& commands);
void add_stream(Commands& commands);
void add_transfer(Commands& commands);

}  // namespace shortq::bench
