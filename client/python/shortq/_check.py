"""Proves an array safe to read: PROTOCOL.md#results, "whoever reads a batch MUST check it first".

One rule per physical layout of the Arrow columnar format, as in proto/validate.cpp.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from shortq._arrays import Array, Batch, bits, numbers
from shortq._format import BUFFER_COUNTS, INTEGERS, WITHOUT_VALIDITY, Format, Shape, parse_format
from shortq._numpy import numpy
from shortq._schema import Field
from shortq._wire import Malformed

_VIEW_BYTES = 16
_INLINE_BYTES = 12  # A shorter text sits in its view itself.
_RUN_END_FORMATS = ("s", "i", "l")


def check_schema(fields: Sequence[Field]) -> None:
    """Raises Malformed for a format or a number of children that there is not."""
    for field in fields:
        _check_field(field)
        check_schema(field.children)
        check_schema(field.dictionary)


def check_batch(fields: Sequence[Field], batch: Batch) -> None:
    """Pre: check_schema(fields). Raises Malformed, naming the column."""
    for field, array in zip(fields, batch.columns):
        try:
            if array.length != batch.rows:
                raise Malformed(f"{array.length} rows instead of {batch.rows}")
            _check_array(field, array)
        except Malformed as problem:
            raise Malformed(f"column '{field.name:.64}': {problem}") from None


def _check_field(field: Field) -> None:
    form = parse_format(field.format)
    if form is None:
        raise Malformed(f"unknown format '{field.format:.32}'")
    wanted = _CHILDREN.get(form.shape, 0)
    if form.shape in (Shape.SPARSE, Shape.DENSE):
        wanted = len(form.type_ids)
    if form.shape is not Shape.STRUCT and len(field.children) != wanted:
        raise Malformed(f"{len(field.children)} children instead of {wanted}")
    if field.dictionary and field.format not in INTEGERS:
        raise Malformed("a dictionary's indices are not integers")
    if form.shape is Shape.MAP:
        entries = field.children[0]
        if entries.format != "+s" or len(entries.children) != 2:
            raise Malformed("a map's child is not a struct of key and value")
    if form.shape is Shape.RUNS:
        ends = field.children[0]
        if ends.format not in _RUN_END_FORMATS or ends.dictionary:
            raise Malformed("the run ends are not integers")


def _check_array(field: Field, array: Array) -> None:
    form = parse_format(field.format)
    assert form is not None
    least, count = BUFFER_COUNTS[form.shape], len(array.buffers)
    if count < least or (count > least and form.shape is not Shape.VIEWS):
        raise Malformed(f"{count} buffers instead of {least}")
    if form.shape not in WITHOUT_VALIDITY:
        _check_validity(array)
    if array.length > 0:  # A node of length 0 may leave out every buffer.
        _check_layout(form, field, array)
    for child_field, child in zip(field.children, array.children):
        _check_array(child_field, child)
    for values_field, values in zip(field.dictionary, array.dictionary):
        _check_array(values_field, values)
        _check_indices(field, array)


_CHILDREN = {Shape.LIST: 1, Shape.LIST_VIEW: 1, Shape.FIXED_LIST: 1, Shape.MAP: 1, Shape.RUNS: 2}


def _check_validity(array: Array) -> None:
    bitmap = array.buffers[0]
    if len(bitmap) == 0:
        if array.null_count != 0:
            raise Malformed(f"{array.null_count} nulls but no validity bitmap")
        return
    _hold(bitmap, (array.length + 7) // 8, 1, "validity bitmap")
    valid = int.from_bytes(bitmap[: array.length // 8], "little").bit_count()
    if rest := array.length % 8:
        valid += (bitmap[array.length // 8] & ((1 << rest) - 1)).bit_count()
    if array.length - valid != array.null_count:
        raise Malformed(
            f"the validity bitmap has {array.length - valid} nulls, " f"not {array.null_count}"
        )


def _hold(buffer: memoryview, count: int, width: int, what: str) -> None:
    if len(buffer) < count * width:
        raise Malformed(f"the {what} is too short")


def _check_layout(form: Format, field: Field, array: Array) -> None:
    shape, length = form.shape, array.length
    if shape is Shape.BITS:
        _hold(array.buffers[1], (length + 7) // 8, 1, "buffer of values")
    elif shape is Shape.FIXED:
        _hold(array.buffers[1], length, form.width, "buffer of values")
    elif shape is Shape.BYTES:
        _check_offsets(form, array, len(array.buffers[2]))
    elif shape is Shape.VIEWS:
        _check_views(array)
    elif shape in (Shape.LIST, Shape.MAP):
        _check_offsets(form, array, array.children[0].length)
    elif shape is Shape.LIST_VIEW:
        _check_list_views(form, array)
    elif shape is Shape.FIXED_LIST:
        if array.children[0].length < length * form.width:
            raise Malformed("the child is too short")
    elif shape is Shape.STRUCT:
        _check_children_length(array)
    elif shape in (Shape.SPARSE, Shape.DENSE):
        _check_union(form, array)
    elif shape is Shape.RUNS:
        _check_runs(field, array)


def _check_offsets(form: Format, array: Array, limit: int) -> None:
    width = 4 if form.code == "i" else 8
    _hold(array.buffers[1], array.length + 1, width, "buffer of offsets")
    offsets = numbers(array.buffers[1], form.code, array.length + 1)
    if not _rising(offsets):
        raise Malformed("the offsets fall")
    if offsets[0] < 0 or offsets[-1] > limit:
        raise Malformed("an offset is out of bounds")


def _rising(values: Sequence[int]) -> bool:
    """Whether none is less than the one before."""
    if numpy is not None:
        array = numpy.asarray(values)
        return bool((array[1:] >= array[:-1]).all())
    return all(map(operator.le, values, values[1:]))


def _bounds(values: Sequence[int]) -> tuple[int, int]:
    if numpy is not None:
        array = numpy.asarray(values)
        return int(array.min()), int(array.max())
    return min(values), max(values)


def _check_views(array: Array) -> None:
    _hold(array.buffers[1], array.length, _VIEW_BYTES, "buffer of views")
    words = numbers(array.buffers[1], "i", array.length * 4)
    data = array.buffers[2:]
    for row, valid in enumerate(_validity(array)):
        length, number, offset = words[4 * row], words[4 * row + 2], words[4 * row + 3]
        if not valid or 0 <= length <= _INLINE_BYTES:
            continue
        if length < 0 or not 0 <= number < len(data):
            raise Malformed("a view points to a buffer that is not there")
        if offset < 0 or offset + length > len(data[number]):
            raise Malformed("a view is out of bounds")


def _validity(array: Array) -> Sequence[bool]:
    if len(array.buffers[0]) == 0:
        return [True] * array.length
    return bits(array.buffers[0], array.length)


def _check_list_views(form: Format, array: Array) -> None:
    width = 4 if form.code == "i" else 8
    limit = array.children[0].length
    for buffer in array.buffers[1:]:
        _hold(buffer, array.length, width, "buffer of list views")
    offsets = numbers(array.buffers[1], form.code, array.length)
    sizes = numbers(array.buffers[2], form.code, array.length)
    for offset, size in zip(offsets, sizes):
        if offset < 0 or size < 0 or offset + size > limit:
            raise Malformed("a list view is out of bounds")


def _check_children_length(array: Array) -> None:
    if any(child.length < array.length for child in array.children):
        raise Malformed("a child is too short")


def _check_union(form: Format, array: Array) -> None:
    _hold(array.buffers[0], array.length, 1, "buffer of type ids")
    ids = numbers(array.buffers[0], "b", array.length)
    if not set(ids) <= set(form.type_ids):
        raise Malformed("a type id has no child")
    if form.shape is Shape.SPARSE:
        _check_children_length(array)
        return
    _hold(array.buffers[1], array.length, 4, "buffer of offsets")
    lengths = {number: child.length for number, child in zip(form.type_ids, array.children)}
    for number, offset in zip(ids, numbers(array.buffers[1], "i", array.length)):
        if not 0 <= offset < lengths[number]:
            raise Malformed("an offset is out of bounds")


def _check_runs(field: Field, array: Array) -> None:
    ends_field, (ends, values) = field.children[0], array.children
    if ends.null_count != 0 or len(ends.buffers) != 2:
        raise Malformed("a run end is null")  # Children are checked after their parent.
    code = INTEGERS[ends_field.format]
    _hold(ends.buffers[1], ends.length, {"h": 2, "i": 4, "q": 8}[code], "buffer of run ends")
    previous = 0
    for end in numbers(ends.buffers[1], code, ends.length):
        if end <= previous:
            raise Malformed("the run ends do not rise")
        previous = end
    if previous < array.length:
        raise Malformed("the runs end before the last row")
    if values.length < ends.length:
        raise Malformed("a run has no value")


def _check_indices(field: Field, array: Array) -> None:
    if array.length == 0:
        return
    count = array.dictionary[0].length
    indices = numbers(array.buffers[1], INTEGERS[field.format], array.length)
    least, most = _bounds(indices)
    if least >= 0 and most < count:
        return  # The usual case, at full speed; null slots may hold anything.
    for index, valid in zip(indices, _validity(array)):
        if valid and not 0 <= index < count:
            raise Malformed("a dictionary index is out of bounds")
