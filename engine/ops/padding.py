"""Padding of all dimensions with a constant."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError, ShapeError
from engine.core.opdef import op
from engine.core.spec import Spec


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
                f"pad: paddings {list(paddings)} take more from dimension {n} of {x} than it has"
            )
        shape.append(size)
    return x.with_shape(shape)


def _pairs(paddings: Any) -> list[tuple[int, int]]:
    return list(zip(paddings[0::2], paddings[1::2], strict=True))


@op("pad", infer=_infer_pad)
def pad(xp, x, *, paddings, pad_value=0.0):
    """x with ``pad_value`` before and after each dimension; negative numbers cut off instead."""
    pairs = _pairs(paddings)
    inside = tuple(slice(max(-b, 0), d - max(-a, 0)) for d, (b, a) in zip(x.shape, pairs, strict=True))
    return xp.pad(x[inside], [(max(b, 0), max(a, 0)) for b, a in pairs], constant_values=pad_value)


def _pad_grad(g: Any, paddings: Any) -> Any:
    """The gradient is padded the other way round: what was added is cut off, what was cut off gets zeros."""
    return pad(g, paddings=[-p for p in paddings], pad_value=0.0)


pad.grad(x=_pad_grad)
