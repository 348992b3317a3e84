"""Attention and its gradients in one launch and in two: the arguments of ``cuda/attention.cu``.

Above ``OWN`` multiplications the operators it combines compute it, with products as ``products.py`` has
them: those of 16 bits have units of their own on a GPU, which our kernel does not use.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import cupy
import numpy as np

from engine.kernels.cpu import attention as plain
from engine.kernels.cupy import source
from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.linalg import gemm

Array = Any

_TILE, _WIDE = 32, 64
# Multiplications up to which our kernel serves, by the bytes of a number. Estimates, to be timed.
OWN = {2: 1 << 24, 4: 1 << 28, 8: 1 << 28}
_NOWHERE = (np.int64(0),) * 4


def forward(
    xp: Any,
    x: Array,
    y: Array,
    v: Array,
    masks: Sequence[Array],
    *,
    factor: float | None = None,
    times: float | None = None,
    turned: bool = False,
    lies: bool = False,
    keeps: bool = True,
) -> tuple[Array, Array | None]:
    """The kernel of ``fused_attention``; without ``keeps`` the weights are None."""
    found = _forward(x, y, v, masks, factor, times, turned, lies, keeps)
    if found is None:
        attrs = {"factor": factor, "times": times, "turned": turned, "lies": lies}
        return default("fused_attention")(xp, x, y, v, masks, **attrs)  # type: ignore[no-any-return]
    return found


def scores(
    xp: Any,
    x: Array,
    y: Array,
    masks: Sequence[Array],
    *,
    factor: float | None = None,
    times: float | None = None,
    turned: bool = False,
) -> Array:
    """The kernel of ``fused_scores``."""
    found = _forward(x, y, None, masks, factor, times, turned, False, True)
    if found is None:
        return default("fused_scores")(xp, x, y, masks, factor=factor, times=times, turned=turned)
    return found[1]


def _forward(
    x: Array,
    y: Array,
    v: Array | None,
    masks: Sequence[Array],
    factor: float | None,
    times: float | None,
    turned: bool,
    lies: bool,
    keeps: bool,
) -> Any:
    """The result and the weights; None where the kernel does not serve."""
    y = y.swapaxes(-1, -2) if turned else y
    lead, (rows, size), columns = x.shape[:-2], x.shape[-2:], y.shape[-2]
    width = 0 if v is None else v.shape[-1]
    arrays = [x, y, *([] if v is None else [v])]
    if not _serves([*arrays, *masks], lead, rows, columns, size + width, v is None or width > 0):
        return None
    mask = _added(masks)
    out = None if v is None else plain.empty(cupy, (*lead, rows, width), x.dtype, lies)
    laid = _laid(lead, [*arrays, mask, out], v is None)
    if laid is None:
        return None
    (x, y, *more), inner, steps = laid
    v, mask = (None if v is None else more[0]), (more[-2] if mask is not None else None)
    weights = cupy.empty((*lead, rows, columns), x.dtype) if keeps else None
    macros = {
        **source.of_type(x.dtype),
        "MASK": mask is not None,
        "VALUES": v is not None,
        "WEIGHTS": keeps,
        "DROPPED": False,
        "KEPT": False,
    }
    places = prod(lead)
    sizes = map(np.int32, (places, inner, rows, columns, size, width))
    grid = (-(-rows // _TILE), min(places, 65535), max(1, -(-width // _WIDE)))
    number = _number(x.dtype, factor, times)
    kernel = source.kernel("attention", "attention", **macros)
    kernel(grid, (256,), (x, y, v, mask, out, weights, *sizes, *steps, number))
    return out, weights


def backward(
    xp: Any,
    flow: Array,
    weights: Array,
    x: Array,
    y: Array,
    v: Array,
    dropped: Array = None,
    kept: Array = None,
    *,
    factor: float | None = None,
    times: float | None = None,
    after: float | None = None,
    turned: bool = False,
    lies: Sequence[bool] = (False, False, False),
    wanted: Sequence[bool] = (True, True, True),
) -> tuple[Array | None, ...]:
    """The kernel of ``fused_attention_grad``."""
    lead, (rows, columns), size, width = x.shape[:-2], weights.shape[-2:], x.shape[-1], v.shape[-1]
    arrays = [flow, weights, x, y, v, *(a for a in (dropped, kept) if a is not None)]
    made = [
        plain.empty(cupy, a.shape, a.dtype, lie) if want else None
        for a, lie, want in zip((x, y, v), lies, wanted, strict=True)
    ]
    laid = None
    if _serves(arrays, lead, rows, columns, size + width, width > 0 and size > 0):
        seen, of_y = (a if a is None or not turned else a.swapaxes(-1, -2) for a in (y, made[1]))
        laid = _laid(lead, [flow, x, seen, v, made[0], of_y, made[2]], False)
    if laid is None:
        return default("fused_attention_grad")(  # type: ignore[no-any-return]
            xp,
            flow,
            weights,
            x,
            y,
            v,
            dropped,
            kept,
            factor=factor,
            times=times,
            after=after,
            turned=turned,
            lies=lies,
            wanted=wanted,
        )
    (flow, x, y, v, *_), inner, steps = laid
    weights, dropped, kept = (
        None if a is None else cupy.ascontiguousarray(a) for a in (weights, dropped, kept)
    )
    of_flow, of_x, of_y, of_v, to_x, to_y, to_v = (steps[4 * n : 4 * n + 4] for n in range(7))
    macros = {  # without dropout those of a forward launch: one source to compile for both
        **source.of_type(x.dtype),
        "MASK": False,
        "VALUES": True,
        "WEIGHTS": True,
        "DROPPED": dropped is not None,
        "KEPT": kept is not None,
    }
    places = prod(lead)
    sizes = tuple(map(np.int32, (places, inner, rows, columns, size, width)))
    some = min(places, 65535)
    flags = [np.int32(want) for want in wanted]
    sums = None
    if wanted[0] or wanted[1]:
        sums = cupy.empty((places, rows), np.float64 if x.dtype == np.float64 else np.float32)
        given = (flow, weights, y, v, kept, made[0], sums, *sizes, *of_flow, *of_y, *of_v, *to_x)
        grid = (-(-rows // _TILE), some, -(-size // _WIDE) if wanted[0] else 1)
        kernel = source.kernel("attention", "by_rows", **macros)
        kernel(grid, (256,), (*given, _number(x.dtype, times, after), flags[0]))
    if wanted[1] or wanted[2]:
        lay = (*of_flow, *of_x, *of_v, *to_y, *to_v)
        given = (flow, weights, x, v, dropped, kept, sums, made[1], made[2], *sizes, *lay)
        grid = (-(-columns // _TILE), some, -(-max(size * wanted[1], width * wanted[2]) // _WIDE))
        kernel = source.kernel("attention", "by_columns", **macros)
        kernel(grid, (256,), (*given, _number(x.dtype, times, factor), *flags[1:]))
    return tuple(made)


def _serves(
    arrays: Sequence[Array], lead: tuple[int, ...], rows: int, columns: int, depth: int, full: bool
) -> bool:
    """Whether the kernel computes with these arrays: of one floating dtype, not empty, not too large."""
    first = arrays[0].dtype
    work = prod(lead) * rows * columns * depth
    return bool(
        first.name in source.FLOATING
        and full
        and 0 < work <= OWN[first.itemsize]
        and all(a.dtype == first for a in arrays)
    )


def _added(masks: Sequence[Array]) -> Array | None:
    """The masks as one of at least two dimensions."""
    if not masks:
        return None
    made = masks[0]
    for mask in masks[1:]:
        made = made + mask
    return made if made.ndim > 1 else made.reshape((1,) * (2 - made.ndim) + made.shape)


def _laid(lead: tuple[int, ...], arrays: Sequence[Array | None], skips: bool) -> Any:
    """The arrays with their layouts: (arrays, the length of the inner walk, four steps for each).

    With ``skips`` the third, of the values, is missing. Arrays in the order of the kernel's parameters; the
    results are never copied. None where the places before rows and columns are more than two walks.
    """
    given = list(arrays)
    for copies in (False, True):
        if copies:
            given = [a if a is None or n >= 4 else cupy.ascontiguousarray(a) for n, a in enumerate(arrays)]
        found = _walked(
            lead, tuple(None if a is None else (a.shape, a.strides, a.dtype.itemsize) for a in given)
        )
        if found is not None:
            inner, steps = found
            return given, inner, (*steps[:8], *_NOWHERE, *steps[8:]) if skips else steps
    return None


@lru_cache(maxsize=1024)
def _walked(lead: tuple[int, ...], arrays: tuple[Any, ...]) -> tuple[int, tuple[Any, ...]] | None:
    steps = [(0,) * len(lead) if a is None else gemm.leading(a[0], a[1], lead) for a in arrays]
    walks = gemm.walks(lead, *steps)
    if len(walks) > 2:
        return None
    walks = [(1, *[0] * len(arrays))] * (2 - len(walks)) + walks
    made: list[Any] = []
    for number, array in enumerate(arrays, 1):
        if array is None:
            made += _NOWHERE
            continue
        shape, strides, size = array
        last = [0 if length == 1 else step for length, step in zip(shape[-2:], strides[-2:], strict=True)]
        made += [np.int64(step // size) for step in (walks[0][number], walks[1][number], *last)]
    return walks[1][0], tuple(made)


def _number(dtype: Any, *factors: float | None) -> Any:
    """The product of factors in the computing type; None is 1."""
    made = 1.0
    for factor in factors:
        made *= 1.0 if factor is None else factor
    return (np.float64 if dtype == np.float64 else np.float32)(made)
