"""Order and place of elements: flipping, rolling, triangles, repeating, grids, slices, other views."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, OutOfRangeError, ShapeError
from engine.core.mode import is_symbolic
from engine.core.operators.infer import normal_axis
from engine.core.values.dtype import DType, as_dtype
from engine.ops.arrays import creation, embedding, flip_roll, repeat, strides, triangles
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import shape as shape_ops
from engine.program.build.calls import named, names_results
from engine.program.graph.unknown import Unknown
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import integers, is_later, items, whole
from engine.tensor.creation import to_tensor
from engine.tensor.elements import indexing
from engine.tensor.manipulation import reshape
from engine.tensor.tensor_like import AnyTensor, DTypeLike, IntegerLike, IntegersLike, ShapeLike


def flip(x: AnyTensor, axis: IntegersLike, name: str | None = None) -> Any:
    """The order of elements reversed along ``axis`` (one or several)."""
    if name:
        return named(name, flip, x, axis)
    return flip_roll.flip(x, axis=integers("flip", axis))


reverse = flip


def roll(
    x: AnyTensor, shifts: IntegersLike, axis: IntegersLike | None = None, name: str | None = None
) -> Any:
    """Elements moved by ``shifts`` along ``axis``; those that leave one end enter at the other.

    Without ``axis`` as if all elements were in one row.
    """
    if name:
        return named(name, roll, x, shifts, axis)
    axes = [] if axis is None else integers("roll", axis)
    if is_symbolic(shifts):
        return flip_roll.roll_by(x, shifts, axis=axes)
    return flip_roll.roll(x, shifts=integers("roll", shifts), axis=axes)


def rot90(x: AnyTensor, k: int = 1, axes: IntegersLike = (0, 1), name: str | None = None) -> Any:
    """Turned by 90 degrees ``k`` times, from the first towards the second of ``axes``."""
    if name:
        return named(name, rot90, x, k, axes)
    axes = integers("rot90", axes)
    if x.ndim < 2 or len(axes) != 2:
        raise ShapeError(
            f"rot90: x must have at least 2 dimensions and axes names two: got {list(x.shape)} and {axes}"
        )
    first, second = (normal_axis("rot90", a, x.ndim) for a in axes)
    if first == second:
        raise ArgumentError(f"rot90: axes {axes} are the same dimension; name two different ones")
    swapped = list(range(x.ndim))
    swapped[first], swapped[second] = second, first
    turns = k % 4
    if turns == 0:
        return shape_ops.assign(x)
    if turns == 2:
        return flip_roll.flip(x, axis=[first, second])
    if turns == 1:
        return shape_ops.transpose(flip_roll.flip(x, axis=[second]), axis=swapped)
    return flip_roll.flip(shape_ops.transpose(x, axis=swapped), axis=[second])


@names_results("tril", form="{helper}")
def tril(x: AnyTensor, diagonal: int = 0, name: str | None = None) -> Any:
    """The lower triangle of matrices up to a diagonal, zeros above it."""
    return triangles.tril_triu(x, diagonal=whole("tril", diagonal), lower=True)


@names_results("triu", form="{helper}")
def triu(x: AnyTensor, diagonal: int = 0, name: str | None = None) -> Any:
    """The upper triangle of matrices from a diagonal on, zeros below it."""
    return triangles.tril_triu(x, diagonal=whole("triu", diagonal), lower=False)


def tril_indices(row: int, col: int, offset: int = 0, dtype: DTypeLike = "int64") -> Any:
    """Row and column numbers, [2, n], of the elements of the lower triangle of a matrix."""
    return triangles.tril_indices(**_matrix("tril_indices", row, col, offset, dtype))


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64") -> Any:
    """Row and column numbers, [2, n], of the elements of the upper triangle of a matrix."""
    return triangles.triu_indices(**_matrix("triu_indices", row, col, offset, dtype))


def _matrix(where: str, row: int, col: int | None, offset: int, dtype: Any) -> dict[str, Any]:
    rows, cols = whole(where, row), whole(where, row if col is None else col)
    if rows < 0 or cols < 0:
        raise DTypeError(f"{where}: row and col are non-negative ints: got {row} and {col}")
    return {"rows": rows, "cols": cols, "offset": whole(where, offset), "dtype": as_dtype(dtype).name}


def meshgrid(*args: Any, **kwargs: Any) -> list[Any]:
    """For each vector a tensor of the sizes of all, in which it varies along its own dimension only.

    The vectors are arguments or one list.
    """
    tensors = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    if not tensors:
        raise ArgumentError("meshgrid: got no tensors; pass at least one")
    return list(repeat.meshgrid(list(tensors)))


def repeat_interleave(
    x: AnyTensor, repeats: IntegerLike, axis: int | None = None, name: str | None = None
) -> Any:
    """Each element along ``axis`` (of the flat tensor by default) several times in a row.

    ``repeats`` is a number, or a tensor of one number for each element.
    """
    if name:
        return named(name, repeat_interleave, x, repeats, axis)
    if axis is None:
        x, axis = shape_ops.flatten(x, start_axis=0, stop_axis=-1), 0
    axis = normal_axis("repeat_interleave", whole("repeat_interleave", axis), x.ndim)
    if not is_tensor(repeats):
        times = whole("repeat_interleave", repeats)
        if not is_later(times) and times < 1:
            raise ArgumentError(
                f"repeat_interleave: repeats is 1 or more: got {times}; slice x to omit elements"
            )
        return repeat.repeat_interleave(x, repeats=times, axis=axis)
    return repeat.repeat_each(x, repeats, dim=axis)


# -- slices ------------------------------------------------------------------------------------------------


def _sliced(where: str, x: Any, axes: Any, bounds: list[Any]) -> Any:
    """x with a slice at each of the axes; each of ``bounds`` holds one number for each axis."""
    axes = [normal_axis(where, a, x.ndim) for a in integers(where, axes)]
    parts = [items(where, b) for b in bounds]
    if any(len(p) != len(axes) for p in parts):
        raise ArgumentError(
            f"{where}: axes has {len(axes)} numbers, the bounds {[len(p) for p in parts]}; give one each"
        )
    index: list[Any] = [slice(None)] * x.ndim
    for n, axis in enumerate(axes):
        index[axis] = slice(*(p[n] for p in parts))
    return indexing.getitem(x, tuple(index))


@names_results("slice", outer=True)
def slice_(input: AnyTensor, axes: IntegersLike, starts: IntegersLike, ends: IntegersLike) -> Any:
    """The elements from ``starts`` to below ``ends`` along ``axes``; negative numbers count from the end."""
    return _sliced("slice", input, axes, [starts, ends])


def strided_slice(
    x: AnyTensor,
    axes: IntegersLike,
    starts: IntegersLike,
    ends: IntegersLike,
    strides: IntegersLike,
    name: str | None = None,
) -> Any:
    """Every ``strides``-th element from ``starts`` to ``ends`` along ``axes``; steps may be negative."""
    if name:
        return named(name, strided_slice, x, axes, starts, ends, strides)
    return shape_ops.assign(_sliced("strided_slice", x, axes, [starts, ends, strides]))


def crop(
    x: AnyTensor, shape: ShapeLike | None = None, offsets: IntegersLike | None = None, name: str | None = None
) -> Any:
    """The part of x of a shape that begins at ``offsets`` (0); -1 takes all that is left."""
    if name:
        return named(name, crop, x, shape, offsets)
    sizes = list(x.shape) if shape is None else items("crop", shape)
    starts = [0] * x.ndim if offsets is None else items("crop", offsets)
    if len(sizes) != x.ndim or len(starts) != x.ndim:
        raise ArgumentError(
            f"crop: shape {sizes} and offsets {starts} need one number for each dimension of {list(x.shape)}"
        )
    index = []
    for n, (start, size, have) in enumerate(zip(starts, sizes, x.shape, strict=True)):
        if isinstance(size, Unknown) or (isinstance(size, int) and size == -1):
            index.append(slice(start, None))
            continue
        known = all(isinstance(v, int) for v in (start, size, have))
        if known and size == 0:
            raise ShapeError(f"crop: shape {sizes} has a 0; sizes are 1 or more, or -1 for all that is left")
        if known and (start < 0 or size < 0 or start + size > have):
            raise OutOfRangeError(
                f"crop: dimension {n} of {list(x.shape)} from {start}, {size} elements; stay within it"
            )
        index.append(slice(start, start + size))
    return shape_ops.assign(indexing.getitem(x, tuple(index)))


# -- memory read in another way ----------------------------------------------------------------------------


def view(
    x: AnyTensor, shape_or_dtype: list[Any] | tuple[Any, ...] | DType | str | type, name: str | None = None
) -> Any:
    """The same storage in another shape, or its bytes read as another dtype."""
    if name:
        return named(name, view, x, shape_or_dtype)
    if isinstance(shape_or_dtype, (list, tuple)):
        return reshape(x, shape_or_dtype)
    if isinstance(shape_or_dtype, (str, DType, type)):
        return strides.view_dtype(x, dtype=as_dtype(shape_or_dtype).name)
    raise DTypeError(f"view: takes a shape or a dtype: got {type(shape_or_dtype).__name__}")


def view_as(x: AnyTensor, other: AnyTensor, name: str | None = None) -> Any:
    """The same storage in the shape of ``other``."""
    if name:
        return named(name, view_as, x, other)
    return reshape(x, list(other.shape))


def as_strided(
    x: AnyTensor, shape: IntegersLike, stride: IntegersLike, offset: int = 0, name: str | None = None
) -> Any:
    """The elements at ``offset`` plus whole steps of ``stride``, in a new shape.

    Raises OutOfRangeError where that leaves the elements of x.

    Differs from Paddle: the result is a copy, and elements are counted in row-major order of x.
    """
    if name:
        return named(name, as_strided, x, shape, stride, offset)
    return strides.as_strided(
        x,
        shape=integers("as_strided", shape),
        stride=integers("as_strided", stride),
        offset=whole("as_strided", offset),
    )


def unfold(x: AnyTensor, axis: int, size: int, step: int, name: str | None = None) -> Any:
    """Windows of ``size`` elements every ``step`` along ``axis``, as a new last dimension.

    Differs from Paddle: the result is a copy.
    """
    if name:
        return named(name, unfold, x, axis, size, step)
    return strides.unfold(
        x, axis=whole("unfold", axis), size=whole("unfold", size), step=whole("unfold", step)
    )


def combinations(x: AnyTensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Any:
    """All choices of ``r`` elements of a vector, a row for each, in order of position."""
    if name:
        return named(name, combinations, x, r, with_replacement)
    if x.ndim != 1:
        raise DTypeError(f"combinations: x must be a vector: got shape {list(x.shape)}; flatten it")
    r = whole("combinations", r)
    if r < 0:
        raise ArgumentError(f"combinations: r must not be negative: got {r}")
    if r == 0:
        return creation.fill(shape=[0], value=0, dtype=x.dtype.name)
    if x.shape[0] == -1:
        raise ShapeError("combinations: the length of x is not known before running; fix it in the InputSpec")
    count = math.comb(x.shape[0] + (r - 1 if with_replacement else 0), r)
    if count == 0:
        return creation.fill(shape=[0, r], value=0, dtype=x.dtype.name)
    np.empty((count, r), np.int64)  # raises where memory can't hold them, before they are listed
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    places = list(choose(range(x.shape[0]), r))
    return index_ops.getitem(x, [to_tensor(places, dtype="int64")], index=(("tensor", 0),))


def shard_index(input: AnyTensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Any:
    """Numbers below ``index_num`` counted within their shard where that is ``shard_id``.

    There are ``nshards`` shards of equal size. Elsewhere the result is ``ignore_value``.
    """
    return embedding.shard_index(
        input, index_num=index_num, nshards=nshards, shard_id=shard_id, ignore_value=ignore_value
    )
