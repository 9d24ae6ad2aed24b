"""Columns as numpy arrays, without a copy where the layout allows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from shortq._arrays import Array
from shortq._format import INTEGERS
from shortq._numpy import require_numpy
from shortq._types import Kind, Type
from shortq._values import values_of

_DTYPES = {
    "e": "<f2",
    "f": "<f4",
    "g": "<f8",
    **{
        arrow: {
            "b": "i1",
            "B": "u1",
            "h": "<i2",
            "H": "<u2",
            "i": "<i4",
            "I": "<u4",
            "q": "<i8",
            "Q": "<u8",
        }[code]
        for arrow, code in INTEGERS.items()
    },
}
_UNITS = {"s": "s", "m": "ms", "u": "us", "n": "ns"}
_INTERVAL = [("months", "<i4"), ("days", "<i4"), ("nanoseconds", "<i8")]


def stored_dtype(kind: Type) -> Optional[Any]:
    """The numpy type of a column that numpy can read as it is; None for any other."""
    if kind.kind in (Kind.INTEGER, Kind.FLOAT, Kind.DOUBLE):
        return _DTYPES[kind.arrow]
    if kind.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return f"<M8[{_UNITS[kind.arrow[2]]}]"
    if kind.kind is Kind.DURATION or kind.arrow in ("ttu", "ttn"):
        return f"<m8[{_UNITS[kind.arrow[2]]}]"
    return _INTERVAL if kind.arrow == "tin" else None


def values_array(kind: Type, array: Array) -> Any:
    """One batch of a column. Null slots hold anything: see null_mask()."""
    numpy = require_numpy()
    if (dtype := stored_dtype(kind)) is not None:
        if array.length == 0:
            return numpy.empty(0, dtype)
        return numpy.frombuffer(array.buffers[1], dtype, array.length)
    if kind.kind is Kind.BOOLEAN:
        return unpack_bits(array.buffers[1], array.length)
    if kind.arrow == "tdD":
        return numpy.frombuffer(array.buffers[1], "<i4", array.length).astype("<M8[D]")
    out = numpy.empty(array.length, object)
    out[:] = _objects(values_of(kind, array))
    return out


def _objects(values: Sequence[Any]) -> Any:
    """Assigned to a slice, lists of equal length would become a second dimension."""
    numpy = require_numpy()
    return numpy.fromiter(values, object, len(values))


def unpack_bits(buffer: memoryview, count: int) -> Any:
    numpy = require_numpy()
    found = numpy.frombuffer(buffer, numpy.uint8, (count + 7) // 8)
    return numpy.unpackbits(found, count=count, bitorder="little").view(bool)


def null_mask(kind: Type, array: Array) -> Any:
    """True where the cell is null."""
    numpy = require_numpy()
    if kind.kind is Kind.NULL:
        return numpy.ones(array.length, bool)
    if kind.kind in (Kind.UNION, Kind.RUNS) or (
        kind.kind is Kind.ENUM and array.dictionary[0].null_count
    ):
        values = values_of(kind, array)
        return numpy.fromiter((value is None for value in values), bool, len(values))
    if array.null_count == 0:
        return numpy.zeros(array.length, bool)
    return ~unpack_bits(array.buffers[0], array.length)
