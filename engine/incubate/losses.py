"""Softmax with a mask in one call, and a loss that is marked as one."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ArgumentError
from engine.ops.activations import softmax
from engine.ops.arrays import creation, shape, triangles
from engine.ops.elementwise import arithmetic
from engine.program.build.calls import takes_name
from engine.tensor import math
from engine.tensor.reductions import reduction as reductions
from engine.tensor.tensor_like import AnyTensor

_REDUCTIONS = {"sum": 0, "mean": 1, "none": 2}


@takes_name
def softmax_mask_fuse(x: AnyTensor, mask: AnyTensor, name: str | None = None) -> Any:
    """softmax(x + mask) over the last dimension; ``mask`` is broadcast."""
    return softmax.softmax(arithmetic.add(x, mask), axis=-1)


def softmax_mask_fuse_upper_triangle(x: AnyTensor) -> Any:
    """softmax over the last dimension of [..., n, n] where row i sees columns 0 to i; the others are 0."""
    forbidden = creation.fill_like(shape.detach(x), value=float("-inf"))
    masked = arithmetic.add(x, triangles.tril_triu(forbidden, diagonal=1, lower=False))
    return softmax.softmax(masked, axis=-1)


def identity_loss(x: AnyTensor, reduction: str | int = "none") -> Any:
    """``x`` itself ('none', 2), its mean ('mean', 1) or its sum ('sum', 0)."""
    number = _REDUCTIONS.get(reduction.lower()) if isinstance(reduction, str) else reduction
    if number not in (0, 1, 2):
        raise ArgumentError(
            f"identity_loss: Unsupported reduction type. got {reduction!r}; use 'sum', 'mean' or 'none'"
        )
    return (reductions.sum, reductions.mean, math.scale)[number](x)
