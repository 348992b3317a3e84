"""Parts of images at random places."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Number, Size
from engine.core.operators.infer import require_integers
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec

# The generator ``std::minstd_rand`` of C++.
_FACTOR, _MODULUS = 48271, (1 << 31) - 1


def _infer(x: Spec, seed: Spec, *, shape: Any, **_: Any) -> tuple[Spec, Spec]:
    require_integers("random_crop", seed=seed)
    if seed.size not in (1, -1):
        raise ShapeError(f"random_crop: seed must be one number: got {seed}")
    kept = x.ndim - len(shape)
    if (
        kept < 0
        or not shape
        or any(0 <= have < want or want < 1 for have, want in zip(x.shape[kept:], shape, strict=True))
    ):
        raise ArgumentError(
            f"random_crop: shape {list(shape)} is not a part of the last dimensions of x, {x}; use sizes "
            "from 1 to "
            "those of x"
        )
    return x.with_shape((*x.shape[:kept], *shape)), seed


@op("random_crop", infer=_infer, outputs=("out", "seed_out"), writes={"seed_out": "seed"})
def random_crop(xp, x, seed, *, shape: Size, startup_seed: Number = 0):
    """A part of the size ``shape`` of the last dimensions of ``x``, elsewhere for each of the others.

    The places follow from ``seed``, which ``seed_out`` succeeds; they are those of Paddle 1.8.
    """
    _infer(Spec.of(x), Spec.of(seed), shape=shape)
    kept = x.ndim - len(shape)
    value = int(seed.reshape(-1)[0]) & ((1 << 64) - 1)
    state = value % _MODULUS or 1
    count = int(np.prod(x.shape[:kept]))
    flat = x.reshape(count, *x.shape[kept:])
    out = xp.empty((count, *shape), x.dtype)
    for n in range(count):
        drawn = _advanced(state, n * len(shape))
        places = []
        for have, want in zip(x.shape[kept:], shape, strict=True):
            first, drawn = _below(have - want + 1, drawn)
            places.append(slice(first, first + want))
        out[n] = flat[(n, *places)]
    following = _advanced(state, count * len(shape) + 1)
    return out.reshape(*x.shape[:kept], *shape), xp.asarray(np.full(seed.shape, following, np.int64))


def _advanced(state: int, steps: int) -> int:
    return state * pow(_FACTOR, steps, _MODULUS) % _MODULUS


def _below(bound: int, state: int) -> tuple[int, int]:
    """A number from 0, below ``bound``, and the generator's state after it, by
    ``std::uniform_int_distribution``."""
    scaling = (_MODULUS - 2) // bound
    while True:
        state = _advanced(state, 1)
        if state - 1 < bound * scaling:
            return (state - 1) // scaling, state
