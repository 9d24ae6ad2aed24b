// primary/startup.h: when the ready line is due, and what it says. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "primary/core/types.h"

namespace shortq::primary {

// Prints once all workers of the first generation are ready; or, so that one slow load does not
// hold up the service, when the others take a second (or the first one's load time) longer than it.
class Startup {
public:
    Startup(core::Time begun, std::uint32_t workers) : begun_(begun), workers_(workers) {}

    void worker_ready(core::Time now);
    // When the line is due even if nothing more happens; none: not before a worker is ready.
    [[nodiscard]] std::optional<core::Time> due() const;
    // The line, the first time that it is due: "ready tcp://... workers=2 generation=1 load=0.21s".
    [[nodiscard]] std::optional<std::string> line(core::Time now, const std::string& endpoint,
                                                  std::uint32_t generation);

private:
    core::Time begun_;
    std::uint32_t workers_;
    std::uint32_t ready_ = 0;
    std::optional<core::Time> first_ready_;
    bool printed_ = false;
};

}  // namespace shortq::primary
