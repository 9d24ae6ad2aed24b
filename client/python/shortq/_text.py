"""Values as the engine prints them: what `value::VARCHAR` gives in DuckDB."""

from __future__ import annotations

import datetime
import decimal
import math
import struct
from collections.abc import Iterable
from typing import Any

from shortq import _times as times
from shortq._types import NESTED, Kind, Type
from shortq._values import Member

_QUOTED_IF = frozenset("\"'(),:=[]{}")
_SPACES = " \t\n\v\f\r"


def text_of(kind: Type, value: Any) -> str:
    """`value` as values_of(kind, ..., tagged=True) gave it. "NULL" for None."""
    if value is None:
        return "NULL"
    if kind.kind is Kind.UNION:
        member: Member = value
        return text_of(kind.children[member.child], member.value)
    if kind.kind in (Kind.ENUM, Kind.RUNS):
        return text_of(kind.children[-1], value)
    if kind.kind in NESTED:
        return _nested(kind, value)
    if isinstance(value, str):  # Also times that datetime cannot hold.
        return value
    return _plain(kind, value)


def _plain(kind: Type, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _float_text(value, kind.kind is Kind.FLOAT)
    if isinstance(value, decimal.Decimal):
        return _decimal_text(value, kind)
    if isinstance(value, bytes):
        return _blob_text(value)
    if isinstance(value, datetime.datetime):
        zone = "+00" if value.tzinfo is not None else ""
        return f"{value.date().isoformat()} {times.clock_text(value)}{zone}"
    if isinstance(value, datetime.time):
        return times.timetz_text(value) if value.tzinfo is not None else times.clock_text(value)
    return str(value)  # Integers, dates, UUIDs, intervals.


# ---- numbers and bytes ----


def _float_text(value: float, narrow: bool) -> str:
    if math.isnan(value):
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    shortest = _shortest_float32(value) if narrow else repr(value)
    sign, digits, exponent = decimal.Decimal(shortest).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits)).lstrip("0")
    exponent += len(text) - 1
    return ("-" if sign else "") + _digits_text(text.rstrip("0") or "0", exponent if text else 0)


def _shortest_float32(value: float) -> str:
    for precision in range(1, 9):
        text = f"{value:.{precision}g}"
        try:
            if struct.unpack("<f", struct.pack("<f", float(text)))[0] == value:
                return text
        except OverflowError:  # Rounded up beyond the largest float.
            continue
    return f"{value:.9g}"


def _digits_text(digits: str, exponent: int) -> str:
    """DuckDB prints plainly from 1e-4 up to below 1e16."""
    if not -4 <= exponent < 16:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    whole, fraction = digits[: exponent + 1].ljust(exponent + 1, "0"), digits[exponent + 1 :]
    return f"{whole}.{fraction or '0'}"


def _decimal_text(value: decimal.Decimal, kind: Type) -> str:
    scale = kind.layout.scale or 0
    sign, numerals, _ = value.as_tuple()
    digits = "".join(map(str, numerals))
    if scale <= 0:
        return ("-" if sign and digits != "0" else "") + digits
    digits = digits.rjust(scale + 1, "0")
    whole, fraction = digits[:-scale], digits[-scale:]
    precision = int(kind.arrow[2:].split(",")[0])
    if whole == "0" and precision <= scale:
        whole = ""
    return ("-" if sign else "") + f"{whole}.{fraction}"


def _blob_text(raw: bytes) -> str:
    return "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b"\\'\"" else f"\\x{byte:02X}"
        for byte in raw
    )


# ---- nested ----


def _nested(kind: Type, value: Any) -> str:
    if kind.kind is Kind.LIST:
        return f"[{_joined(_element(kind.children[0], item) for item in value)}]"
    if kind.kind is Kind.MAP:
        key, mapped = kind.children
        pairs = value.items() if isinstance(value, dict) else value
        return "{" + _joined(f"{_element(key, a)}={_element(mapped, b)}" for a, b in pairs) + "}"
    if kind.kind is Kind.TUPLE:
        return f"({_joined(map(_element, kind.children, value))})"
    fields = zip(kind.names, kind.children)
    return (
        "{"
        + _joined(f"{_quoted(name)}: {_element(child, value[name])}" for name, child in fields)
        + "}"
    )


def _joined(parts: Iterable[str]) -> str:
    return ", ".join(parts)


def _element(kind: Type, value: Any) -> str:
    """Inside a nested value, a text that could be misread is put in quotes."""
    text = text_of(kind, value)
    if value is None or kind.kind in NESTED or kind.kind is Kind.JSON:
        return text
    return _quoted(text) if _needs_quotes(text) else text


def _needs_quotes(text: str) -> bool:
    if not text or text[0] in _SPACES or text[-1] in _SPACES or text.lower() == "null":
        return True
    return not _QUOTED_IF.isdisjoint(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
