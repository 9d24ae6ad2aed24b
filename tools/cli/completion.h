// tools/cli/completion.h: what may be typed next. Pure: text and names in, candidates out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/catalogue.h"

namespace shortq::cli {

// The statement around the cursor: `before` the word, the word as far as it is typed, and the rest.
struct Typing {
    std::string_view before;
    std::string_view word;
    std::string_view after;
    bool sync = false;  // At the primary, where its calls are known.
};

// What the word may become, in order and each once. Letters' case does not count; keywords follow
// the case that is typed. Functions end in "(", schemas in ".".
[[nodiscard]] std::vector<std::string> complete(const Catalogue& catalogue, const Typing& typing);

}  // namespace shortq::cli
