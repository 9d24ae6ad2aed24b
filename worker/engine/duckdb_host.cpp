#include "worker/engine/duckdb_host.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "worker/engine/duckdb_errors.h"
#include "worker/engine/duckdb_handles.h"
#include "worker/engine/duckdb_parameters.h"
#include "worker/engine/duckdb_types.h"
#include "worker/engine/sql_lexer.h"

namespace shortq::engine {
namespace {

using Row = std::vector<Value>;
using Columns = std::vector<HostTable::Column>;

// What one execution has still to give out.
struct Rows {
    std::vector<Row> rows;
    std::size_t next = 0;
    bool called = false;
};

template <class T>
void delete_as(void* pointer) {
    std::default_delete<T>()(static_cast<T*>(pointer));
}

void declare_columns(duckdb_bind_info info, const Columns& columns) {
    for (const HostTable::Column& column : columns) {
        const LogicalType type(duckdb_create_logical_type(host_type(column.type)));
        duckdb_bind_add_result_column(info, column.name.c_str(), type.get());
    }
}

void write_null(duckdb_vector vector, idx_t row) {
    duckdb_vector_ensure_validity_writable(vector);
    duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
}

template <class T>
void write_as(duckdb_vector vector, idx_t row, T value) {
    static_cast<T*>(duckdb_vector_get_data(vector))[row] = value;
}

double as_double(const Value& value) {
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        return static_cast<double>(*integer);
    }
    return std::get<double>(value);
}

const std::string& as_bytes(const Value& value) {
    if (const auto* blob = std::get_if<Blob>(&value)) return blob->bytes;
    return std::get<std::string>(value);
}

// Throws std::bad_variant_access if the host gave a value of another type than it declared.
void write(duckdb_vector vector, idx_t row, duckdb_type type, const Value& value) {
    if (std::holds_alternative<Null>(value)) return write_null(vector, row);
    switch (type) {
        case DUCKDB_TYPE_BOOLEAN:
            return write_as<bool>(vector, row, std::get<bool>(value));
        case DUCKDB_TYPE_BIGINT:
            return write_as<std::int64_t>(vector, row, std::get<std::int64_t>(value));
        case DUCKDB_TYPE_DOUBLE:
            return write_as<double>(vector, row, as_double(value));
        case DUCKDB_TYPE_DATE:
            return write_as<std::int32_t>(vector, row, std::get<Date>(value).days);
        case DUCKDB_TYPE_TIMESTAMP:
            return write_as<std::int64_t>(vector, row, std::get<Timestamp>(value).microseconds);
        default: {
            const std::string& bytes = as_bytes(value);
            duckdb_vector_assign_string_element_len(vector, row, bytes.data(), bytes.size());
        }
    }
}

// Moves the next rows, at most a vector's worth, into DuckDB's chunk.
void fill(Rows& rows, const Columns& columns, duckdb_data_chunk output) {
    const std::size_t count =
        std::min<std::size_t>(duckdb_vector_size(), rows.rows.size() - rows.next);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const duckdb_vector vector = duckdb_data_chunk_get_vector(output, c);
        const duckdb_type type = host_type(columns[c].type);
        for (std::size_t r = 0; r < count; ++r) {
            write(vector, r, type, rows.rows[rows.next + r].at(c));
        }
    }
    rows.next += count;
    duckdb_data_chunk_set_size(output, count);
}

void init_rows(duckdb_init_info info) {
    duckdb_init_set_max_threads(info, 1);
    duckdb_init_set_init_data(info, std::make_unique<Rows>().release(), delete_as<Rows>);
}

Result<void> check_types(const std::string& name, const Columns& columns) {
    for (const HostTable::Column& column : columns) {
        if (host_type(column.type) == DUCKDB_TYPE_INVALID) {
            return fail(ErrorCode::kInternal,
                        name + "." + column.name + ": no host type " + column.type);
        }
    }
    return {};
}

Result<void> add_function(duckdb_connection connection, duckdb_table_function function,
                          const std::string& name) {
    if (duckdb_register_table_function(connection, function) == DuckDBSuccess) return {};
    return fail(ErrorCode::kInternal, "the engine does not take the function " + name);
}

}  // namespace

struct DuckDbHost::Table {
    HostTable table;

    static void bind(duckdb_bind_info info) {
        const auto* self = static_cast<const Table*>(duckdb_bind_get_extra_info(info));
        declare_columns(info, self->table.columns);
    }

    static void run(duckdb_function_info info, duckdb_data_chunk output) try {
        const auto* self = static_cast<const Table*>(duckdb_function_get_extra_info(info));
        auto& rows = *static_cast<Rows*>(duckdb_function_get_init_data(info));
        if (!std::exchange(rows.called, true)) rows.rows = self->table.rows();
        fill(rows, self->table.columns, output);
    } catch (const std::exception& error) {
        duckdb_function_set_error(info, error.what());
    }
};

struct DuckDbHost::Call {
    HostCall call;
    std::vector<duckdb_type> parameter_types;
    std::optional<Error>* error = nullptr;

    static void bind(duckdb_bind_info info) {
        const auto* self = static_cast<const Call*>(duckdb_bind_get_extra_info(info));
        declare_columns(info, self->call.columns);
        auto arguments = std::make_unique<Row>();
        for (std::size_t i = 0; i < self->parameter_types.size(); ++i) {
            const DuckValue value(duckdb_bind_get_parameter(info, i));
            arguments->push_back(from_duckdb(value.get(), self->parameter_types[i]));
        }
        duckdb_bind_set_bind_data(info, arguments.release(), delete_as<Row>);
    }

    static void run(duckdb_function_info info, duckdb_data_chunk output) try {
        const auto* self = static_cast<const Call*>(duckdb_function_get_extra_info(info));
        auto& rows = *static_cast<Rows*>(duckdb_function_get_init_data(info));
        if (!std::exchange(rows.called, true)) {
            const auto& arguments = *static_cast<const Row*>(duckdb_function_get_bind_data(info));
            auto row = self->call.invoke(arguments);
            if (!row) {
                *self->error = row.error();
                return duckdb_function_set_error(info, row.error().message.c_str());
            }
            rows.rows.push_back(std::move(*row));
        }
        fill(rows, self->call.columns, output);
    } catch (const std::exception& error) {
        duckdb_function_set_error(info, error.what());
    }
};

DuckDbHost::DuckDbHost(std::vector<HostTable> tables, std::vector<HostCall> calls)
    : error_(std::make_unique<std::optional<Error>>()) {
    for (HostTable& table : tables) {
        tables_.push_back(std::make_unique<Table>(Table{std::move(table)}));
    }
    for (HostCall& call : calls) {
        calls_.push_back(std::make_unique<Call>(Call{std::move(call), {}, error_.get()}));
    }
}

DuckDbHost::~DuckDbHost() = default;

Result<void> DuckDbHost::install(duckdb_connection connection) {
    for (const auto& table : tables_) {
        if (auto done = install_table(connection, *table); !done) return done;
    }
    for (const auto& call : calls_) {
        if (auto done = install_call(connection, *call); !done) return done;
    }
    return {};
}

// A function that gives the rows, and a view that gives it the table's name.
Result<void> DuckDbHost::install_table(duckdb_connection connection, Table& host) {
    const HostTable& table = host.table;
    if (auto known = check_types(table.name, table.columns); !known) return known;
    const std::string function_name = "__" + table.schema + "_" + table.name;
    const TableFunction function(duckdb_create_table_function());
    duckdb_table_function_set_name(function.get(), function_name.c_str());
    duckdb_table_function_set_extra_info(function.get(), &host, nullptr);
    duckdb_table_function_set_bind(function.get(), Table::bind);
    duckdb_table_function_set_init(function.get(), init_rows);
    duckdb_table_function_set_function(function.get(), Table::run);
    if (auto done = add_function(connection, function.get(), function_name); !done) return done;
    const std::string schema = quote_identifier(table.schema);
    if (auto done = execute(connection, "CREATE SCHEMA IF NOT EXISTS " + schema); !done) {
        return done;
    }
    // In full: a macro of the same name must not take its place.
    return execute(connection, "CREATE VIEW " + schema + "." + quote_identifier(table.name) +
                                   " AS SELECT * FROM system.main." +
                                   quote_identifier(function_name) + "()");
}

Result<void> DuckDbHost::install_call(duckdb_connection connection, Call& host) {
    if (auto known = check_types(host.call.name, host.call.columns); !known) return known;
    const TableFunction function(duckdb_create_table_function());
    duckdb_table_function_set_name(function.get(), host.call.name.c_str());
    for (const std::string& type : host.call.parameter_types) {
        host.parameter_types.push_back(host_type(type));
        const LogicalType logical(duckdb_create_logical_type(host_type(type)));
        duckdb_table_function_add_parameter(function.get(), logical.get());
    }
    duckdb_table_function_set_extra_info(function.get(), &host, nullptr);
    duckdb_table_function_set_bind(function.get(), Call::bind);
    duckdb_table_function_set_init(function.get(), init_rows);
    duckdb_table_function_set_function(function.get(), Call::run);
    return add_function(connection, function.get(), host.call.name);
}

std::optional<Error> DuckDbHost::take_error() { return std::exchange(*error_, std::nullopt); }

}  // namespace shortq::engine
