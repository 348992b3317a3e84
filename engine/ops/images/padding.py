"""Padding of all dimensions with a constant, and of images and volumes in all modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec

MODES = ("constant", "reflect", "replicate", "circular")


def _infer_pad(x: Spec, *, paddings: Any, **_: Any) -> Spec:
    if len(paddings) != 2 * x.ndim:
        raise ArgumentError(
            f"pad: {len(paddings)} paddings for {x}; give two numbers, before and after, for each dimension"
        )
    shape = []
    for n, d in enumerate(x.shape):
        size = d if d < 0 else d + paddings[2 * n] + paddings[2 * n + 1]
        if size < 0 <= d:
            raise ShapeError(
                f"pad: paddings {list(paddings)} remove more from dimension {n} of {x} than it has"
            )
        shape.append(size)
    return x.with_shape(shape)


def _pairs(paddings: Any) -> list[tuple[int, int]]:
    return list(zip(paddings[0::2], paddings[1::2], strict=True))


def _constant(xp: Any, x: Any, pairs: list[tuple[int, int]], value: Any) -> Any:
    inside = tuple([slice(max(-b, 0), d - max(-a, 0)) for d, (b, a) in zip(x.shape, pairs, strict=True)])
    inner = x[inside]
    shape = [d + max(b, 0) + max(a, 0) for d, (b, a) in zip(inner.shape, pairs, strict=True)]
    result = xp.full_like(inner, value, shape=shape)
    result[tuple([slice(max(b, 0), max(b, 0) + d) for d, (b, _) in zip(inner.shape, pairs, strict=True)])] = (
        inner
    )
    return result


@traits.complex_gradient
@op("pad", infer=_infer_pad)
def pad(xp, x, *, paddings: Count, pad_value=0.0):
    """x with ``pad_value`` before and after each dimension; negative numbers cut off instead."""
    _infer_pad(Spec(x.shape, "float32"), paddings=paddings)
    return _constant(xp, x, _pairs(paddings), pad_value)


def _pad_grad(g: Any, paddings: Any) -> Any:
    """The padding of the gradient: added elements are cut off, and elements that were cut off get zeros."""
    return pad(g, paddings=[-p for p in paddings], pad_value=0.0)


pad.grad(x=_pad_grad)


# -- images and volumes ------------------------------------------------------------------------------------


def _by_axis(paddings: Any, data_format: str) -> list[tuple[int, int]]:
    """The pair of each of the five dimensions, from [left, right, top, bottom, front, back]."""
    spatial = _pairs(paddings)[::-1]
    none = (0, 0)
    return [none, *spatial, none] if data_format == "NDHWC" else [none, none, *spatial]


def _infer_pad3d(
    x: Spec, pads: Spec | None, *, paddings: Any, mode: str, value: float, data_format: str
) -> Spec:
    if mode not in MODES:
        raise ArgumentError(f"pad: mode {mode!r} is not one of {list(MODES)}")
    if data_format not in ("NCDHW", "NDHWC"):
        raise ArgumentError(f"pad: data_format {data_format!r} is not one of 'NCDHW', 'NDHWC'")
    if x.ndim != 5:
        raise ShapeError(f"pad: x needs 5 dimensions, {data_format}: got {x}; unsqueeze it")
    if pads is not None:
        if not pads.dtype.is_integer or pads.ndim != 1 or pads.shape[0] not in (-1, 6):
            raise DTypeError(f"pad: pad as a tensor is int32 or int64 of shape [6]: got {pads}; cast it")
        spatial = range(1, 4) if data_format == "NDHWC" else range(2, 5)
        return x.with_shape([-1 if n in spatial else d for n, d in enumerate(x.shape)])
    if len(paddings) != 6:
        raise ArgumentError(
            f"pad: {len(paddings)} paddings for {x}; give two for each of the three dimensions"
        )
    shape = []
    for n, (d, (before, after)) in enumerate(zip(x.shape, _by_axis(paddings, data_format), strict=True)):
        if d >= 0:
            _require_padding(x.shape, n, before, after, mode)
        shape.append(d if d < 0 else d + before + after)
    return x.with_shape(shape)


def _require_padding(shape: Any, axis: int, before: int, after: int, mode: str) -> None:
    """Raise ShapeError or ArgumentError where a dimension can't be padded like this."""
    size = shape[axis]
    if before == after == 0:
        return
    shown = f"padding {(before, after)} of dimension {axis} of {list(shape)}, mode {mode!r}"
    if mode == "constant":
        if size + before + after < 1:
            raise ShapeError(f"pad: {shown}: removes all elements; cut off less")
        return
    if min(before, after) < 0:
        raise ArgumentError(f"pad: {shown}: only mode 'constant' cuts off; use padding of 0 or more")
    if size < 1:
        raise ShapeError(f"pad: {shown}: there is nothing to repeat")
    if mode == "reflect" and max(before, after) >= size:
        raise ShapeError(f"pad: {shown}: a mirror image has at most {size - 1} elements; pad less")


def _sources(size: int, before: int, after: int, mode: str) -> Any:
    """For each element of a padded dimension, the element that it repeats."""
    at = np.arange(-before, size + after)
    if mode == "replicate":
        return at.clip(0, size - 1)
    if mode == "circular":
        return at % size
    at = np.abs(at)
    return np.where(at >= size, 2 * (size - 1) - at, at)


@traits.complex_gradient
@op("pad3d", infer=_infer_pad3d, slots={"pads": "Paddings"})
def pad3d(xp, x, pads=None, *, paddings: Count = (), mode="constant", value=0.0, data_format="NCDHW"):
    """x [N, C, D, H, W] padded by [left, right, top, bottom, front, back], or by the tensor ``pads``."""
    pairs = _given(x, pads, paddings, mode, data_format)
    if mode == "constant":
        return _constant(xp, x, pairs, value)
    for axis, (before, after) in enumerate(pairs):
        if before or after:
            x = xp.take(x, xp.asarray(_sources(x.shape[axis], before, after, mode)), axis=axis)
    return x.copy() if not any(map(any, pairs)) else x


def _given(x: Any, pads: Any, paddings: Any, mode: str, data_format: str) -> list[tuple[int, int]]:
    if x.ndim != 5 or mode not in MODES:
        raise ValueError("shapes do not fit")  # inference explains the error
    if pads is not None:
        paddings = [int(p) for p in pads.tolist()]
    pairs = _by_axis(paddings, data_format)
    for n, (before, after) in enumerate(pairs):
        _require_padding(x.shape, n, before, after, mode)
    return pairs


@traits.complex_gradient
@op(
    "pad3d_grad",
    infer=lambda x, g_in, pads, **_: x.with_dtype(g_in.dtype),
    outputs=("x_grad",),
    slots={"pads": "Paddings", "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
)
def pad3d_grad(xp, x, g_in, pads=None, *, paddings: Count = (), mode="constant", data_format="NCDHW"):
    """The gradient of x: the sum over the elements that repeat each of its elements."""
    pairs = _given(x, pads, paddings, mode, data_format)
    if mode == "constant":
        return _constant(xp, g_in, [(-b, -a) for b, a in pairs], 0)
    for axis, (before, after) in enumerate(pairs):
        if not (before or after):
            continue
        moved = xp.moveaxis(g_in, axis, 0)
        size = moved.shape[0] - before - after
        total = moved[before : before + size].copy()
        sources = _sources(size, before, after, mode)
        for n in (*range(before), *range(before + size, before + size + after)):
            total[int(sources[n])] += moved[n]
        g_in = xp.moveaxis(total, 0, axis)
    return g_in.copy() if not any(map(any, pairs)) else g_in


@pad3d.grad_all("x")
def _pad3d_rule(g: Any, x_like: Any, pads: Any, paddings: Any, mode: str, data_format: str) -> Any:
    return pad3d_grad(x_like, g, pads, paddings=paddings, mode=mode, data_format=data_format)


@pad3d_grad.grad_all("g_in")
def _pad3d_grad_rule(g: Any, pads: Any, **attrs: Any) -> Any:
    return pad3d(g, pads, value=0.0, **attrs)
