// tools/cli/catalogue.h: the names that queries can use, as the server knows them.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shortq/client.h"

namespace shortq::cli {

struct Catalogue {
    struct Relation {
        std::string schema;  // Empty: needs none.
        std::string name;
        std::vector<std::string> columns;
    };
    std::vector<Relation> relations;  // Tables and views, by schema and name.
    std::vector<std::string> functions;
    std::vector<std::string> keywords;
    std::vector<std::string> settings;
};

// A name as SQL needs it: in quotes, unless it is lower-case letters, digits and underscores.
[[nodiscard]] std::string quoted_name(std::string_view name);

// What to ask the engine, and what to make of the answer.
[[nodiscard]] std::string_view catalogue_query();
[[nodiscard]] Catalogue catalogue_from(const Table& answer);

// Loads a catalogue in the background. Threads: one.
class CatalogueLoader {
public:
    explicit CatalogueLoader(bool sync) : sync_(sync) {}

    // Asks, unless it has asked for this generation. What was known stays until the answer is
    // there.
    void refresh(Client& client, std::uint32_t generation);
    void forget() { asked_.reset(); }
    [[nodiscard]] const Catalogue& get();

private:
    bool sync_;
    std::optional<std::uint32_t> asked_;
    std::future<Result<Table>> under_way_;
    Catalogue known_;
};

}  // namespace shortq::cli
