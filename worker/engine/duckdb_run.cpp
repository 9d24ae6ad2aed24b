#include "worker/engine/duckdb_run.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "worker/engine/duckdb_arrow.h"
#include "worker/engine/duckdb_batches.h"
#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_handles.h"
#include "worker/engine/duckdb_parameters.h"
#include "worker/engine/sql_lexer.h"
#include "worker/engine/statement_gate.h"

namespace shortq::engine {
namespace {

constexpr std::size_t kStatementsMax = 4096;  // Of one text: all are prepared before one runs.

// One statement of the text. The parser makes several of a PIVOT: they are its parts.
struct Step {
    Statement statement;
    Judgement judgement;
    Extracted parts;
    idx_t part_count = 0;
    std::vector<Prepared> prepared;  // All parts, or none yet.
    bool takes_parameters = false;
};

Error cancelled() { return {ErrorCode::kCancelled, "the query was interrupted", {}, false}; }

bool takes_parameters(const Statement& statement) {
    return std::ranges::any_of(statement.tokens,
                               [](const Token& t) { return t.kind == TokenKind::kParameter; });
}

class QueryRun {
public:
    QueryRun(const RunContext& context, const Query& query, ResultSink& sink)
        : context_(context), query_(query), sink_(sink) {}

    Result<void> run() {
        if (query_.text.find('\0') != std::string_view::npos) {
            return fail(ErrorCode::kBadRequest, "the query holds a NUL byte");
        }
        if (Prepared known = context_.cache.take(query_.text)) return run_known(std::move(known));
        auto planned = plan();
        if (!planned) return planned;
        if (auto fenced = enter_fence(); !fenced) return fenced;
        auto done = run_steps();
        leave_transaction();
        if (done) remember();
        return done;
    }

private:
    bool read_only() const { return context_.access == Access::kReadOnly; }

    Result<void> run_known(Prepared prepared) {
        if (auto bound = bind_parameters(prepared.get(), query_.parameters); !bound) {
            context_.cache.put(query_.text, std::move(prepared));
            return bound;
        }
        if (auto fenced = enter_fence(); !fenced) return fenced;
        auto done = execute_prepared(prepared.get(), true);
        leave_transaction();
        if (done) keep(std::move(prepared));
        return done;
    }

    void keep(Prepared prepared) {
        duckdb_clear_bindings(prepared.get());
        context_.cache.put(query_.text, std::move(prepared));
    }

    // Only a lone query is worth keeping, and safe: its class cannot change.
    void remember() {
        if (steps_.size() != 1 || steps_[0].prepared.size() != 1) return;
        Prepared& prepared = steps_[0].prepared[0];
        if (duckdb_prepared_statement_type(prepared.get()) == DUCKDB_STATEMENT_TYPE_SELECT) {
            keep(std::move(prepared));
        }
    }

    // ---- Judging: the whole text, before any of it runs ----

    Result<void> plan() {
        plain_text_ = with_plain_spaces(query_.text);
        auto statements = split_statements(plain_text_ ? *plain_text_ : query_.text);
        if (statements.empty()) return fail(ErrorCode::kBadRequest, "the query is empty");
        if (statements.size() > kStatementsMax) {
            return fail(ErrorCode::kTooLarge,
                        "a query holds at most " + std::to_string(kStatementsMax) +
                            " statements, this one " + std::to_string(statements.size()));
        }
        for (Statement& statement : statements) {
            auto judgement = judge(statement, context_.access, context_.fence.unjudged_functions);
            if (!judgement) return tl::unexpected(judgement.error());
            Step& step = steps_.emplace_back();
            step.takes_parameters = takes_parameters(statement);
            step.statement = std::move(statement);
            step.judgement = *judgement;
        }
        if (auto placed = place_parameters(); !placed) return placed;
        for (Step& step : steps_) {
            if (context_.stop) return tl::unexpected(cancelled());
            if (auto parsed = parse(step); !parsed) return parsed;
        }
        for (Step& step : steps_) {
            if (context_.stop) return tl::unexpected(cancelled());
            if (auto judged = judge_inner(step); !judged) return judged;
            // Later statements of a text that changes things may need what earlier ones make.
            if (!read_only() || step.part_count > 1) continue;
            if (auto prepared = prepare(step, 0); !prepared) return prepared;
        }
        return {};
    }

    // `?` counts from 1 in each statement, so the parameters can be for one of them only.
    Result<void> place_parameters() const {
        const auto takers = std::ranges::count_if(steps_, &Step::takes_parameters);
        if (takers > 1) {
            return fail(ErrorCode::kBadRequest,
                        "several statements of the text take parameters; only one may");
        }
        if (takers == 0 && !query_.parameters.empty()) {
            return fail(ErrorCode::kBadRequest,
                        "the query takes no parameters, " +
                            std::to_string(query_.parameters.size()) +
                            (query_.parameters.size() == 1 ? " was given" : " were given"));
        }
        return {};
    }

    Result<void> parse(Step& step) const {
        const std::string text(step.statement.text);
        step.part_count =
            duckdb_extract_statements(context_.connection, text.c_str(), step.parts.out());
        if (step.part_count == 0) {
            if (duckdb_extract_statements_error(step.parts.get()) == nullptr) {
                return fail(ErrorCode::kBadRequest, "the engine finds no statement in: " + text);
            }
            return tl::unexpected(error_from(duckdb_extract_statements_error(step.parts.get())));
        }
        if (!step.judgement.known) {
            return fail(ErrorCode::kReadOnly,
                        "a statement that starts with " +
                            std::string(step.statement.tokens.front().text()) + " is refused");
        }
        if (step.part_count > 1 && !step.judgement.pivot) {
            return fail(ErrorCode::kReadOnly,
                        "the engine sees several statements where there should be one");
        }
        return {};
    }

    // EXPLAIN has a class of its own, whatever it explains.
    Result<void> judge_inner(const Step& step) const {
        if (step.judgement.inner.empty() || step.part_count > 1) return {};
        const std::string text(step.judgement.inner);
        Prepared inner;
        if (duckdb_prepare(context_.connection, text.c_str(), inner.out()) != DuckDBSuccess) {
            return tl::unexpected(error_from(duckdb_prepare_error(inner.get())));
        }
        return judge_class(duckdb_prepared_statement_type(inner.get()), context_.access);
    }

    Result<void> prepare(Step& step, idx_t part) const {
        Prepared& prepared = step.prepared.emplace_back();
        if (duckdb_prepare_extracted_statement(context_.connection, step.parts.get(), part,
                                               prepared.out()) != DuckDBSuccess) {
            // Asking a failed one for its class would abort the process.
            return tl::unexpected(error_from(duckdb_prepare_error(prepared.get())));
        }
        const int type = duckdb_prepared_statement_type(prepared.get());
        if (step.part_count > 1 && read_only()) return judge_pivot_part(type);
        return judge_class(type, context_.access);
    }

    // ---- Running ----

    Result<void> run_steps() {
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const bool last = i + 1 == steps_.size();
            auto done =
                steps_[i].part_count > 1 ? run_pivot(steps_[i], last) : run_step(steps_[i], last);
            if (!done) return done;
        }
        return {};
    }

    Result<void> run_step(Step& step, bool last) const {
        if (context_.stop) return tl::unexpected(cancelled());
        if (step.prepared.empty()) {
            if (auto prepared = prepare(step, 0); !prepared) return prepared;
        }
        return bind_and_execute(step, step.prepared.back().get(), last);
    }

    Result<void> bind_and_execute(const Step& step, duckdb_prepared_statement prepared,
                                  bool last) const {
        // Also if none were given: the statement may wait for some.
        const bool mine = step.takes_parameters && duckdb_nparams(prepared) > 0;
        if (mine) {
            if (auto bound = bind_parameters(prepared, query_.parameters); !bound) return bound;
        }
        return execute_prepared(prepared, last);
    }

    // The parts make a temporary type, then query with it. For a reader both happen in a read-only
    // transaction that is rolled back: the type is gone, and nothing else could have been written.
    Result<void> run_pivot(Step& step, bool last) {
        const bool fenced = in_transaction_;
        if (read_only() && !fenced) {
            if (auto begun = begin_reading(); !begun) return begun;
        }
        auto done = run_parts(step, last);
        if (read_only() && !fenced) leave_transaction();
        return done;
    }

    // A reader's own words were judged, but not the views and macros of the script that it uses.
    Result<void> enter_fence() {
        if (!read_only() || !context_.fence.sequences) return {};
        return begin_reading();
    }

    Result<void> begin_reading() {
        auto begun = execute(context_.connection, "BEGIN TRANSACTION READ ONLY");
        in_transaction_ = begun.has_value();
        return begun;
    }

    Result<void> run_parts(Step& step, bool last) {
        for (idx_t part = 0; part < step.part_count; ++part) {
            if (context_.stop) return tl::unexpected(cancelled());
            step.prepared.clear();
            if (auto prepared = prepare(step, part); !prepared) return prepared;
            const auto prepared = step.prepared.back().get();
            const auto type = duckdb_prepared_statement_type(prepared);
            if (type == DUCKDB_STATEMENT_TYPE_TRANSACTION && read_only()) continue;
            const bool query =
                type != DUCKDB_STATEMENT_TYPE_TRANSACTION &&
                (part + 1 == step.part_count || judge_class(type, Access::kReadOnly));
            if (auto done = bind_and_execute(step, prepared, last && query); !done) return done;
        }
        step.prepared.clear();
        return {};
    }

    void leave_transaction() {
        const bool touched = in_transaction_ || std::ranges::any_of(steps_, [](const Step& step) {
                                 return step.judgement.transaction;
                             });
        if (!touched) return;
        in_transaction_ = false;
        // Fails if there is none to roll back, which is as good; but an interrupt that comes late
        // must not leave it open.
        constexpr int kAttempts = 8;
        for (int i = 0; i < kAttempts; ++i) {
            const auto done = execute(context_.connection, "ROLLBACK");
            if (done || done.error().code != ErrorCode::kCancelled) return;
        }
    }

    Result<void> execute_prepared(duckdb_prepared_statement prepared, bool deliver) const {
        QueryResult result;
        if (duckdb_execute_prepared_streaming(prepared, result.get()) != DuckDBSuccess) {
            return tl::unexpected(error_from(result.get()));
        }
        auto done = deliver ? deliver_result(result) : drain(result);
        const bool by_itself = !done && done.error().code == ErrorCode::kCancelled &&
                               duckdb_result_error(result.get()) != nullptr && !context_.stop;
        return by_itself && read_only() ? real_error(prepared, std::move(done)) : done;
    }

    // A task that fails interrupts the others, and whoever fetches may see the interrupt before the
    // error, which is lost then. A reader can be run again for it; nobody gets its rows.
    Result<void> real_error(duckdb_prepared_statement prepared, Result<void> seen) const {
        constexpr int kAttempts = 10;
        for (int i = 0; i < kAttempts && !context_.stop; ++i) {
            QueryResult result;
            if (duckdb_execute_prepared_streaming(prepared, result.get()) != DuckDBSuccess) {
                return tl::unexpected(error_from(result.get()));
            }
            auto again = drain(result);
            if (!again && again.error().code != ErrorCode::kCancelled) return again;
        }
        return seen;
    }

    // Rows nobody asked for are computed all the same: they may have effects, or fail.
    Result<void> drain(QueryResult& result) const {
        while (Chunk(duckdb_fetch_chunk(*result.get()))) {
            if (context_.stop) return tl::unexpected(cancelled());
        }
        return end_of(result);
    }

    static Result<void> end_of(QueryResult& result) {
        if (duckdb_result_error(result.get()) == nullptr) return {};
        return tl::unexpected(error_from(result.get()));
    }

    Result<void> deliver_result(QueryResult& result) const {
        if (duckdb_result_return_type(*result.get()) == DUCKDB_RESULT_TYPE_NOTHING) {
            if (!sink_.begin({})) return tl::unexpected(cancelled());
            return drain(result);
        }
        const ArrowOptions options(duckdb_result_get_arrow_options(result.get()));
        const auto schema = schema_of(options.get(), result.get());
        if (!schema) return tl::unexpected(schema.error());
        if (!sink_.begin(*schema)) return tl::unexpected(cancelled());
        BatchBuilder builder(options.get(), result.get(), *schema);
        while (const Chunk chunk{duckdb_fetch_chunk(*result.get())}) {
            if (duckdb_data_chunk_get_size(chunk.get()) == 0) continue;
            if (auto added = add(builder, chunk.get()); !added) return added;
            if (context_.stop) return tl::unexpected(cancelled());
        }
        if (auto ended = end_of(result); !ended || builder.rows() == 0) return ended;
        return deliver(builder);
    }

    Result<void> add(BatchBuilder& builder, duckdb_data_chunk chunk) const {
        auto added = builder.append(chunk);
        if (added && !*added) {
            if (auto done = deliver(builder); !done) return done;
            added = builder.append(chunk);
        }
        if (!added) return tl::unexpected(added.error());
        return builder.full() ? deliver(builder) : Result<void>{};
    }

    Result<void> deliver(BatchBuilder& builder) const {
        if (sink_.batch(builder.take())) return {};
        return tl::unexpected(cancelled());
    }

    const RunContext& context_;
    const Query& query_;
    ResultSink& sink_;
    std::optional<std::string> plain_text_;  // What the steps point into, if not the query's own.
    std::vector<Step> steps_;
    bool in_transaction_ = false;
};

}  // namespace

Result<void> run_query(const RunContext& context, const Query& query, ResultSink& sink) {
    return QueryRun(context, query, sink).run();
}

}  // namespace shortq::engine
