"""What an Arrow format string says about a column's buffers (PROTOCOL.md#results).

Source: Apache Arrow, "The Arrow C data interface", "Data type description -- format strings".
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import re
from typing import Optional


class Shape(enum.Enum):
    NULL = "no buffers"
    BITS = "validity, bits"
    FIXED = "validity, values of `width` bytes"
    BYTES = "validity, offsets, data"
    VIEWS = "validity, views, any number of data buffers"
    LIST = "validity, offsets; one child"
    LIST_VIEW = "validity, offsets, sizes; one child"
    FIXED_LIST = "validity; one child, `width` of its values per row"
    STRUCT = "validity; any children"
    MAP = "validity, offsets; one child, a struct of key and value"
    SPARSE = "type ids; a child per id, as long as the union"
    DENSE = "type ids, offsets; a child per id"
    RUNS = "no buffers; children run ends and values"


BUFFER_COUNTS = {
    Shape.NULL: 0,
    Shape.RUNS: 0,
    Shape.FIXED_LIST: 1,
    Shape.STRUCT: 1,
    Shape.SPARSE: 1,
    Shape.BITS: 2,
    Shape.FIXED: 2,
    Shape.VIEWS: 2,
    Shape.LIST: 2,
    Shape.MAP: 2,
    Shape.DENSE: 2,
    Shape.BYTES: 3,
    Shape.LIST_VIEW: 3,
}  # For VIEWS the least.
WITHOUT_VALIDITY = frozenset({Shape.NULL, Shape.SPARSE, Shape.DENSE, Shape.RUNS})


@dataclasses.dataclass(frozen=True)
class Format:
    """A format string, taken apart.

    width     FIXED: bytes of a value. FIXED_LIST: values of a row.
    code      FIXED, where a value is one number: its struct code. BYTES, LIST, LIST_VIEW, MAP:
              that of the offsets.
    type_ids  unions: the children's ids, in the children's order.
    scale     decimals; None for everything else.
    """

    shape: Shape
    width: int = 0
    code: str = ""
    type_ids: tuple[int, ...] = ()
    scale: Optional[int] = None


INTEGERS = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q"}
_WIDTHS = {"b": 1, "B": 1, "h": 2, "H": 2, "e": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}
_NUMBERS = {
    **INTEGERS,
    "e": "e",
    "f": "f",
    "g": "d",
    "tdD": "i",
    "tdm": "q",
    "tts": "i",
    "ttm": "i",
    "ttu": "q",
    "ttn": "q",
    "tDs": "q",
    "tDm": "q",
    "tDu": "q",
    "tDn": "q",
    "tiM": "i",
}
_PLAIN = {
    "n": Format(Shape.NULL),
    "b": Format(Shape.BITS),
    "u": Format(Shape.BYTES, code="i"),
    "z": Format(Shape.BYTES, code="i"),
    "U": Format(Shape.BYTES, code="q"),
    "Z": Format(Shape.BYTES, code="q"),
    "vu": Format(Shape.VIEWS),
    "vz": Format(Shape.VIEWS),
    "+l": Format(Shape.LIST, code="i"),
    "+L": Format(Shape.LIST, code="q"),
    "+vl": Format(Shape.LIST_VIEW, code="i"),
    "+vL": Format(Shape.LIST_VIEW, code="q"),
    "+s": Format(Shape.STRUCT),
    "+m": Format(Shape.MAP, code="i"),
    "+r": Format(Shape.RUNS),
    "tiD": Format(Shape.FIXED, width=8),
    "tin": Format(Shape.FIXED, width=16),
    **{text: Format(Shape.FIXED, _WIDTHS[code], code) for text, code in _NUMBERS.items()},
}

_TIMESTAMP = re.compile(r"ts[smun]:.*", re.DOTALL)
_DECIMAL = re.compile(r"d:(\d{1,2}),(-?\d{1,2})(?:,(32|64|128|256))?")
_SIZED = re.compile(r"(\+?)w:(\d{1,10})")
_UNION = re.compile(r"\+u([sd]):((?:\d{1,3}(?:,\d{1,3})*)?)")
_WIDTH_MAX = (1 << 31) - 1
_PRECISION_MAX = 76
_TYPE_IDS_MAX = 128


@functools.lru_cache(maxsize=1024)
def parse_format(text: str) -> Optional[Format]:
    """Nothing if `text` is not exactly one of the formats above."""
    if text in _PLAIN:
        return _PLAIN[text]
    if _TIMESTAMP.fullmatch(text):
        return Format(Shape.FIXED, 8, "q")
    if match := _DECIMAL.fullmatch(text):
        return _decimal(int(match[1]), int(match[2]), int(match[3] or 128))
    if match := _SIZED.fullmatch(text):
        width = int(match[2])
        shape = Shape.FIXED_LIST if match[1] else Shape.FIXED
        return Format(shape, width) if width <= _WIDTH_MAX else None
    if match := _UNION.fullmatch(text):
        ids = tuple(int(number) for number in match[2].split(",") if number)
        if len(set(ids)) != len(ids) or any(number >= _TYPE_IDS_MAX for number in ids):
            return None
        return Format(Shape.SPARSE if match[1] == "s" else Shape.DENSE, type_ids=ids)
    return None


def _decimal(precision: int, scale: int, bits: int) -> Optional[Format]:
    if not 1 <= precision <= _PRECISION_MAX or abs(scale) > _PRECISION_MAX:
        return None
    code = {32: "i", 64: "q"}.get(bits, "")
    return Format(Shape.FIXED, bits // 8, code, scale=scale)
