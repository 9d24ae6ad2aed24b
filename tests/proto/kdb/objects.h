// tests/proto/kdb/objects.h: kdb+ objects for tests: compared, made short, made at random.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "proto/kdb/object.h"
#include "tests/proto/bytes.h"

namespace shortq::kdb::test {

using shortq::test::Bytes;

// The object's bytes as hex: equal texts are equal objects, NaNs included.
std::string shown(const Object& object);
// Of the only object in `body`; fails the test and gives (::) if there is none.
Object decoded(std::span<const std::byte> body, ByteOrder order = ByteOrder::kLittle);
// A body without its message.
Bytes body_of(const Object& object, ByteOrder order = ByteOrder::kLittle);

Object symbols(std::vector<std::string> items);
Object longs(std::vector<std::int64_t> items);
Object dictionary(Object keys, Object values);

// Any object that can be sent, with up to `depth` levels.
Object random_object(std::mt19937_64& random, std::size_t depth);

}  // namespace shortq::kdb::test
