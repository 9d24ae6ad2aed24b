// client/text_numbers.h: numbers as DuckDB prints them.
#pragma once

#include <string>

#include "proto/cells.h"

namespace shortq::detail {

void append_integer(std::string& out, Int128 value);
void append_unsigned(std::string& out, UInt128 value);
// Scaled integers: 150 with scale 2 is "1.50". A precision equal to the scale has no digit before
// the point: ".50".
void append_decimal(std::string& out, Int128 value, const DecimalFormat& format);
// The shortest text that reads back as the same number: "1.0", "1e+16", "1e-05", "nan", "-inf".
void append_floating(std::string& out, float value);
void append_floating(std::string& out, double value);
// DuckDB's storage of BIGNUM: a three-byte header, then the magnitude, big endian; all bits
// inverted if negative.
void append_bignum(std::string& out, std::string_view storage);

}  // namespace shortq::detail
