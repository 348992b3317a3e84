"""Attention and its gradient in NumPy: blocks over the leading dimensions, so that scores stay in the cache.

Each block calls the kernels of the operators that the fused one combines, one after the other, so results
have the bits that those give, as far as BLAS sums a row alike whatever rows are next to it. Blocks are on
the threads of the pool.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.kernels.cpu import pool
from engine.kernels.cpu import threads as threads_
from engine.kernels.cpu.products import product

Array = Any
Block = Callable[[Array], Array]  # the part of an array, None of None

# Elements of the scores of a block: 256 KiB of float32 for each of about three arrays of that size.
BLOCK = 1 << 16


def forward(
    xp: Any,
    x: Array,
    y: Array,
    v: Array | None,
    masks: Sequence[Array],
    factor: float | None,
    times: float | None,
    turned: bool,
    lies: bool,
) -> tuple[Array | None, Array]:
    """See ``fused_attention`` in engine/ops/linalg/attention.py; without ``v`` the weights alone."""
    kernels = _Kernels(xp)
    rows, columns = x.shape[-2], y.shape[-1 if turned else -2]
    out = None if v is None else empty(xp, (*x.shape[:-1], v.shape[-1]), x.dtype, lies)
    weights = xp.empty((*x.shape[:-2], rows, columns), x.dtype)

    def work(part: Block) -> None:
        here = part(weights)
        kernels.product(kernels.scaled(part(x), factor), _right(part(y), turned), here)
        if times is not None:
            kernels.scale(xp, here, scale=times, out=here)
        for mask in masks:
            xp.add(here, part(mask), out=here)
        kernels.softmax(xp, here, axis=-1, out=here)
        if v is not None:
            kernels.product(here, part(v), part(out))

    in_blocks(xp, x.shape[:-2], rows * columns, work)
    return out, weights


def backward(
    xp: Any,
    given: Sequence[Array | None],
    factor: float | None,
    times: float | None,
    after: float | None,
    turned: bool,
    lies: Sequence[bool],
    wanted: Sequence[bool],
) -> tuple[Array | None, Array | None, Array | None]:
    """See ``fused_attention_grad``, whose inputs are ``given``."""
    kernels = _Kernels(xp)
    flow, weights, x, y, v, dropped, dropout_factors = given
    made = [
        empty(xp, a.shape, a.dtype, lie) if want else None
        for a, lie, want in zip((x, y, v), lies, wanted, strict=True)
    ]

    def work(part: Block) -> None:
        g, w = part(flow), part(weights)
        of_x, of_y, of_v = map(part, made)
        if of_v is not None:
            met = w if dropped is None else part(dropped)
            kernels.product(met.swapaxes(-1, -2), g, of_v)
        if of_x is None and of_y is None:
            return
        scores = kernels.product(g, part(v).swapaxes(-1, -2))
        if dropout_factors is not None:
            scores *= part(dropout_factors)
        kernels.softmax_grad(xp, scores, w, axis=-1, out=scores)
        if times is not None:
            kernels.scale(xp, scores, scale=times, out=scores)
        if of_x is not None:
            kernels.product(scores, _right(part(y), not turned), of_x)
            if after is not None:
                kernels.scale(xp, of_x, scale=after, out=of_x)
        if of_y is not None:
            left = kernels.scaled(part(x), factor)
            if turned:
                kernels.product(left.swapaxes(-1, -2), scores, of_y)
            else:
                kernels.product(scores.swapaxes(-1, -2), left, of_y)

    in_blocks(xp, x.shape[:-2], weights.shape[-1] * weights.shape[-2], work)
    return made[0], made[1], made[2]


class _Kernels:
    """The kernels of the operators that attention consists of."""

    def __init__(self, xp: Any) -> None:
        self._xp = xp
        self.product = functools.partial(product, xp)
        # Those of a GPU may be its own; on the CPU a plan's whole attention is, where it is compiled.
        self.softmax, self.softmax_grad, self.scale = (
            OPS[name].kernel if xp is np else OPS[name].kernel_for("cupy")[0]
            for name in ("softmax", "softmax_grad", "scale")
        )

    def scaled(self, x: Array, factor: float | None) -> Array:
        """x times ``factor``, x itself where it is None."""
        return x if factor is None else self.scale(self._xp, x, scale=factor)


def _right(y: Array, turned: bool) -> Array:
    return y if turned else y.swapaxes(-1, -2)


def empty(xp: Any, shape: Sequence[int], dtype: Any, lies: bool) -> Array:
    """An array for results of this shape; where it ``lies``, its heads are side by side in each row."""
    if not lies:
        return xp.empty(shape, dtype)
    *lead, heads, rows, size = shape
    return xp.empty((*lead, rows, heads, size), dtype).swapaxes(-2, -3)


def in_blocks(xp: Any, lead: Sequence[int], size: int, work: Callable[[Block], None]) -> None:
    """Call ``work`` for blocks of arrays with the leading dimensions ``lead``, of about BLOCK elements each.

    ``size`` is that of the scores at one place of ``lead``. The blocks follow from the sizes.
    """
    axis = max(range(len(lead)), key=lambda n: lead[n])
    length = lead[axis]
    each = size
    for n in lead:
        each *= n
    each //= max(1, length)
    step = max(1, BLOCK // max(1, each))
    if xp is not np or length <= step or each * length < 2 * BLOCK:
        work(lambda array: array)
        return
    if not threads_.blas_is_ours:
        threads_.claim_blas()
    back = len(lead) - axis + 2  # the axis counted from behind, since a mask may have fewer dimensions
    pool.run(
        [
            functools.partial(work, functools.partial(_part, back, slice(n, n + step)))
            for n in range(0, length, step)
        ]
    )


def _part(back: int, part: slice, x: Array) -> Array:
    if x is None or x.ndim < back or x.shape[-back] == 1:
        return x
    return x[(..., part, *(slice(None),) * (back - 1))]
