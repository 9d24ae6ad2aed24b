"""Python values as the parameters of a request (PROTOCOL.md#parameters)."""

from __future__ import annotations

import datetime
import enum
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import msgpack

from shortq import _limits as limits
from shortq.errors import Error, ErrorCode, make_error

_EPOCH = datetime.datetime(1970, 1, 1)
_MICROSECOND = datetime.timedelta(microseconds=1)


class _Tag(enum.IntEnum):
    NULL = 0
    BOOLEAN = 1
    BIGINT = 2
    DOUBLE = 3
    VARCHAR = 4
    BLOB = 5
    DATE = 6
    TIMESTAMP = 7


def encode_parameters(values: Sequence[Any]) -> bytes:
    """The body frame that follows a request's text; empty if there are no parameters.

    A mapping among the values stands for named parameters: {"sym": "ORCL"} binds to $sym.
    Raises BadRequestError for a value that the protocol cannot carry, TooLargeError.
    """
    entries: list[list[Any]] = []
    for value in values:
        if isinstance(value, Mapping):
            entries += [_entry(_checked_name(name), item) for name, item in value.items()]
        else:
            entries.append(_entry("", value))
    if not entries:
        return b""
    if len(entries) > limits.PARAMETERS_MAX:
        raise make_error(ErrorCode.TOO_LARGE, f"more than {limits.PARAMETERS_MAX} parameters")
    try:
        packed = msgpack.packb(entries, use_bin_type=True)
    except UnicodeEncodeError as error:
        raise _refuse(f"a text parameter is not valid Unicode: {error.reason}") from None
    assert isinstance(packed, bytes)
    return packed


def _refuse(message: str) -> Error:
    return make_error(ErrorCode.BAD_REQUEST, message)


def _checked_name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise _refuse(f"the name of a parameter is a text, not {name!r:.60}")
    if len(name.encode("utf-8", "surrogatepass")) > limits.PARAMETER_NAME_BYTES_MAX:
        raise make_error(
            ErrorCode.TOO_LARGE,
            "the name of a parameter is over " f"{limits.PARAMETER_NAME_BYTES_MAX} bytes",
        )
    return name


def _entry(name: str, value: Any) -> list[Any]:
    tag, wire_value = _tagged(value)
    return [name, int(tag), wire_value]


def _tagged(value: Any) -> tuple[_Tag, Any]:
    if value is None:
        return _Tag.NULL, None
    if isinstance(value, bool):
        return _Tag.BOOLEAN, value
    if isinstance(value, str):
        return _Tag.VARCHAR, str(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _Tag.BLOB, bytes(value)
    if isinstance(value, datetime.datetime):  # Before date, which it also is.
        return _Tag.TIMESTAMP, _microseconds(value)
    if isinstance(value, datetime.date):
        return _Tag.DATE, value.toordinal() - _EPOCH.toordinal()
    if isinstance(value, numbers.Integral):
        return _Tag.BIGINT, _int64(int(value))
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        return _Tag.DOUBLE, float(value)
    if getattr(getattr(value, "dtype", None), "kind", "") == "b" and hasattr(value, "item"):
        return _Tag.BOOLEAN, bool(value)  # numpy's bool is no number.
    raise _refuse(
        f"a parameter cannot be a {type(value).__name__}; None, bool, int, float, str, bytes, "
        "date and datetime can. Send others as text and cast them in the query: ?::UUID"
    )


def _int64(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise _refuse(
            "an integer parameter does not fit 64 bits; send it as text and cast it in "
            "the query: ?::HUGEINT"
        )
    return value


def _microseconds(value: datetime.datetime) -> int:
    if value.utcoffset() is not None:
        raise _refuse(
            "a datetime parameter has a time zone, which TIMESTAMP has not; send a naive one, or "
            "value.isoformat() and cast it in the query: ?::TIMESTAMPTZ"
        )
    return (value.replace(tzinfo=None) - _EPOCH) // _MICROSECOND
