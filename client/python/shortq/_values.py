"""Arrays to Python values. Trusts what check_batch() has proven."""

from __future__ import annotations

import decimal
import itertools
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Union

from shortq import _times as times
from shortq._arrays import Array, bits, numbers
from shortq._format import INTEGERS, Shape
from shortq._types import NESTED, Kind, Type

_VIEW_BYTES = 16
_INLINE_BYTES = 12


class Member(NamedTuple):
    """A union's cell with the number of the member that it holds; only where asked for."""

    child: int
    value: Any


def values_of(kind: Type, array: Array, tagged: bool = False) -> list[Any]:
    """One Python value per slot, None for nulls; README.md has the table of types.

    tagged: union cells come as Member instead of the bare value.
    """
    if array.length == 0:
        return []
    found = _READERS[kind.kind](kind, array, tagged)
    return _with_nulls(found, array) if kind.kind not in _WITHOUT_BITMAP else found


_WITHOUT_BITMAP = (Kind.NULL, Kind.UNION, Kind.RUNS)


def _with_nulls(values: Sequence[Any], array: Array) -> list[Any]:
    if array.null_count == 0:
        return values if isinstance(values, list) else list(values)
    valid = bits(array.buffers[0], array.length)
    return [value if there else None for value, there in zip(values, valid)]


def valid_at(array: Array, row: int) -> bool:
    return array.null_count == 0 or bool(array.buffers[0][row // 8] >> (row % 8) & 1)


# ---- numbers ----


def _nulls(_kind: Type, array: Array, _tagged: bool) -> list[Any]:
    return [None] * array.length


def _booleans(_kind: Type, array: Array, _tagged: bool) -> list[Any]:
    return bits(array.buffers[1], array.length)


def _numbers(kind: Type, array: Array, _tagged: bool) -> list[Any]:
    found = numbers(array.buffers[1], kind.layout.code, array.length)
    return found.tolist() if isinstance(found, memoryview) else list(found)


def _wide(kind: Type, array: Array, signed: bool) -> list[int]:
    if kind.layout.code:
        return list(numbers(array.buffers[1], kind.layout.code, array.length))
    width, data = kind.layout.width, bytes(array.buffers[1])
    return [
        int.from_bytes(data[at : at + width], "little", signed=signed)
        for at in range(0, array.length * width, width)
    ]


def _hugeints(kind: Type, array: Array, _tagged: bool) -> list[Any]:
    return _wide(kind, array, signed=kind.kind is Kind.HUGEINT)


def _decimals(kind: Type, array: Array, _tagged: bool) -> list[Any]:
    exponent = -(kind.layout.scale or 0)
    return [decimal.Decimal(f"{value}E{exponent}") for value in _wide(kind, array, signed=True)]


# ---- bytes ----


def _byte_slices(kind: Type, array: Array) -> list[bytes]:
    if kind.layout.shape is Shape.VIEWS:
        return _views(array)
    if kind.layout.shape is Shape.FIXED:
        data, width = bytes(array.buffers[1]), kind.layout.width
        return [data[row * width : (row + 1) * width] for row in range(array.length)]
    offsets = numbers(array.buffers[1], kind.layout.code, array.length + 1)
    data = bytes(array.buffers[2])
    return [data[begin:end] for begin, end in itertools.pairwise(offsets)]


def _views(array: Array) -> list[bytes]:
    words = numbers(array.buffers[1], "i", array.length * 4)
    slots = bytes(array.buffers[1])
    out = []
    for row in range(array.length):
        length, at = words[4 * row], row * _VIEW_BYTES + 4
        if not valid_at(array, row):
            out.append(b"")
        elif length <= _INLINE_BYTES:
            out.append(slots[at : at + length])
        else:
            number, offset = words[4 * row + 2], words[4 * row + 3]
            out.append(bytes(array.buffers[2 + number][offset : offset + length]))
    return out


def _text(raw: bytes) -> str:
    # What is not UTF-8 survives: encode("utf-8", "surrogateescape") gives the bytes back.
    return raw.decode("utf-8", "surrogateescape")


def _texts(kind: Type, array: Array, _tagged: bool) -> list[Any]:
    if kind.layout.shape is Shape.BYTES:
        data = bytes(array.buffers[2])
        if data.isascii():  # Then places in the text are places in the bytes.
            whole = data.decode("ascii")
            offsets = numbers(array.buffers[1], kind.layout.code, array.length + 1)
            return [whole[begin:end] for begin, end in itertools.pairwise(offsets)]
    return [_text(raw) for raw in _byte_slices(kind, array)]


def _each_bytes(convert: Callable[[bytes], Any]) -> Callable[[Type, Array, bool], list[Any]]:
    def read(kind: Type, array: Array, _tagged: bool) -> list[Any]:
        found = _byte_slices(kind, array)
        return [convert(raw) if valid_at(array, row) else None for row, raw in enumerate(found)]

    return read


def _bits_text(storage: bytes) -> str:
    """DuckDB's storage of BIT: the number of padding bits, then the bits behind that padding."""
    if not storage:
        return ""
    return "".join(f"{byte:08b}" for byte in storage[1:])[storage[0] :]


def _bignum(storage: bytes) -> int:
    """DuckDB's storage of BIGNUM: 3 bytes of length, the top bit set unless it is negative, then
    the magnitude, big-endian; negative ones have every bit flipped."""
    if len(storage) < 4:
        return 0
    if storage[0] & 0x80:
        return int.from_bytes(storage[3:], "big")
    return -int.from_bytes(bytes(byte ^ 0xFF for byte in storage[3:]), "big")


def _uuid(raw: bytes) -> Union[uuid.UUID, str]:
    if len(raw) == 16:
        return uuid.UUID(bytes=raw)
    try:
        return uuid.UUID(_text(raw))
    except ValueError:
        return _text(raw)


# ---- times ----


def _times(convert: Callable[[int, str], Any]) -> Callable[[Type, Array, bool], list[Any]]:
    """`convert` gets a number and the format's unit. Null slots hold anything: they are left."""

    def read(kind: Type, array: Array, _tagged: bool) -> list[Any]:
        found = numbers(array.buffers[1], kind.layout.code, array.length)
        unit = kind.arrow[2]
        return [
            convert(number, unit) if valid_at(array, row) else None
            for row, number in enumerate(found)
        ]

    return read


def _date(number: int, unit: str) -> times.DateOrText:
    return times.date_value(number if unit == "D" else number // 86_400_000)


def _duration(number: int, unit: str) -> times.Interval:
    return times.Interval(0, 0, number * (1_000_000_000 // times.UNITS_PER_SECOND[unit]))


def _intervals(kind: Type, array: Array, _tagged: bool) -> list[Any]:
    data = array.buffers[1]
    if kind.arrow == "tiM":
        return [times.Interval(months) for months in numbers(data, "i", array.length)]
    if kind.arrow == "tiD":
        parts = numbers(data, "i", 2 * array.length)
        return [
            times.Interval(0, days, millis * 1_000_000)
            for days, millis in zip(parts[::2], parts[1::2])
        ]
    halves = numbers(data, "i", 4 * array.length)
    nanos = numbers(data, "q", 2 * array.length)
    return [times.Interval(*parts) for parts in zip(halves[::4], halves[1::4], nanos[1::2])]


# ---- nested ----


def _lists(kind: Type, array: Array, tagged: bool) -> list[Any]:
    items = values_of(kind.children[0], array.children[0], tagged)
    return [items[begin:end] for begin, end in _ranges(kind, array)]


def _ranges(kind: Type, array: Array) -> Sequence[tuple[int, int]]:
    shape, code, count = kind.layout.shape, kind.layout.code, array.length
    if shape is Shape.FIXED_LIST:
        width = kind.layout.width
        return [(row * width, (row + 1) * width) for row in range(count)]
    if shape is Shape.LIST_VIEW:
        begins, sizes = (numbers(buffer, code, count) for buffer in array.buffers[1:])
        return [(begin, begin + size) for begin, size in zip(begins, sizes)]
    return list(itertools.pairwise(numbers(array.buffers[1], code, count + 1)))


def _structs(kind: Type, array: Array, tagged: bool) -> list[Any]:
    if not kind.children:
        return [{} for _ in range(array.length)]
    columns = [values_of(child, part, tagged) for child, part in zip(kind.children, array.children)]
    rows = itertools.islice(zip(*columns), array.length)
    if kind.kind is Kind.TUPLE:
        return list(rows)
    return [dict(zip(kind.names, row)) for row in rows]


def _maps(kind: Type, array: Array, tagged: bool) -> list[Any]:
    entries = array.children[0]
    columns = [
        values_of(child, part, tagged) for child, part in zip(kind.children, entries.children)
    ]
    pairs = list(zip(*columns))
    ranges = _ranges(kind, array)
    if kind.children[0].kind in NESTED:  # Lists and dicts cannot be keys in Python.
        return [pairs[begin:end] for begin, end in ranges]
    return [dict(pairs[begin:end]) for begin, end in ranges]


def _unions(kind: Type, array: Array, tagged: bool) -> list[Any]:
    columns = [values_of(child, part, tagged) for child, part in zip(kind.children, array.children)]
    places = {number: child for child, number in enumerate(kind.layout.type_ids)}
    members = [places[number] for number in numbers(array.buffers[0], "b", array.length)]
    rows: Sequence[int] = range(array.length)
    if kind.layout.shape is Shape.DENSE:
        rows = numbers(array.buffers[1], "i", array.length)
    cells = zip(members, rows)
    if tagged:
        return [Member(child, columns[child][row]) for child, row in cells]
    return [columns[child][row] for child, row in cells]


def _enums(kind: Type, array: Array, tagged: bool) -> list[Any]:
    words = values_of(kind.children[0], array.dictionary[0], tagged)
    indices = numbers(array.buffers[1], INTEGERS[kind.arrow], array.length)
    return [words[index] if valid_at(array, row) else None for row, index in enumerate(indices)]


def _runs(kind: Type, array: Array, tagged: bool) -> list[Any]:
    ends, values = (
        values_of(child, part, tagged) for child, part in zip(kind.children, array.children)
    )
    out: list[Any] = []
    for end, value in zip(ends, values):
        out += [value] * (min(end, array.length) - len(out))
    return out


_READERS: dict[Kind, Callable[[Type, Array, bool], list[Any]]] = {
    Kind.NULL: _nulls,
    Kind.BOOLEAN: _booleans,
    Kind.INTEGER: _numbers,
    Kind.FLOAT: _numbers,
    Kind.DOUBLE: _numbers,
    Kind.DECIMAL: _decimals,
    Kind.HUGEINT: _hugeints,
    Kind.UHUGEINT: _hugeints,
    Kind.BIGNUM: _each_bytes(_bignum),
    Kind.TEXT: _texts,
    Kind.JSON: _texts,
    Kind.UUID: _each_bytes(_uuid),
    Kind.TIMETZ: _each_bytes(lambda raw: times.timetz_value(_text(raw))),
    Kind.BLOB: _each_bytes(bytes),
    Kind.BIT: _each_bytes(_bits_text),
    Kind.DATE: _times(_date),
    Kind.TIME: _times(times.time_value),
    Kind.TIMESTAMP: _times(lambda number, unit: times.timestamp_value(number, unit, False)),
    Kind.TIMESTAMPTZ: _times(lambda number, unit: times.timestamp_value(number, unit, True)),
    Kind.DURATION: _times(_duration),
    Kind.INTERVAL: _intervals,
    Kind.LIST: _lists,
    Kind.STRUCT: _structs,
    Kind.TUPLE: _structs,
    Kind.MAP: _maps,
    Kind.UNION: _unions,
    Kind.ENUM: _enums,
    Kind.RUNS: _runs,
}
