"""Layers on sequences of uneven lengths (LoD): their rows one after the other, fed as a ``LoDTensor``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.nn import functional
from engine.nn.param_attr import AttrLike
from engine.ops.sequences import uneven
from engine.program.build.calls import takes_name
from engine.static.nn.helper import Helper, activated, require_variable
from engine.static.nn.sequence_lengths import (
    counted,
    find_levels,
    levels_of,
    sequence_numbers,
    spread,
    starts,
    unpadded,
    with_levels,
)
from engine.tensor import creation, linalg, logic, manipulation, math, search
from engine.tensor.elements import scattering
from engine.tensor.elements.arranging import slice_
from engine.tensor.elementwise import exponential
from engine.tensor.reductions import reduction
from engine.tensor.tensor_like import AnyTensor

_END = 2**31 - 1


def sequence_pool(input: AnyTensor, pool_type: str, is_test: bool = False, pad_value: float = 0.0) -> Any:
    """The rows of each sequence as one: 'sum', 'average', 'sqrt' (the sum by the root of the number), 'max',
    'first' or 'last'.

    The result has a row for each sequence, ``pad_value`` for one without rows; of lengths with several levels
    it has the outer ones. Raises ArgumentError for another type, or an input without lengths.
    """
    *outer, lengths = levels_of("sequence_pool", "input", input)
    kind = str(pool_type).lower()
    padded = uneven.pad_sequences(input, lengths)
    if kind in ("sum", "average", "sqrt"):
        made = reduction.sum(padded, 1)
        if kind != "sum":
            count = _aligned(math.cast(math.maximum(lengths, creation.ones_like(lengths)), input.dtype), made)
            made = made / (count if kind == "average" else exponential.sqrt(count))
    elif kind == "max":
        largest = uneven.largest_steps(input, lengths)
        made = manipulation.squeeze(scattering.take_along_axis(padded, largest, 1), 1)
    elif kind == "first":
        made = padded[:, 0]
    elif kind == "last":
        last = math.maximum(lengths - 1, creation.zeros_like(lengths))
        made = scattering.gather_nd(padded, manipulation.stack([counted(lengths), last], -1))
    else:
        raise ArgumentError(
            "sequence_pool: (InvalidArgument) pool_type is 'sum', 'average', 'sqrt', 'max', 'first' or "
            f"'last': got {pool_type!r}"
        )
    if pad_value:
        empty = _aligned(logic.equal(lengths, creation.zeros_like(lengths)), made)
        made = search.where(empty, creation.full_like(made, pad_value), made)
    return with_levels(made, outer)


def sequence_first_step(input: AnyTensor) -> Any:
    """The first row of each sequence; see ``sequence_pool``."""
    return sequence_pool(input, "first")


def sequence_last_step(input: AnyTensor) -> Any:
    """The last row of each sequence; see ``sequence_pool``."""
    return sequence_pool(input, "last")


@takes_name
def sequence_softmax(input: AnyTensor, use_cudnn: bool = False, name: str | None = None) -> Any:
    """The softmax over the rows of each sequence, which have one number each: [rows, 1] or [rows].

    Raises ShapeError for rows of several numbers.
    """
    levels = levels_of("sequence_softmax", "input", input)
    if input.ndim > 2 or (input.ndim == 2 and input.spec.shape[1] != 1):
        raise ShapeError(
            "sequence_softmax: (InvalidArgument) The width of each timestep in Input(X) of SequenceSoftmaxOp "
            f"should be 1: got {input.spec}"
        )
    lengths = levels[-1]
    padded = uneven.pad_sequences(input.detach(), lengths)
    largest = scattering.take_along_axis(padded, uneven.largest_steps(input.detach(), lengths), 1)
    shares = exponential.exp(input - spread(manipulation.squeeze(largest, 1), lengths))
    total = reduction.sum(uneven.pad_sequences(shares, lengths), 1)
    return with_levels(shares / spread(total, lengths), levels)


@takes_name
def sequence_expand(x: AnyTensor, y: AnyTensor, ref_level: int = -1, name: str | None = None) -> Any:
    """The rows of ``x``, or its sequences where it has lengths, repeated by the lengths of a level of ``y``.

    Raises ArgumentError for a ``y`` without lengths or that level, and an ``x`` of several levels.
    """
    times = levels_of("sequence_expand", "y", y)
    if not -1 <= ref_level < len(times):
        raise ArgumentError(
            f"sequence_expand: (InvalidArgument) ref_level is {ref_level}, y has {len(times)} levels; use -1 "
            "for the last"
        )
    require_variable("sequence_expand", "x", x)
    if not find_levels(x):
        return spread(x, times[ref_level])
    (lengths,) = levels_of("sequence_expand", "x", x, most=1)
    repeated = spread(lengths, times[ref_level])
    sequences = spread(uneven.pad_sequences(x, lengths), times[ref_level])
    return unpadded(sequences, repeated)


@takes_name
def sequence_expand_as(x: AnyTensor, y: AnyTensor, name: str | None = None) -> Any:
    """Each row of ``x`` as often as the sequence of that number in ``y`` is long; they are its sequences."""
    require_variable("sequence_expand_as", "x", x)
    (lengths,) = levels_of("sequence_expand_as", "y", y, most=1)
    return with_levels(spread(x, lengths), [lengths])


@takes_name
def sequence_pad(
    x: AnyTensor, pad_value: AnyTensor, maxlen: int | None = None, name: str | None = None
) -> tuple[Any, Any]:
    """A batch [sequences, ``maxlen`` or the longest, ...] with ``pad_value`` behind each sequence, and the
    lengths int64 [sequences].

    ``pad_value`` is one number, or a row. When it runs, a ``maxlen`` below the longest is an ArgumentError.
    """
    (lengths,) = levels_of("sequence_pad", "x", x, most=1)
    padded = uneven.pad_sequences(x, lengths, maxlen=-1 if maxlen is None else int(maxlen))
    rows = slice_(manipulation.flatten(x, 1) if x.ndim > 1 else manipulation.unsqueeze(x, 1), [1], [0], [1])
    inside = uneven.pad_sequences(creation.ones_like(manipulation.squeeze(rows, 1)), lengths, padded)
    pad_value.stop_gradient = True
    made = search.where(_aligned(math.cast(inside, "bool"), padded), padded, pad_value)
    return made, lengths.detach()


@takes_name
def sequence_unpad(x: AnyTensor, length: AnyTensor, name: str | None = None) -> Any:
    """The first ``length`` [sequences] steps of each sequence of the batch ``x`` [sequences, steps, ...]."""
    require_variable("sequence_unpad", "x", x)
    lengths = math.cast(manipulation.reshape(length, [-1]), "int64")
    return unpadded(x, lengths)


@takes_name
def sequence_reverse(x: AnyTensor, name: str | None = None) -> Any:
    """The rows of each sequence in reverse."""
    (lengths,) = levels_of("sequence_reverse", "x", x, most=1)
    ends = spread(starts(lengths) * 2 + lengths - 1, lengths)
    return with_levels(scattering.gather(x, ends - counted(ends)), [lengths])


@takes_name
def sequence_concat(input: Sequence[AnyTensor], name: str | None = None) -> Any:
    """The sequences of several inputs joined: the first of all, then the second of all, and so on."""
    each = [levels_of("sequence_concat", "input", x, most=1)[0] for x in input]
    order = search.argsort(manipulation.concat([sequence_numbers(lengths) for lengths in each]))
    lengths = math.add_n(list(each))
    return with_levels(scattering.gather(manipulation.concat(list(input)), order), [lengths])


def sequence_reshape(input: AnyTensor, new_dim: int) -> Any:
    """The numbers of each sequence in rows of ``new_dim``, of which there are more or fewer then.

    Raises ShapeError when it runs and a sequence does not have that many.
    """
    (lengths,) = levels_of("sequence_reshape", "input", input, most=1)
    rows = lengths * int(input.spec.shape[1]) // int(new_dim)
    return with_levels(manipulation.reshape(input, [-1, int(new_dim)]), [rows])


@takes_name
def sequence_enumerate(input: AnyTensor, win_size: int, pad_value: int = 0, name: str | None = None) -> Any:
    """Each number of [rows, 1] and the ones after it in its sequence: [rows, ``win_size``]."""
    (lengths,) = levels_of("sequence_enumerate", "input", input, most=1)
    padded = uneven.pad_sequences(input, lengths, value=pad_value)
    return _windows(padded, lengths, 0, int(win_size), pad_value)


@takes_name
def sequence_slice(input: AnyTensor, offset: AnyTensor, length: AnyTensor, name: str | None = None) -> Any:
    """The ``length`` [sequences, 1] rows of each sequence from row ``offset`` [sequences, 1] on.

    Raises ShapeError when it runs and a sequence does not have them.
    """
    (lengths,) = levels_of("sequence_slice", "input", input, most=1)
    first, count = (math.cast(manipulation.reshape(v, [-1]), "int64") for v in (offset, length))
    begin = spread(starts(lengths) + first, lengths)
    row = counted(begin)
    chosen = (row >= begin).logical_and(row < begin + spread(count, lengths))
    return with_levels(input[chosen], [count])


@takes_name
def sequence_scatter(input: AnyTensor, index: AnyTensor, updates: AnyTensor, name: str | None = None) -> Any:
    """``input`` [sequences, size] with each of ``updates`` added in its sequence's row, at ``index``."""
    (lengths,) = levels_of("sequence_scatter", "index", index, most=1)
    columns = math.cast(manipulation.reshape(index, [-1]), "int64")
    places = manipulation.stack([sequence_numbers(lengths), columns], -1)
    return scattering.scatter_nd_add(input, places, manipulation.reshape(updates, [-1]))


def sequence_conv(
    input: AnyTensor,
    num_filters: int,
    filter_size: int = 3,
    filter_stride: int = 1,
    padding: bool = True,
    padding_start: int | None = None,
    bias_attr: AttrLike = None,
    param_attr: AttrLike = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """``num_filters`` products of each row [size] and ``filter_size`` - 1 rows around it, zeros beyond its
    sequence.

    The first of the rows is ``padding_start`` (negative: before; by default half of them are). The weight is
    [filter_size * size, num_filters]. Raises ArgumentError for another ``filter_stride`` than 1.
    """
    (lengths,) = levels_of("sequence_conv", "input", input, most=1)
    if filter_stride != 1:
        raise ArgumentError(f"sequence_conv: (InvalidArgument) filter_stride is 1: got {filter_stride}")
    helper, size = Helper("sequence_conv", name), int(input.spec.shape[1])
    weight = helper.parameter([filter_size * size, num_filters], param_attr, input.dtype)
    start = -int(filter_size // 2) if padding_start is None else int(padding_start)
    windows = _windows(uneven.pad_sequences(input, lengths), lengths, start, filter_size, 0.0)
    made = linalg.matmul(windows, weight)
    bias = helper.parameter([num_filters], bias_attr, input.dtype, is_bias=True)
    if bias is not None:
        made = helper.add_bias(made, bias, 1)
    return activated("sequence_conv", made, act)


def _windows(padded: Any, lengths: Any, start: int, size: int, pad_value: float) -> Any:
    """For each row of padded sequences the ``size`` rows from ``start`` rows after it on, side by side."""
    before, after = max(0, -start), max(0, start + size - 1)
    around = functional.pad(padded, [0, 0, before, after, 0, 0], "constant", pad_value)
    parts = []
    for first in range(start + before, start + before + size):
        behind = before + after - first
        parts.append(slice_(around, [1], [first], [_END if behind == 0 else -behind]))
    return unpadded(manipulation.concat(parts, -1), lengths)


def _aligned(x: Any, other: Any) -> Any:
    """``x`` with dimensions of 1 behind its own, as many as ``other`` has."""
    missing = other.ndim - x.ndim
    return manipulation.unsqueeze(x, list(range(x.ndim, x.ndim + missing))) if missing else x
