"""What a column holds: a field's Arrow format and the engine's name of its type, resolved once.

Everything that depends on a type (values, text, numpy) branches on Type.kind and nothing else.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Sequence

from shortq._engine_type import argument_types, element_type
from shortq._format import INTEGERS, Format, Shape, parse_format
from shortq._schema import Field


class Kind(enum.Enum):
    NULL = enum.auto()
    BOOLEAN = enum.auto()
    INTEGER = enum.auto()
    FLOAT = enum.auto()  # 16 and 32 bits
    DOUBLE = enum.auto()
    DECIMAL = enum.auto()
    HUGEINT = enum.auto()
    UHUGEINT = enum.auto()
    BIGNUM = enum.auto()
    TEXT = enum.auto()
    JSON = enum.auto()
    UUID = enum.auto()
    TIMETZ = enum.auto()
    BLOB = enum.auto()
    BIT = enum.auto()
    DATE = enum.auto()
    TIME = enum.auto()
    TIMESTAMP = enum.auto()
    TIMESTAMPTZ = enum.auto()
    DURATION = enum.auto()
    INTERVAL = enum.auto()
    LIST = enum.auto()
    STRUCT = enum.auto()
    TUPLE = enum.auto()  # A struct whose fields have no names.
    MAP = enum.auto()
    UNION = enum.auto()
    ENUM = enum.auto()  # Any dictionary column.
    RUNS = enum.auto()


NESTED = frozenset({Kind.LIST, Kind.STRUCT, Kind.TUPLE, Kind.MAP, Kind.UNION})


@dataclasses.dataclass(frozen=True)
class Type:
    """kind      how to read a value.
    layout    where its bytes are.
    arrow     the format string; its third letter is the unit of times.
    children  of nested kinds; for ENUM the type of the values.
    names     of a struct's or union's children.
    """

    kind: Kind
    layout: Format
    arrow: str
    children: tuple["Type", ...] = ()
    names: tuple[str, ...] = ()


_TEXT_KINDS = {
    "JSON": Kind.JSON,
    "UUID": Kind.UUID,
    "TIME WITH TIME ZONE": Kind.TIMETZ,
    "TIMETZ": Kind.TIMETZ,
}
_BYTES_KINDS = {"BIT": Kind.BIT, "BIGNUM": Kind.BIGNUM, "VARINT": Kind.BIGNUM, "UUID": Kind.UUID}
_HUGE_KINDS = {"HUGEINT": Kind.HUGEINT, "UHUGEINT": Kind.UHUGEINT}
_LISTS = (Shape.LIST, Shape.LIST_VIEW, Shape.FIXED_LIST)
_UNIONS = (Shape.SPARSE, Shape.DENSE)


def resolve(field: Field, engine_type: str) -> Type:
    """Pre: the field's format is known to parse_format()."""
    layout = parse_format(field.format)
    assert layout is not None, field.format
    if field.dictionary:
        return Type(Kind.ENUM, layout, field.format, (resolve(field.dictionary[0], ""),))
    if layout.shape in _LISTS:
        return _nested(Kind.LIST, layout, field, [element_type(engine_type)])
    if layout.shape is Shape.STRUCT:
        named = all(child.name for child in field.children)
        kind = Kind.STRUCT if named else Kind.TUPLE
        return _nested(kind, layout, field, argument_types(engine_type, named))
    if layout.shape in _UNIONS:
        return _nested(Kind.UNION, layout, field, argument_types(engine_type, True))
    if layout.shape is Shape.MAP:
        entries = field.children[0]
        return _nested(Kind.MAP, layout, entries, argument_types(engine_type, False), field.format)
    if layout.shape is Shape.RUNS:
        return _nested(Kind.RUNS, layout, field, ["", engine_type])
    return Type(_plain_kind(field.format, layout, engine_type), layout, field.format)


def _nested(
    kind: Kind, layout: Format, field: Field, names: Sequence[str], arrow: str = ""
) -> Type:
    engine_types = [*names, *[""] * len(field.children)]
    children = tuple(map(resolve, field.children, engine_types))
    return Type(
        kind, layout, arrow or field.format, children, tuple(child.name for child in field.children)
    )


def _plain_kind(arrow: str, layout: Format, engine_type: str) -> Kind:
    if arrow in _KINDS:
        return _KINDS[arrow]
    if layout.scale is not None:
        is_huge = layout.scale == 0 and layout.width == 16
        return _HUGE_KINDS.get(engine_type, Kind.DECIMAL) if is_huge else Kind.DECIMAL
    if arrow in ("u", "U", "vu"):
        return _TEXT_KINDS.get(engine_type, Kind.TEXT)
    if arrow.startswith("ts"):
        return Kind.TIMESTAMP if arrow.endswith(":") else Kind.TIMESTAMPTZ
    if arrow == "w:16" or not arrow.startswith("w:"):
        return _BYTES_KINDS.get(engine_type, Kind.BLOB)
    return Kind.BLOB


_KINDS = {
    "n": Kind.NULL, "b": Kind.BOOLEAN, "e": Kind.FLOAT, "f": Kind.FLOAT, "g": Kind.DOUBLE,
    "tdD": Kind.DATE, "tdm": Kind.DATE,
    "tts": Kind.TIME, "ttm": Kind.TIME, "ttu": Kind.TIME, "ttn": Kind.TIME,
    "tDs": Kind.DURATION, "tDm": Kind.DURATION, "tDu": Kind.DURATION, "tDn": Kind.DURATION,
    "tiM": Kind.INTERVAL, "tiD": Kind.INTERVAL, "tin": Kind.INTERVAL,
    **{arrow: Kind.INTEGER for arrow in INTEGERS},
}  # fmt: skip
