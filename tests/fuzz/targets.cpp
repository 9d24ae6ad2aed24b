// tests/fuzz/targets.cpp: all targets in one list.
#include <algorithm>

#include "tests/fuzz/fuzz.h"

namespace shortq::fuzz {

const std::vector<Target>& targets() {
    static const std::vector<Target> kTargets = [] {
        std::vector<Target> all;
        for (const auto& some :
             {proto_targets(), kdb_targets(), client_targets(), door_targets(), process_targets(),
              option_targets(), sql_targets(), prompt_targets()})
            all.insert(all.end(), some.begin(), some.end());
        return all;
    }();
    return kTargets;
}

const Target* find_target(std::string_view name) {
    const auto found = std::ranges::find(targets(), name, &Target::name);
    return found == targets().end() ? nullptr : &*found;
}

}  // namespace shortq::fuzz
