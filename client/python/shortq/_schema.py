"""The schema and layout frames of a reply (PROTOCOL.md#results)."""

from __future__ import annotations

import dataclasses
from typing import Any

from shortq import _limits as limits
from shortq._wire import Bytes, Malformed, unpack

_FIELD_ITEMS = 7
_NODE_ITEMS = 3


@dataclasses.dataclass(frozen=True)
class Field:
    """A column of a result, or a part of a nested one.

    format       of the Arrow C data interface: "l", "u", "tsu:", "d:18,3", "+l", ...
    engine_type  the engine's own name: "BIGINT", "DECIMAL(18,3)"; empty on nested fields.
    metadata     Arrow extension keys, if any.
    dictionary   empty, or the one type of the values that `format` holds indices of.
    """

    name: str
    format: str
    engine_type: str = ""
    nullable: bool = True
    metadata: tuple[tuple[str, bytes], ...] = ()
    children: tuple["Field", ...] = ()
    dictionary: tuple["Field", ...] = ()


@dataclasses.dataclass(frozen=True)
class Node:
    length: int
    null_count: int
    buffers: int


@dataclasses.dataclass(frozen=True)
class Layout:
    """The schema's fields in depth-first order, and the bytes of every buffer."""

    rows: int
    nodes: tuple[Node, ...]
    sizes: tuple[int, ...]

    @property
    def frames(self) -> int:
        """How many buffer frames follow: those of 0 bytes do not."""
        return sum(size != 0 for size in self.sizes)


def decode_schema(frame: Bytes) -> tuple[Field, ...]:
    """Raises Malformed. Depth and number of fields are bounded."""
    if len(frame) > limits.SCHEMA_BYTES_MAX:
        raise Malformed(f"the schema is over {limits.SCHEMA_BYTES_MAX} bytes")
    return _SchemaReader().fields(unpack(frame), depth=1)


class _SchemaReader:
    def __init__(self) -> None:
        self._seen = 0

    def fields(self, items: Any, depth: int) -> tuple[Field, ...]:
        if type(items) is not list:
            raise Malformed("a list of fields is not an array")
        if items and depth > limits.SCHEMA_DEPTH_MAX:
            raise Malformed(f"the schema is nested more than {limits.SCHEMA_DEPTH_MAX} deep")
        return tuple(self._field(item, depth) for item in items)

    def _field(self, item: Any, depth: int) -> Field:
        self._charge()
        if type(item) is not list or len(item) != _FIELD_ITEMS:
            raise Malformed(f"a field is not an array of {_FIELD_ITEMS}")
        name, form, engine_type, nullable, metadata, children, dictionary = item
        if not all(type(text) is str for text in (name, form, engine_type)):
            raise Malformed("a field's name, format or engine type is not text")
        if type(nullable) is not bool:
            raise Malformed("a field's nullable is not a bool")
        field = Field(
            name,
            form,
            engine_type,
            nullable,
            self._metadata(metadata),
            self.fields(children, depth + 1),
            self.fields(dictionary, depth + 1),
        )
        if len(field.dictionary) > 1:
            raise Malformed("a field has more than one dictionary")
        return field

    def _metadata(self, items: Any) -> tuple[tuple[str, bytes], ...]:
        if type(items) is not list or len(items) % 2 != 0:
            raise Malformed("a field's metadata is not an array of keys and values")
        pairs = list(zip(items[::2], items[1::2]))
        for key, value in pairs:
            self._charge()
            if type(key) is not str or type(value) is not bytes:
                raise Malformed("a metadata entry is not a text and bytes")
        return tuple(pairs)

    def _charge(self) -> None:
        self._seen += 1
        if self._seen > limits.FIELDS_MAX:
            raise Malformed(f"the schema has more than {limits.FIELDS_MAX} fields")


def decode_layout(frame: Bytes) -> Layout:
    """Raises Malformed. Every number is in its range; the sizes are as many as the buffers."""
    if len(frame) > limits.LAYOUT_BYTES_MAX:
        raise Malformed(f"the layout is over {limits.LAYOUT_BYTES_MAX} bytes")
    items = unpack(frame)
    if type(items) is not list or len(items) != 3:
        raise Malformed("the layout is not an array of rows, nodes and sizes")
    rows, numbers, sizes = items
    _check_counts([rows], limits.ROWS_PER_BATCH_MAX, "rows")
    nodes = _nodes(numbers)
    if type(sizes) is not list:
        raise Malformed("the sizes are not an array")
    _check_counts(sizes, limits.U64_MAX, "a buffer's size")
    if len(sizes) != sum(node.buffers for node in nodes):
        raise Malformed("there are not as many sizes as the nodes have buffers")
    return Layout(rows, nodes, tuple(sizes))


def _nodes(numbers: Any) -> tuple[Node, ...]:
    if type(numbers) is not list or len(numbers) % _NODE_ITEMS != 0:
        raise Malformed("the nodes are not an array of length, null count and buffers")
    _check_counts(numbers, limits.NODE_LENGTH_MAX, "a node's length")
    if len(numbers) // _NODE_ITEMS > limits.FIELDS_MAX:
        raise Malformed("the batch has too many columns")
    triples = zip(numbers[::3], numbers[1::3], numbers[2::3])
    nodes = tuple(Node(*triple) for triple in triples)
    if any(node.null_count > node.length for node in nodes):
        raise Malformed("a node has more nulls than values")
    if sum(node.buffers for node in nodes) > limits.BUFFERS_PER_BATCH_MAX:
        raise Malformed("the batch has too many buffers")
    return nodes


def _check_counts(items: list[Any], maximum: int, what: str) -> None:
    for item in items:
        if type(item) is not int or not 0 <= item <= maximum:
            raise Malformed(f"{what} is not an integer from 0 to {maximum}")
