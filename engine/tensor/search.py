"""Sorting, searching, choosing, uniqueness."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError
from engine.core.values.dtype import as_dtype, common_dtype
from engine.ops.arrays import index as index_ops
from engine.ops.arrays import sort as sort_ops
from engine.ops.elementwise import arithmetic
from engine.program.build.calls import named, names_results, takes_name
from engine.tensor.arguments.promote import is_tensor
from engine.tensor.arguments.sizes import whole
from engine.tensor.creation import to_tensor
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor, DTypeLike, IntegerLike, TensorLike


@names_results("sort")
def sort(x: AnyTensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """The elements along ``axis`` in order; NaN counts as the largest."""
    return sort_ops.argsort(x, axis=whole("sort", axis), descending=bool(descending))[0]


def argsort(x: AnyTensor, axis: int = -1, descending: bool = False, name: str | None = None) -> Any:
    """Positions along ``axis`` of the elements of the sorted tensor; equal ones keep their order."""
    if name:
        return named(name, argsort, x, axis, descending)
    return sort_ops.argsort(x, axis=whole("argsort", axis), descending=bool(descending))[1]


def topk(
    x: AnyTensor,
    k: IntegerLike,
    axis: IntegerLike | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The k largest (or smallest) elements along ``axis`` (the last), and their positions."""
    if name:
        return named(name, topk, x, k, axis, largest, sorted)
    axis = -1 if axis is None else whole("topk", axis)
    values, indices = sort_ops.topk(
        x, k=whole("topk", k), axis=axis, largest=bool(largest), sorted=bool(sorted)
    )
    return values, indices


def kthvalue(
    x: AnyTensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Any, Any]:
    """The k-th smallest element along ``axis`` (the last), and its position."""
    if name:
        return named(name, kthvalue, x, k, axis, keepdim)
    axis = -1 if axis is None else whole("kthvalue", axis)
    values, indices = sort_ops.kthvalue(x, k=whole("kthvalue", k), axis=axis, keepdim=bool(keepdim))
    return values, indices


def mode(x: AnyTensor, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The most frequent element along ``axis`` (the smallest of several), and its last position."""
    if name:
        return named(name, mode, x, axis, keepdim)
    values, indices = sort_ops.mode(x, axis=whole("mode", axis), keepdim=bool(keepdim))
    return values, indices


def where(
    condition: AnyTensor, x: TensorLike | None = None, y: TensorLike | None = None, name: str | None = None
) -> Any:
    """x where the condition holds, else y, broadcast; with the condition alone the places where it holds.

    Differs from Paddle: a Python number takes the dtype of the other argument where that holds it.
    """
    if name:
        return named(name, where, condition, x, y)
    if x is None and y is None:
        return nonzero(condition, as_tuple=True)
    if x is None or y is None:
        raise ArgumentError("where: give both x and y, or neither")
    one, other = _number_like(x, y), _number_like(y, x)
    dtype = common_dtype(one.dtype, other.dtype)
    one, other = (v if v.dtype is dtype else arithmetic.cast(v, out_dtype=dtype.name) for v in (one, other))
    return index_ops.where(condition, one, other)


@takes_name
def where_(
    condition: AnyTensor, x: AnyTensor | None = None, y: TensorLike | None = None, name: str | None = None
) -> Any:
    """In place: x keeps its values where ``condition`` holds and gets those of y elsewhere."""
    if x is None and y is None and modes.is_symbolic(condition):
        return where(condition)  # a Program changes nothing in place
    if x is None or y is None:
        raise ArgumentError("where_: give both x and y; x is changed")
    return replace("where_", x, where(condition, x, y), always=False)


def _number_like(value: Any, other: Any) -> Any:
    """A tensor; a Python number in the dtype of ``other`` unless that loses its fraction."""
    if is_tensor(value):
        return value
    made = to_tensor(value)
    if not is_tensor(other) or made.ndim or not isinstance(value, (bool, int, float)):
        return made
    fits = isinstance(value, bool) or other.dtype.name != "bool"
    if other.dtype.is_integer and value.__class__ is int:
        limits = np.iinfo(other.dtype.np)
        fits = limits.min <= value <= limits.max
    if fits and (not isinstance(value, float) or not other.dtype.is_integer):
        return arithmetic.cast(made, out_dtype=other.dtype.name)
    return made


def nonzero(x: AnyTensor, as_tuple: bool = False) -> Any:
    """The places of the elements that are not 0: [n, ndim], or a tuple of one [n, 1] for each dimension."""
    places = sort_ops.nonzero(x)
    if not as_tuple:
        return places
    bounds = [("slice", n, n + 1, None) for n in range(x.ndim)]
    return tuple(index_ops.slice_view(places, index=(("slice", None, None, None), b)) for b in bounds)


def unique(
    x: AnyTensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """The different elements in order, or slices along ``axis``.

    On request also, in ``dtype``: where each is first in x, which of them each element of x is, how often it
    is there.
    """
    if name:
        return named(name, unique, x, return_index, return_inverse, return_counts, axis, dtype)
    found = sort_ops.unique(
        x,
        axis=[] if axis is None else [whole("unique", axis)],
        return_index=bool(return_index),
        return_inverse=bool(return_inverse),
        return_counts=bool(return_counts),
        dtype=_index_dtype(dtype),
    )
    results = tuple(v for v in found if v is not None)
    return results if len(results) > 1 else results[0]


def unique_consecutive(
    x: AnyTensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """Each run of equal elements, or slices along ``axis``, once.

    On request also, in ``dtype``: which run each element of x is in, and how long each run is.
    """
    if name:
        return named(name, unique_consecutive, x, return_inverse, return_counts, axis, dtype)
    found = sort_ops.unique_consecutive(
        x,
        axis=[] if axis is None else [whole("unique_consecutive", axis)],
        return_inverse=bool(return_inverse),
        return_counts=bool(return_counts),
        dtype=_index_dtype(dtype),
    )
    results = tuple(v for v in found if v is not None)
    return results if len(results) > 1 else results[0]


def _index_dtype(dtype: Any) -> str:
    found = as_dtype(dtype)
    if found.name not in ("int32", "int64"):
        raise DTypeError(f"unique: dtype of the positions is int32 or int64: got {found.name}")
    return found.name


def searchsorted(
    sorted_sequence: AnyTensor,
    values: AnyTensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """The insertion positions of values in the sorted last dimension: before equal elements, or after them.

    The sequence has one dimension, or the same as values in all but the last.
    """
    if name:
        return named(name, searchsorted, sorted_sequence, values, out_int32, right)
    return sort_ops.searchsorted(sorted_sequence, values, out_int32=bool(out_int32), right=bool(right))


def bucketize(
    x: AnyTensor,
    sorted_sequence: AnyTensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
) -> Any:
    """The interval between the numbers of a sorted vector that contains each element of x."""
    if name:
        return named(name, bucketize, x, sorted_sequence, out_int32, right)
    if sorted_sequence.ndim != 1:
        raise ArgumentError(
            f"bucketize: sorted_sequence has 1 dimension: got shape {list(sorted_sequence.shape)}; "
            "use searchsorted() for several"
        )
    return sort_ops.searchsorted(sorted_sequence, x, out_int32=bool(out_int32), right=bool(right))
