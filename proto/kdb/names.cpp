#include "proto/kdb/names.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace shortq::kdb {

std::vector<std::string> distinct_names(std::vector<std::string> names) {
    for (std::string& name : names) {
        if (name.empty()) name = "x";
        std::ranges::replace(name, '\0', '_');
    }
    // Names that are there already are nobody's new name.
    std::unordered_set<std::string> taken(names.begin(), names.end());
    if (taken.size() == names.size()) return names;
    std::unordered_set<std::string> seen;
    std::unordered_map<std::string, std::size_t> last;  // Number given for a name.
    for (std::string& name : names) {
        if (seen.insert(name).second) continue;
        std::string numbered;
        do {
            numbered = name + std::to_string(++last[name]);
        } while (!taken.insert(numbered).second);
        name = std::move(numbered);
    }
    return names;
}

}  // namespace shortq::kdb
