// tests/tools/cli/catalogue.h: a server's names, for what completes and colours them.
#pragma once

#include "tools/cli/catalogue.h"

namespace shortq::cli {

inline Catalogue a_catalogue() {
    return {{{"", "quote", {"sym", "bid"}},
             {"", "trade", {"sym", "price", "Odd Name"}},
             {"", "Two Words", {"x"}},
             {"ref", "airports", {"iata", "city"}}},
            {"sum", "substring", "count", "shortq_like"},
            {"select", "from", "set", "show", "where", "order", "group"},
            {"threads", "TimeZone"}};
}

}  // namespace shortq::cli
