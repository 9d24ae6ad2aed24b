# Finds DuckDB's C API under DUCKDB_ROOT and defines duckdb::duckdb.
find_path(DuckDB_INCLUDE_DIR duckdb.h HINTS "${DUCKDB_ROOT}" PATH_SUFFIXES include "")
find_library(DuckDB_LIBRARY duckdb HINTS "${DUCKDB_ROOT}" PATH_SUFFIXES lib "")
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(DuckDB
    REQUIRED_VARS DuckDB_LIBRARY DuckDB_INCLUDE_DIR
    REASON_FAILURE_MESSAGE "Run tools/setup once, or pass -DDUCKDB_ROOT=<folder with include/duckdb.h and lib/libduckdb.so>.")
if(DuckDB_FOUND AND NOT TARGET duckdb::duckdb)
    add_library(duckdb::duckdb SHARED IMPORTED)
    set_target_properties(duckdb::duckdb PROPERTIES
        IMPORTED_LOCATION "${DuckDB_LIBRARY}"
        IMPORTED_SONAME libduckdb.so
        INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${DuckDB_INCLUDE_DIR}"
        INTERFACE_INCLUDE_DIRECTORIES "${DuckDB_INCLUDE_DIR}")
endif()
mark_as_advanced(DuckDB_INCLUDE_DIR DuckDB_LIBRARY)
