// shortq/arrow.h: results through the Arrow C data interface, for every library that speaks it:
// no value is converted or copied.
// Source: https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shortq/client.h"
#include "shortq/table.h"

// The structures, as their specifications print them, guards included: other headers may have them.
extern "C" {
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    struct ArrowSchema** children;
    struct ArrowSchema* dictionary;
    void (*release)(struct ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    struct ArrowArray** children;
    struct ArrowArray* dictionary;
    void (*release)(struct ArrowArray*);
    void* private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
    int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
    const char* (*get_last_error)(struct ArrowArrayStream*);
    void (*release)(struct ArrowArrayStream*);
    void* private_data;
};
#endif
}  // extern "C"

namespace shortq {

// All of these fill `out`, which must not hold anything and which the caller then owns: whoever is
// done with it calls out->release. What is exported shares the result's buffers and keeps them
// alive; the table, the client and the stream it came from may be gone.
// Errors: throw only std::bad_alloc.      Threads: any; what is exported may move to another one.

// A struct type ("+s") with a child per column.
void export_schema(const Schema& schema, ArrowSchema* out);

// One batch as a struct array, to go with export_schema(table.schema()).
// Pre: batch < table.batches().size().
void export_batch(const Table& table, std::size_t batch, ArrowArray* out);

// Every batch of a table, one after the other.
void export_stream(Table table, ArrowArrayStream* out);

// A result as it arrives. Its get_schema and get_next block; on an error of the query they return
// EIO, and get_last_error gives "code: message".
void export_stream(Stream stream, ArrowArrayStream* out);

}  // namespace shortq
