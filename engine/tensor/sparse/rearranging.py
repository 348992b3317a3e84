"""Sparse tensors transposed, reshaped, cut and summed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError, UnsupportedError
from engine.core.operators.infer import normal_axes, normal_axis, reshaped
from engine.core.values.dtype import int64
from engine.eager.sparse import Sparse
from engine.ops.arrays import scatter
from engine.ops.arrays import shape as shapes
from engine.ops.sparse import patterns, rows
from engine.tensor import math
from engine.tensor.creation import to_tensor, zeros_like
from engine.tensor.elements import arranging
from engine.tensor.reductions import reduction
from engine.tensor.sparse import parts
from engine.tensor.tensor_like import DTypeLike


def _like(x: Sparse, indices: Any, values: Any, shape: Sequence[int]) -> Sparse:
    """A tensor in the layout of x of positions in any order."""
    make = parts.csr_of if x.is_sparse_csr() else parts.coo
    return make(indices, values, shape)


def transpose(x: Sparse, perm: Sequence[int], name: str | None = None) -> Sparse:
    """The dimensions of a sparse tensor in another order; dense dimensions change among themselves only."""
    parts.require_sparse("transpose", x=x)
    order = [normal_axis("transpose", int(axis), x.ndim) for axis in perm]
    if sorted(order) != list(range(x.ndim)):
        raise ArgumentError(f"transpose: perm must name each of {x.ndim} dimensions once: got {list(perm)}")
    depth = x.depth
    if sorted(order[:depth]) != list(range(depth)):
        raise UnsupportedError(
            f"transpose: perm {list(perm)} mixes the {depth} sparse dimensions with the dense ones"
        )
    indices = scatter.index_select(x.coordinates(), to_tensor(order[:depth], "int64"), dim=0)
    values = x._values
    if depth < x.ndim:
        values = shapes.transpose(values, axis=[0, *(axis - depth + 1 for axis in order[depth:])])
    return _like(x, indices, values, [x.shape[axis] for axis in order])


def reshape(x: Sparse, shape: Sequence[int], name: str | None = None) -> Sparse:
    """A sparse tensor in another shape, -1 for the rest and 0 to keep a dimension; dense dimensions stay."""
    parts.require_sparse("reshape", x=x)
    size = list(reshaped("reshape", x.shape, [int(d) for d in shape]))
    dense = x.ndim - x.depth
    if dense and size[len(size) - dense :] != list(x.shape[x.depth :]):
        raise UnsupportedError(
            f"reshape: the dense dimensions {list(x.shape[x.depth :])} of x must stay at the end: got {size}"
        )
    target = size[: len(size) - dense]
    indices = patterns.reshape_indices(x.coordinates(), shape=parts.at_depth(x), target=target)
    make = parts.csr_of_sorted if x.is_sparse_csr() else parts.coo
    return make(indices, x._values, size)


def slice(
    x: Sparse, axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], name: str | None = None
) -> Sparse:
    """The part of a sparse tensor from ``starts`` to before ``ends`` along ``axes``.

    Negative bounds count from the end. Raises OutOfRangeError for an axis that x does not have, ArgumentError
    for an end before its start.

    Differs from Paddle: the gradient has all positions of x, with zeros outside of the part.
    """
    parts.require_sparse("slice", x=x)
    if not len(axes) == len(starts) == len(ends):
        raise ArgumentError(
            f"slice: axes, starts and ends must be equally long: got {axes}, {starts}, {ends}"
        )
    size, bounds = list(x.shape), {}
    for given, start, end in zip(axes, starts, ends, strict=True):
        axis = normal_axis("slice", int(given), x.ndim)
        length = x.shape[axis]
        first, last = (min(max(b + length if b < 0 else b, 0), length) for b in (int(start), int(end)))
        if last < first:
            raise ArgumentError(f"slice: the end {end} of axis {given} is before its start {start}")
        bounds[axis] = (first, last)
        size[axis] = last - first
    depth = x.depth
    sparse = [axis for axis in bounds if axis < depth]
    indices, numbers = patterns.slice_indices(
        x.coordinates(),
        axes=sparse,
        starts=[bounds[a][0] for a in sparse],
        ends=[bounds[a][1] for a in sparse],
    )
    values = rows.take_rows(x._values, numbers)
    dense = sorted(bounds.keys() - set(sparse))
    if dense:
        values = arranging.slice_(
            values,
            [a - depth + 1 for a in dense],
            [bounds[a][0] for a in dense],
            [bounds[a][1] for a in dense],
        )
    make = parts.csr_of_sorted if x.is_sparse_csr() else parts.coo
    return make(indices, values, size)


def sum(
    x: Sparse,
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Sparse:
    """The sum of a sparse tensor along axes, all by default, as a sparse tensor; integers give int64.

    If ``axis`` names all sparse dimensions, one of length 1 stays. A CSR tensor is summed along its last
    axis or all; the last axis of a matrix stays, with length 1.

    Differs from Paddle: several axes are all summed, not the first only, and the gradient of a CSR tensor is
    right for rows of several elements.
    """
    parts.require_sparse("sum", x=x)
    given = [] if axis is None else [axis] if isinstance(axis, int) else [int(a) for a in axis]
    axes = normal_axes("sum", given, x.ndim) or tuple(range(x.ndim))
    if dtype is not None:
        x = x.with_values(math.cast(x._values, dtype))
    elif not (x.dtype.is_floating_point or x.dtype.is_complex):
        x = x.with_values(math.cast(x._values, int64))
    if x.is_sparse_csr():
        return _sum_csr(x, axes, given, keepdim)
    if not given:
        return _sum_all(x, keepdim)
    return _sum_coo(x, axes, keepdim)


def _sum_all(x: Sparse, keepdim: bool) -> Sparse:
    total = reduction.sum(x._values)
    if not keepdim:
        return parts.coo(to_tensor([0], x.coordinates().dtype), total, [1])
    origin = to_tensor([[0]] * x.depth, x.coordinates().dtype)
    return parts.coo(origin, shapes.reshape(total, shape=[1] * x._values.ndim), [1] * x.ndim)


def _sum_coo(x: Sparse, axes: tuple[int, ...], keepdim: bool) -> Sparse:
    depth, values, indices = x.depth, x._values, x.coordinates()
    dense = [axis - depth + 1 for axis in axes if axis >= depth]
    if dense:
        values = reduction.sum(values, axis=dense, keepdim=keepdim)
    left = [axis for axis in range(depth) if axis not in axes]
    shape = [1 if axis in axes else d for axis, d in enumerate(x.shape) if keepdim or axis not in axes]
    if not left:  # one row of values stays, at the beginning of one dimension
        origin = to_tensor([[0]] * (depth if keepdim else 1), indices.dtype)
        return parts.coo(
            origin, reduction.sum(values, axis=0, keepdim=True), shape if keepdim else [1, *shape]
        )
    if len(left) < depth:
        size = [x.shape[axis] for axis in left]
        chosen = scatter.index_select(indices, to_tensor(left, "int64"), dim=0)
        unique, which = patterns.groups(chosen, shape=size)
        values = rows.sum_rows(values, which, unique[0])
        indices = unique
        if keepdim:
            zeros = zeros_like(unique[:1])
            at = iter(range(len(left)))
            indices = shapes.concat(
                [zeros if axis in axes else _row(unique, next(at)) for axis in range(depth)], axis=0
            )
    return parts.coo(indices, values, shape)


def _row(indices: Any, n: int) -> Any:
    return indices[n : n + 1]


def _sum_csr(x: Sparse, axes: tuple[int, ...], given: list[int], keepdim: bool) -> Sparse:
    dtype = x._pattern[1].dtype
    if len(axes) == x.ndim:
        total = shapes.reshape(reduction.sum(x._values), shape=[1])
        crows, cols = to_tensor([0, 1], dtype), to_tensor([0], dtype)
        return parts.csr(crows, cols, total, [1] * (x.ndim if keepdim else 2))
    if axes != (x.ndim - 1,):
        raise UnsupportedError(
            f"sum: a CSR tensor is summed along its last axis or all: got axis {given}; use to_sparse_coo()"
        )
    summed = _sum_coo(parts.coo(x.coordinates(), x._values, x.shape), axes, True)
    made = parts.csr_of_sorted(summed.coordinates(), summed._values, summed.shape)
    if not keepdim and x.ndim == 3:
        crows, cols = made._pattern
        return parts.csr(crows, cols, made._values, made._size[:-1])
    return made
