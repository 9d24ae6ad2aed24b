// worker/engine/array_joiner.h: arrays of one column, one after the other, as one larger array.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "proto/columnar.h"
#include "proto/format.h"
#include "worker/engine/byte_builder.h"

namespace shortq::engine {

// Copies arrays behind each other, nested ones included. Threads: one.
class ArrayBuilder {
public:
    ArrayBuilder(const Field& field, const std::shared_ptr<BlockPool>& pool);

    // Whether this array can go behind what is there: not string views, dense unions and runs, nor
    // another dictionary, nor what 32-bit offsets cannot reach.
    [[nodiscard]] bool can_append(const Array& array) const;
    void append(const Array& array);  // Pre: can_append().
    // Without dictionaries: they do not grow with the rows.
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] Array take();

private:
    [[nodiscard]] bool children_fit(const Array& array) const;
    template <class Offset>
    [[nodiscard]] bool reaches(std::size_t more) const;
    template <class Offset>
    void append_offsets(const Array& array);
    void append_own(const Array& array);

    proto::Format format_;
    bool known_ = false;  // The format.
    ValidityBuilder validity_;
    BitBuilder bits_;
    ByteBuilder values_;  // Fixed values, offsets, or type ids.
    ByteBuilder data_;    // Of texts.
    std::vector<ArrayBuilder> children_;
    std::optional<Array> dictionary_;
    std::size_t length_ = 0;
};

// The same, without a copy if there is only one array. Threads: one.
class ArrayJoiner {
public:
    ArrayJoiner(const Field& field, const std::shared_ptr<BlockPool>& pool)
        : builder_(field, pool) {}

    // Not const: what was held back so far may have to be copied for it.
    [[nodiscard]] bool can_append(const Array& array);
    void append(Array array);  // Pre: can_append(), right before.
    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] Array take();  // Pre: something was appended.

private:
    ArrayBuilder builder_;
    std::optional<Array> first_;  // Not in the builder yet.
    bool joined_ = false;
};

}  // namespace shortq::engine
