"""The result of a query: a table of columns over the bytes as they came."""

from __future__ import annotations

import bisect
import dataclasses
import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Union

from shortq import _columns
from shortq._arrays import Array, Batch
from shortq._numpy import require_numpy
from shortq._print import table_text
from shortq._schema import Field
from shortq._text import text_of
from shortq._types import resolve
from shortq._values import values_of
from shortq.errors import ErrorCode, make_error

if TYPE_CHECKING:
    import pandas


@dataclasses.dataclass(frozen=True)
class ReplyFacts:
    """Who answered a request, and what it cost.

    worker      seat, counted from 1; 0: the primary itself.
    generation  of the data that answered; 0: the primary.
    queued_ms   waited at the primary.
    run_ms      run in the engine.
    bytes       of the result on the wire.
    """

    worker: int = 0
    generation: int = 0
    queued_ms: float = 0
    run_ms: float = 0
    rows: int = 0
    bytes: int = 0


class Column(Sequence[Any]):
    """One column, as a sequence of Python values (None for NULL) or as numpy arrays.

    Threads: immutable; safe to share. Keeps its bytes alive; outlives the client.
    """

    def __init__(self, field: Field, chunks: Sequence[Array]) -> None:
        self.field = field
        self._type = resolve(field, field.engine_type)
        self._chunks = tuple(chunks)
        self._ends = list(itertools.accumulate(chunk.length for chunk in self._chunks))
        self._read: dict[tuple[int, bool], list[Any]] = {}  # Chunks that single cells came from.

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def type(self) -> str:
        """The engine's name of the type: "DECIMAL(18,3)"."""
        return self.field.engine_type

    @property
    def null_count(self) -> int:
        return sum(value is None for value in self)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, index: Any) -> Any:
        """A value, or a list of values for a slice. For all values, iterate: it is faster."""
        if isinstance(index, slice):
            return [self._cell(row, tagged=False) for row in range(*index.indices(len(self)))]
        return self._cell(operator.index(index), tagged=False)

    def __iter__(self) -> Iterator[Any]:
        for chunk in self._chunks:
            yield from values_of(self._type, chunk)

    def to_pylist(self) -> list[Any]:
        """All values; client/python/README.md has the table of types."""
        return list(self)

    def text(self, row: int) -> str:
        """The value as the engine would print it; "NULL" for a null."""
        return text_of(self._type, self._cell(row, tagged=True))

    def to_numpy(self) -> Any:
        """The column as one numpy array; a numpy.ma.MaskedArray if it has nulls.

        Integers, floats, timestamps, times and intervals are read-only views of the bytes as they
        came, if the result has one batch (up to 2048 rows or so); more are put together, which
        copies: chunks_to_numpy() does not. Booleans and dates are converted; everything else is an
        array of Python objects. Infinite timestamps are the greatest and the least number.
        Raises ImportError without numpy.
        """
        numpy = require_numpy()
        arrays = self.chunks_to_numpy()
        if len(arrays) == 1:
            return arrays[0]
        if not arrays:
            dtype = _columns.stored_dtype(self._type)
            return numpy.empty(0, object if dtype is None else dtype)
        masked = any(isinstance(array, numpy.ma.MaskedArray) for array in arrays)
        return (numpy.ma if masked else numpy).concatenate(arrays)

    def chunks_to_numpy(self) -> list[Any]:
        """As to_numpy(), an array per batch, as the batches came."""
        numpy = require_numpy()
        arrays = []
        for chunk in self._chunks:
            values = _columns.values_array(self._type, chunk)
            mask = _columns.null_mask(self._type, chunk)
            arrays.append(numpy.ma.MaskedArray(values, mask) if mask.any() else values)
        return arrays

    def __repr__(self) -> str:
        return f"<shortq.Column {self.name!r} {self.type}, {len(self)} values>"

    def _cell(self, row: int, tagged: bool) -> Any:
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        place = bisect.bisect_right(self._ends, row)
        key = (place, tagged)
        if key not in self._read:
            self._read[key] = values_of(self._type, self._chunks[place], tagged)
        return self._read[key][row - self._ends[place]]  # Counted from the chunk's end.


class Table:
    """A whole result: columns of equal length, in the engine's order.

    A statement without a result gives a table without columns.
    Threads: immutable; safe to share. Owns its bytes; outlives the client.
    """

    def __init__(
        self, fields: Sequence[Field], batches: Sequence[Batch], facts: ReplyFacts = ReplyFacts()
    ) -> None:
        self.facts = facts
        self.columns = tuple(
            Column(field, [batch.columns[place] for batch in batches])
            for place, field in enumerate(fields)
        )
        self._rows = sum(batch.rows for batch in batches)

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def __len__(self) -> int:
        """The number of rows."""
        return self._rows

    def column(self, which: Union[str, int]) -> Column:
        """By name (the first of that name) or place. Raises NotFoundError, IndexError."""
        if isinstance(which, int):
            return self.columns[which]
        for column in self.columns:
            if column.name == which:
                return column
        there = "is: " + ", ".join(self.names) if self.columns else "are none"
        raise make_error(ErrorCode.NOT_FOUND, f'no column "{which}"; there {there}')

    def __getitem__(self, which: Union[str, int]) -> Column:
        return self.column(which)

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows as tuples of Python values."""
        return list(iter(self))

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if not self.columns:
            return iter([()] * self._rows)
        return zip(*self.columns)

    def scalar(self) -> Any:
        """The value of a result of one row and one column. Raises ValueError for any other."""
        if len(self) != 1 or len(self.columns) != 1:
            raise ValueError(f"the result has {len(self)} rows and {len(self.columns)} columns")
        return self.columns[0][0]

    def text(self, row: int, column: Union[str, int]) -> str:
        """A cell as the engine would print it."""
        return self.column(column).text(row)

    def to_pydict(self) -> dict[str, list[Any]]:
        """Column names to lists of values; a name that comes again gets a number: x, x_1."""
        return {
            name: column.to_pylist() for name, column in zip(unique_names(self.names), self.columns)
        }

    def to_pandas(self) -> "pandas.DataFrame":
        """A DataFrame. Raises ImportError without pandas.

        Integers and booleans with nulls become pandas' nullable types, dates and timestamps
        datetime64[ns] (objects if one is out of its range), enums categories.
        """
        from shortq._pandas import to_pandas

        return to_pandas(self)

    def __str__(self) -> str:
        """The first rows, drawn as a table."""
        return table_text(self)

    def __repr__(self) -> str:
        return f"<shortq.Table {len(self)} rows x {len(self.columns)} columns>"


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, a repeated one with the first number that makes it unique."""
    out: list[str] = []
    taken = set(names)
    for place, name in enumerate(names):
        if name in names[:place]:
            number = 1
            while f"{name}_{number}" in taken:
                number += 1
            name = f"{name}_{number}"
            taken.add(name)
        out.append(name)
    return out
