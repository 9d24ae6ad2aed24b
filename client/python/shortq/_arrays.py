"""Record batches from frames: Arrow-layout arrays over the bytes as they came.

No byte is copied: an Array's buffers are views of the frames.
"""

from __future__ import annotations

import dataclasses
import struct
import sys
from collections.abc import Iterator, Sequence

from shortq._schema import Field, Layout
from shortq._wire import Malformed

_EMPTY = memoryview(b"")


@dataclasses.dataclass(frozen=True)
class Array:
    """One column of one batch, or a part of a nested one; offset is always 0.

    Buffers are in Arrow's order for the format, validity first where it has one; an absent one is
    empty. Trust it only after check_array().
    """

    length: int
    null_count: int
    buffers: tuple[memoryview, ...]
    children: tuple["Array", ...] = ()
    dictionary: tuple["Array", ...] = ()


@dataclasses.dataclass(frozen=True)
class Batch:
    rows: int
    columns: tuple[Array, ...]


def build_batch(fields: Sequence[Field], layout: Layout, frames: Sequence[memoryview]) -> Batch:
    """Pre: layout.frames == len(frames). Raises Malformed if the layout does not fit the schema
    or the frames. The contents of the buffers are not looked at."""
    builder = _Builder(layout, frames)
    columns = tuple(builder.array(field) for field in fields)
    builder.finish()
    return Batch(layout.rows, columns)


class _Builder:
    """Hands out the layout's nodes and the frames in order, shaped like the schema."""

    def __init__(self, layout: Layout, frames: Sequence[memoryview]) -> None:
        self._nodes = iter(layout.nodes)
        self._sizes: Iterator[int] = iter(layout.sizes)
        self._frames = iter(frames)

    def array(self, field: Field) -> Array:
        node = next(self._nodes, None)
        if node is None:
            raise Malformed("fewer columns than the schema has")
        buffers = tuple(self._buffer() for _ in range(node.buffers))
        children = tuple(self.array(child) for child in field.children)
        dictionary = tuple(self.array(values) for values in field.dictionary)
        return Array(node.length, node.null_count, buffers, children, dictionary)

    def _buffer(self) -> memoryview:
        size = next(self._sizes)
        if size == 0:
            return _EMPTY
        frame = next(self._frames)
        if len(frame) != size:
            raise Malformed(f"a buffer has {len(frame)} bytes instead of {size}")
        return frame

    def finish(self) -> None:
        if next(self._nodes, None) is not None:
            raise Malformed("more columns than the schema has")


def numbers(buffer: memoryview, code: str, count: int) -> Sequence[int]:
    """The first `count` numbers of a little-endian buffer; `code` is struct's. No copy where the
    machine's order is the same. Pre: the buffer is long enough."""
    size = struct.calcsize("<" + code) * count
    if sys.byteorder == "little" and code != "e":  # memoryview knows no half floats.
        return buffer[:size].cast(code)
    return struct.unpack(f"<{count}{code}", buffer[:size])


def bits(buffer: memoryview, count: int) -> list[bool]:
    """The first `count` bits, least significant first."""
    out: list[bool] = []
    for byte in bytes(buffer[: (count + 7) // 8]):
        out += _BITS_OF_BYTE[byte]
    return out[:count]


_BITS_OF_BYTE = [tuple(bool(byte >> bit & 1) for bit in range(8)) for byte in range(256)]
