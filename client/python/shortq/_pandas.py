"""A table as a pandas DataFrame. Imported only when it is asked for."""

from __future__ import annotations

from typing import Any

import numpy
import pandas

from shortq._types import Kind, Type
from shortq._values import values_of
from shortq.table import Column, Table

_NUMBERS = frozenset({Kind.INTEGER, Kind.BOOLEAN, Kind.FLOAT, Kind.DOUBLE})
_MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "m": 10**6, "u": 10**3, "n": 1}


def to_pandas(table: Table) -> pandas.DataFrame:
    """Table.to_pandas() says what becomes of the types."""
    series = {place: _series(column) for place, column in enumerate(table.columns)}
    frame = pandas.DataFrame(series, index=pandas.RangeIndex(len(table)))
    frame.columns = pandas.Index(table.names, dtype=object)
    return frame


def _series(column: Column) -> Any:
    kind = column._type
    if kind.kind in _NUMBERS:
        return _numbers(column, kind)
    if kind.kind in _MOMENTS and kind.arrow != "tdm":
        return _moments(column, kind)
    if kind.kind is Kind.ENUM and kind.children[0].kind is Kind.TEXT:
        words = _words(column, kind)
        return pandas.Series(pandas.Categorical(column.to_pylist(), categories=words))
    return _objects(column)


def _objects(column: Column) -> Any:
    return pandas.Series(column.to_pylist(), dtype=object)


def _numbers(column: Column, kind: Type) -> Any:
    values = column.to_numpy()
    if not isinstance(values, numpy.ma.MaskedArray):
        return pandas.Series(values)
    data, mask = _data_and_mask(values)
    if kind.kind is Kind.BOOLEAN:
        return pandas.Series(pandas.arrays.BooleanArray(data, mask, copy=True))
    if kind.kind is Kind.INTEGER:
        return pandas.Series(pandas.arrays.IntegerArray(data, mask, copy=True))
    return pandas.Series(numpy.where(mask, numpy.array("nan", data.dtype), data))


def _data_and_mask(values: Any) -> tuple[Any, Any]:
    masked: Any = numpy.ma
    return masked.getdata(values), masked.getmaskarray(values)


def _moments(column: Column, kind: Type) -> Any:
    """datetime64[ns], or objects if one of them is out of its range, as the infinities are."""
    data, mask = _data_and_mask(column.to_numpy())
    if data.dtype.kind != "M":
        data = data.astype("<M8[ns]")  # No rows, of which numpy knows no type.
    counts = data.view("<i8")
    limit = ((1 << 63) - 2) // _NANOSECONDS[kind.arrow[2]]
    if not (mask | ((counts >= -limit) & (counts <= limit))).all():
        return _objects(column)
    nanoseconds = numpy.where(mask, numpy.datetime64("NaT"), data).astype("<M8[ns]")
    moments = pandas.Series(nanoseconds)
    return moments.dt.tz_localize("UTC") if kind.kind is Kind.TIMESTAMPTZ else moments


def _words(column: Column, kind: Type) -> list[Any]:
    """The enum's values in their order, over all batches."""
    words: dict[Any, None] = {}
    for chunk in column._chunks:
        words.update(dict.fromkeys(values_of(kind.children[0], chunk.dictionary[0])))
    words.pop(None, None)
    return list(words)
