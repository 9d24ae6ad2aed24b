// worker/engine/statement_gate.h: which statements an engine accepts. A whitelist, applied twice:
// to the tokens, before the parser may act on the text (preparing an EXPORT creates its folder),
// and to the class that the engine itself gives the prepared statement.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/error.h"
#include "worker/engine/engine.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {

// What the tokens of one statement say about it.
struct Judgement {
    bool known = true;         // False: no statement starts like this; the parser has the word.
    bool pivot = false;        // The parser may split it: CREATE TYPE, then SELECT.
    bool transaction = false;  // BEGIN, COMMIT, ROLLBACK, or an EXECUTE.
    // The statement inside EXPLAIN or PREPARE, to be prepared and judged too; else empty.
    std::string_view inner;
};

// `unjudged`: functions to refuse besides ours, in lower case, sorted.
// Errors: kReadOnly saying what is refused and what is allowed; kBadRequest for one EXPLAIN in
// another and so on, deeper than SQL goes.
[[nodiscard]] Result<Judgement> judge(const Statement& statement, Access access,
                                      const std::vector<std::string>& unjudged = {});

// Judges the class number that duckdb_prepared_statement_type() gave. Errors: kReadOnly.
[[nodiscard]] Result<void> judge_class(int statement_class, Access access);

// The same for one of the statements that the parser makes of a reader's PIVOT: temporary types and
// transactions around them, then the query. Errors: kReadOnly.
[[nodiscard]] Result<void> judge_pivot_part(int statement_class);

// Functions refused wherever they are called: they change state of the engine or the process, take
// SQL as text, or read raw memory. Sorted. The second list is refused with Access::kReadOnly only.
[[nodiscard]] const std::vector<std::string_view>& refused_functions();
[[nodiscard]] const std::vector<std::string_view>& stateful_functions();
// Pragmas that only read. Sorted.
[[nodiscard]] const std::vector<std::string_view>& reading_pragmas();

}  // namespace shortq::engine
