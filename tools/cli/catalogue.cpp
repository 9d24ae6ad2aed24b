#include "tools/cli/catalogue.h"

#include <algorithm>
#include <chrono>

namespace shortq::cli {
namespace {

// kind, schema, name, column: columns of tables and views (c), relations (r), functions (f),
// keywords (k) and settings (s).
constexpr std::string_view kQuery = R"sql(
with place as (
    select database_name, schema_name, case
        when database_name <> current_database() and schema_name = 'main' then database_name
        when database_name <> current_database() then database_name || '.' || schema_name
        when schema_name = 'main' then ''
        else schema_name end as place
    from duckdb_schemas() where database_name not in ('system', 'temp')),
names as (
    select 'c' as kind, place, table_name as name, column_name as part, column_index as number
    from duckdb_columns() join place using (database_name, schema_name) where not internal
    union all
    select 'r', place, table_name, '', 0
    from duckdb_tables() join place using (database_name, schema_name) where not internal
    union all
    select 'r', place, view_name, '', 0
    from duckdb_views() join place using (database_name, schema_name) where not internal
    union all
    select distinct 'f', '', function_name, '', 0 from duckdb_functions()
    where regexp_full_match(function_name, '[a-z][a-z0-9_]*')
    union all
    select distinct 'k', '', keyword_name, '', 0 from duckdb_keywords()
    union all
    select distinct 's', '', name, '', 0 from duckdb_settings())
select kind, place, name, part from names order by kind desc, place, name, number limit 200000)sql";

// By schema and name.
Catalogue::Relation& relation_of(Catalogue& catalogue, const std::string& schema,
                                 const std::string& name) {
    auto& relations = catalogue.relations;
    const auto place = std::ranges::lower_bound(
        relations, std::pair(std::string_view(schema), std::string_view(name)), {},
        [](const Catalogue::Relation& relation) {
            return std::pair(std::string_view(relation.schema), std::string_view(relation.name));
        });
    if (place != relations.end() && place->schema == schema && place->name == name) return *place;
    return *relations.insert(place, {schema, name, {}});
}

}  // namespace

std::string quoted_name(std::string_view name) {
    const bool plain = !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
                       std::ranges::all_of(name, [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
                       });
    if (plain) return std::string(name);
    std::string quoted = "\"";
    for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
    return quoted + '"';
}

std::string_view catalogue_query() { return kQuery; }

Catalogue catalogue_from(const Table& answer) {
    Catalogue catalogue;
    for (std::uint64_t row = 0; row < answer.rows(); ++row) {
        const auto kind = answer.text(row, 0);
        auto name = answer.text(row, 2);
        if (kind == "r") {
            relation_of(catalogue, answer.text(row, 1), name);
        } else if (kind == "c") {
            relation_of(catalogue, answer.text(row, 1), name)
                .columns.push_back(answer.text(row, 3));
        } else {
            auto& list = kind == "f"   ? catalogue.functions
                         : kind == "k" ? catalogue.keywords
                                       : catalogue.settings;
            list.push_back(std::move(name));
        }
    }
    return catalogue;
}

void CatalogueLoader::refresh(Client& client, std::uint32_t state) {
    if (asked_ == state) return;
    asked_ = state;
    QueryOptions options;
    options.priority = RequestPriority::kLow;
    options.timeout = std::chrono::seconds(60);
    auto submitted =
        sync_ ? client.submit_sync(kQuery, {}, options) : client.submit(kQuery, {}, options);
    under_way_ = std::move(submitted.reply);
}

const Catalogue& CatalogueLoader::get() {
    if (under_way_.valid() &&
        under_way_.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
        const auto answer = under_way_.get();
        if (answer) {
            known_ = catalogue_from(*answer);
        } else {
            asked_.reset();  // Next time.
        }
    }
    return known_;
}

}  // namespace shortq::cli
