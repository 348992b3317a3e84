"""Rows of poolings."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from engine.nn import functional as F
from engine.onnx.reads.images.windows import (
    counts,
    each,
    known_sizes,
    offsets_of,
    paddings,
    slices,
    spatial,
    stacked,
)
from engine.onnx.reads.rows import Known, reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Unreadable, like, sizes_of

_AVERAGE: dict[int, Any] = {1: F.avg_pool1d, 2: F.avg_pool2d, 3: F.avg_pool3d}
_LARGEST: dict[int, Any] = {1: F.max_pool1d, 2: F.max_pool2d, 3: F.max_pool3d}


def _flat(pairs: Any) -> list[int]:
    return [n for pair in pairs for n in pair]


def _whole(x: Any, kernel: list[int], strides: list[int], pairs: Any) -> bool:
    """Whether every window of a pooling with ``ceil_mode`` is whole without it."""
    return all(
        size >= 0 and (size + a + b - k) % s == 0 and size + b - k < size
        for size, k, s, (a, b) in zip(spatial(x), kernel, strides, pairs, strict=True)
    )


def _of_any_size(
    x: Any,
    auto_pad: str,
    ceil_mode: int,
    pads: Any,
    kernel: list[int],
    strides: list[int],
    dilations: list[int],
) -> Any:
    """The engine's padding where it computes the same for images of unknown sizes; None elsewhere."""
    rank = len(kernel)
    if min(spatial(x)) >= 0 or rank not in _LARGEST or dilations != [1] * rank or x.dtype.is_integer:
        return None
    if auto_pad == "SAME_UPPER" and not ceil_mode:
        return "SAME"
    plain = auto_pad == "VALID" or (auto_pad == "NOTSET" and not any(pads or ()))
    fits = all(s <= k for s, k in zip(strides, kernel, strict=True))
    return 0 if ceil_mode and plain and fits else None


@reads("MaxPool")
def _(
    g: Any,
    X: Any,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Any = None,
    pads: Any = None,
    storage_order: int = 0,
    strides: Any = None,
) -> Any:
    rank = X.ndim - 2
    kernel, stride, dilation = each(kernel_shape, rank), each(strides, rank), each(dilations, rank)
    wanted = g.outputs > 1 and not g.missing[1]
    form = _of_any_size(X, auto_pad, ceil_mode, pads, kernel, stride, dilation)
    if form is not None and not wanted:
        return _LARGEST[rank](X, kernel, stride, form, ceil_mode=bool(ceil_mode))
    pairs = paddings(X, auto_pad, pads, kernel, stride, dilation)
    simple = rank in _LARGEST and dilation == [1] * rank and X.dtype.name in ("float32", "float64")
    if simple and not wanted and (not ceil_mode or _whole(X, kernel, stride, pairs)):
        return _LARGEST[rank](X, kernel, stride, _flat(pairs))
    lowest = _lowest(X)
    parts = stacked(slices(X, kernel, stride, dilation, pairs, bool(ceil_mode), lowest))
    made = T.max(parts, axis=0)
    if not wanted:
        return made
    return made, _positions(X, parts, kernel, stride, dilation, pairs, storage_order)


def _lowest(x: Any) -> float:
    name = x.dtype.name
    if not x.dtype.is_integer:
        return float("-inf")
    return float(np.iinfo(name).min)


def _positions(
    x: Any, parts: Any, kernel: Any, stride: Any, dilation: Any, pairs: Any, column_major: int
) -> Any:
    """Where each largest element is in the tensor as one row."""
    sizes = known_sizes(x)
    steps = _steps(sizes, column_major)
    shape = [int(d) for d in parts.shape[3:]]
    starts = np.zeros(shape, np.int64)
    for axis, (count, s, (before, _), step) in enumerate(zip(shape, stride, pairs, steps, strict=True)):
        along = [1] * len(shape)
        along[axis] = -1
        starts = starts + ((np.arange(count) * s - before) * step).reshape(along)
    moves = np.array(
        [
            sum(o * d * step for o, d, step in zip(offset, dilation, steps, strict=True))
            for offset in offsets_of(kernel)
        ],
        np.int64,
    )
    best = T.argmax(parts, axis=0)
    inside = T.add(
        T.reshape(T.gather(T.to_tensor(moves), T.reshape(best, [-1])), sizes_of(best)), T.to_tensor(starts)
    )
    batch, channels = sizes_of(x)[:2]
    images = T.arange(0, batch * channels, 1, "int64")
    whole = T.multiply(images, T.full([], int(np.prod(sizes)), "int64"))
    return T.add(inside, T.reshape(whole, [batch, channels, *[1] * len(sizes)]))


def _steps(sizes: list[int], column_major: int) -> list[int]:
    """How far apart neighbours of each dimension are in one row."""
    if column_major:
        return [int(np.prod(sizes[:n], dtype=np.int64)) for n in range(len(sizes))]
    return [int(np.prod(sizes[n + 1 :], dtype=np.int64)) for n in range(len(sizes))]


@reads("AveragePool")
def _(
    X: Any,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    dilations: Any = None,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    rank = X.ndim - 2
    kernel, stride, dilation = each(kernel_shape, rank), each(strides, rank), each(dilations, rank)
    form = _of_any_size(X, auto_pad, ceil_mode, pads, kernel, stride, dilation)
    if form is not None and not count_include_pad:
        return _AVERAGE[rank](X, kernel, stride, form, ceil_mode=bool(ceil_mode))
    pairs = paddings(X, auto_pad, pads, kernel, stride, dilation)
    if rank in _AVERAGE and dilation == [1] * rank and (not ceil_mode or _whole(X, kernel, stride, pairs)):
        return _AVERAGE[rank](X, kernel, stride, _flat(pairs), exclusive=not count_include_pad)
    total = reduce(T.add, slices(X, kernel, stride, dilation, pairs, bool(ceil_mode), 0.0))
    return T.divide(total, _counts(X, kernel, stride, dilation, pairs, ceil_mode, count_include_pad))


def _counts(x: Any, kernel: Any, stride: Any, dilation: Any, pairs: Any, ceil_mode: int, padding: int) -> Any:
    """How many elements each window has: those of the image, with ``padding`` those around it too."""
    sizes = known_sizes(x)
    made = np.ones((1, 1))
    for size, k, s, d, (a, b), count in zip(
        sizes,
        kernel,
        stride,
        dilation,
        pairs,
        counts(sizes, kernel, stride, dilation, pairs, bool(ceil_mode)),
        strict=True,
    ):
        places = np.arange(count)[:, None] * s - a + np.arange(k) * d
        low, high = (-a, size + b) if padding else (0, size)
        made = made[..., None] * ((places >= low) & (places < high)).sum(axis=1)
    return T.to_tensor(made.astype(x.dtype.name))


@reads("LpPool")
def _(
    X: Any,
    *,
    kernel_shape: Any,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    dilations: Any = None,
    p: int = 2,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    rank = X.ndim - 2
    kernel, stride, dilation = each(kernel_shape, rank), each(strides, rank), each(dilations, rank)
    pairs = paddings(X, auto_pad, pads, kernel, stride, dilation)
    powers = T.pow(T.abs(X), like(p, X))
    total = reduce(T.add, slices(powers, kernel, stride, dilation, pairs, bool(ceil_mode), 0.0))
    return T.pow(total, like(1.0 / p, X))


def _image_axes(x: Any) -> list[int]:
    if x.ndim < 3:
        raise Unreadable(f"an image of {x.ndim} dimensions")
    return list(range(2, x.ndim))


@reads("GlobalAveragePool")
def _(X: Any) -> Any:
    return T.mean(X, axis=_image_axes(X), keepdim=True)


@reads("GlobalMaxPool")
def _(X: Any) -> Any:
    return T.max(X, axis=_image_axes(X), keepdim=True)


@reads("GlobalLpPool")
def _(X: Any, *, p: int = 2) -> Any:
    total = T.sum(T.pow(T.abs(X), like(p, X)), axis=_image_axes(X), keepdim=True)
    return T.pow(total, like(1.0 / p, X))


@reads("MaxUnpool")
def _(
    X: Any,
    indices: Any,
    output_shape: Known = None,
    *,
    kernel_shape: Any,
    pads: Any = None,
    strides: Any = None,
) -> Any:
    rank = X.ndim - 2
    kernel, stride, given = each(kernel_shape, rank), each(strides, rank), each(pads, 2 * rank, 0)
    sizes = [
        (n - 1) * s + k - a - b
        for n, k, s, a, b in zip(known_sizes(X), kernel, stride, given[:rank], given[rank:], strict=True)
    ]
    wanted = sizes if output_shape is None else [int(v) for v in output_shape.reshape(-1)[-rank:]]
    shape = [*sizes_of(X)[:2], *sizes]
    if not all(isinstance(d, int) for d in shape):
        raise Unreadable("the shape must be known when the model is read")
    total = int(np.prod(shape))
    made = T.scatter_nd(T.reshape(indices, [-1, 1]), T.reshape(X, [-1]), [total])
    made = T.reshape(made, shape)
    if wanted != sizes:
        made = F.pad(made, [0, 0, 0, 0, *(n for a, b in zip(sizes, wanted, strict=True) for n in (0, b - a))])
    return made
