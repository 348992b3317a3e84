"""Sparse convolution: which inputs meet which outputs under each element of the kernel; their products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core.errors import ShapeError
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import require_integers, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.dtype import int64
from engine.core.values.spec import Spec
from engine.ops.arrays import shape as shapes
from engine.ops.sparse.patterns import numbers_of, positions_of


def _infer_rules(
    indices: Spec,
    *,
    shape: tuple[int, ...],
    kernel_size: tuple[int, ...],
    strides: tuple[int, ...],
    paddings: tuple[int, ...],
    dilations: tuple[int, ...],
    same_sites: bool = False,
) -> tuple[Spec, ...]:
    require_integers("sparse_rulebook", indices=indices)
    if (
        indices.ndim != 2
        or indices.shape[0] not in (-1, len(kernel_size) + 1)
        or len(shape) != len(kernel_size) + 1
    ):
        raise ShapeError(
            f"sparse_rulebook: indices [{len(kernel_size) + 1}, n] hold batch and places: got {indices} "
            f"for the shape {list(shape)}"
        )
    count = indices.shape[1] if same_sites else -1
    return (
        Spec((len(shape), count), indices.dtype),
        Spec((count,), int64),
        Spec((-1,), int64),
        Spec((-1,), int64),
        Spec((int(np.prod(kernel_size)),), int64),
    )


@op("sparse_rulebook", infer=_infer_rules, outputs=("sites", "numbers", "sources", "targets", "counts"))
def rulebook(
    xp,
    indices,
    *,
    shape: Size,
    kernel_size: Count,
    strides: Count,
    paddings: Count,
    dilations: Count,
    same_sites=False,
):
    """Positions of the outputs and their numbers; pairs of input row and output row, kernel element by
    element.

    ``shape`` and indices have the batch in front. ``counts`` has the number of pairs of each element of the
    kernel. With ``same_sites`` the outputs have the positions of the inputs, sorted.
    """
    size = (shape[0], *extents(shape[1:], kernel_size, strides, paddings, dilations))
    if same_sites:
        size = shape
    offsets = xp.asarray(np.indices(kernel_size).reshape(len(kernel_size), -1))
    count = indices.shape[1]
    reached = xp.ones((offsets.shape[1], count), bool)
    numbers = xp.broadcast_to(indices[0].astype(np.int64), reached.shape)
    for axis in range(len(kernel_size)):
        place = indices[axis + 1][None, :] + paddings[axis] - offsets[axis][:, None] * dilations[axis]
        if strides[axis] != 1:
            reached &= place % strides[axis] == 0
            place = place // strides[axis]
        reached &= (place >= 0) & (place < size[axis + 1])
        numbers = numbers * size[axis + 1] + place
    if same_sites:
        sites = xp.unique(numbers_of(xp, indices, shape))
        if len(sites):
            nearest = xp.minimum(xp.searchsorted(sites, numbers), len(sites) - 1)
            reached &= sites[nearest] == numbers
    else:
        sites = xp.unique(numbers[reached])
    sources = xp.broadcast_to(xp.arange(count), reached.shape)[reached]
    targets = xp.searchsorted(sites, numbers[reached])
    return positions_of(xp, sites, size, indices.dtype), sites, sources, targets, reached.sum(axis=1)


def extents(
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
) -> tuple[int, ...]:
    """The sizes of the output of a convolution."""
    return tuple(
        max(0, (size + 2 * pad - dilation * (width - 1) - 1) // stride + 1)
        for size, width, stride, pad, dilation in zip(
            sizes, kernel, strides, paddings, dilations, strict=True
        )
    )


def _infer_conv(values: Spec, weight: Spec, sources: Spec, targets: Spec, counts: Spec, like: Spec) -> Spec:
    dtype = require_same_dtype("sparse_conv3d", values=values, weight=weight)
    if values.ndim != 2 or weight.ndim < 3 or values.shape[1] not in (-1, weight.shape[-2]):
        raise ShapeError(
            f"sparse_conv3d: the kernel is [..., channels, outputs] for values [n, channels]: got {weight} "
            f"and {values}"
        )
    return Spec((like.shape[0], weight.shape[-1]), dtype)


@op("sparse_conv3d", infer=_infer_conv, slots={"values": "x", "weight": "kernel"})
def convolve(xp, values, weight, sources, targets, counts, like):
    """As many rows as like has: rows of values by matrices of the kernel, added up by pairs."""
    matrices = weight.reshape(-1, *weight.shape[-2:])
    result = xp.zeros((len(like), weight.shape[-1]), values.dtype)
    begin = 0
    for matrix, count in zip(matrices, counts.tolist(), strict=True):
        if count:
            part = slice(begin, begin + count)
            result[targets[part]] += values[sources[part]] @ matrix  # no target twice under one element
            begin += count
    return result


def _infer_kernel(values: Spec, grads: Spec, sources: Spec, targets: Spec, counts: Spec, like: Spec) -> Spec:
    return Spec(like.shape, values.dtype)


@op("sparse_conv3d_kernel", infer=_infer_kernel)
def correlate(xp, values, grads, sources, targets, counts, like):
    """The gradient of the kernel, which is like: for each element the sum of products of paired rows."""
    result = xp.zeros((len(counts), *like.shape[-2:]), values.dtype)
    begin = 0
    for n, count in enumerate(counts.tolist()):
        if count:
            part = slice(begin, begin + count)
            result[n] = values[sources[part]].T @ grads[targets[part]]
            begin += count
    return result.reshape(like.shape)


def _swapped(weight: Any) -> Any:
    last = len(weight.shape) - 1
    return shapes.transpose(weight, axis=[*range(last - 1), last, last - 1])


convolve.grad(
    values=lambda g, values_like, weight, sources, targets, counts: convolve(
        g, _swapped(weight), targets, sources, counts, values_like
    ),
    weight=lambda g, values, weight_like, sources, targets, counts: correlate(
        values, g, sources, targets, counts, weight_like
    ),
)
correlate.grad(
    values=lambda g, values_like, grads, sources, targets, counts: convolve(
        grads, _swapped(g), targets, sources, counts, values_like
    ),
    grads=lambda g, values, grads_like, sources, targets, counts: convolve(
        values, g, sources, targets, counts, grads_like
    ),
)
