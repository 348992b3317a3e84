"""Dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.core.operators.bounds import Count, Number
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.random.generator import draws_of
from engine.core.values.spec import Spec
from engine.ops.elementwise import arithmetic


def _infer_dropout(
    x: Spec, *, dropout_prob: float, dropout_implementation: str, **_: Any
) -> tuple[Spec, Spec]:
    require_floating("dropout", x=x)
    if not 0 <= dropout_prob <= 1:
        raise ArgumentError(f"dropout: p is the share of elements dropped, 0 to 1: got {dropout_prob}")
    if dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ArgumentError(
            f"dropout: mode {dropout_implementation!r} is not one of upscale_in_train, downgrade_in_infer"
        )
    return x, x


@op("dropout", infer=_infer_dropout, outputs=("out", "mask"))
def dropout(
    xp,
    x,
    *,
    dropout_prob=0.5,
    is_test=False,
    dropout_implementation="upscale_in_train",
    axis: Count = None,
    seed: Number = 0,
    key,
):
    """Elements set to zero at random; ``mask`` holds the factor of each element.

    ``axis`` names the dimensions along which elements are dropped independently (all by default). In training
    ``upscale_in_train`` divides retained elements by 1 - p; ``downgrade_in_infer`` multiplies by 1 - p at
    test time instead.
    """
    if not 0 <= dropout_prob <= 1 or dropout_implementation not in ("upscale_in_train", "downgrade_in_infer"):
        raise ValueError("wrong attributes")  # inference explains the error
    keep = _keep_share(dropout_prob)
    upscale = dropout_implementation == "upscale_in_train"
    one = x.dtype.type
    if is_test:
        mask = xp.full(x.shape, one(1 if upscale else keep))
        return x * mask, mask
    shape = x.shape if axis is None else tuple(d if n in axis else 1 for n, d in enumerate(x.shape))
    if axis is None and dropout_prob == 1:  # nothing is drawn
        retained = xp.zeros(shape, bool)
    else:
        with draws_of(key, seed) as draws:
            retained = xp.asarray(draws.retained(shape, dropout_prob))
    if axis is not None:  # a product with 1 / (1 - p) there, not a quotient
        share = 1.0 - dropout_prob
        mask = retained.astype(x.dtype) * one(1 / share if share and upscale else 1.0)
        # A new array: a plan may write into it.
        mask = xp.broadcast_to(mask, x.shape).copy()
        return x * mask, mask
    # Divided by the retained share: a product with 1 / keep is rounded otherwise.
    out = xp.divide(x, one(keep if upscale and keep else 1), out=xp.empty_like(x))
    # Dropped elements become 0, also NaN: all bits of each number stay or none of them. That takes a third of
    # the time of where().
    whole = f"i{x.dtype.itemsize}"
    bits = retained.astype(whole)
    xp.negative(bits, out=bits)
    left = out.view(whole)
    left &= bits
    bits &= np.asarray((1 / keep if keep else 0.0) if upscale else 1.0, x.dtype).view(whole)[()]
    return out, bits.view(x.dtype)


def _keep_share(dropout_prob: float) -> Any:
    """1 - p, in float32."""
    return np.float32(1) - np.float32(dropout_prob)


dropout.grad(x=lambda g, mask: arithmetic.multiply(g, mask))
