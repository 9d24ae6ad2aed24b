// tools/bench/interrupts.h: Ctrl-C in the middle of a measurement.
#pragma once

#include <filesystem>

namespace shortq::bench {

// From now on SIGINT, SIGTERM and SIGHUP end the program at once, wherever it is: temporary folders
// are removed, and the kernel ends the children. Call once, before there is any other thread.
void end_on_signals();

// Folders to be removed then.
void remember_folder(const std::filesystem::path& folder);
void forget_folder(const std::filesystem::path& folder);

}  // namespace shortq::bench
