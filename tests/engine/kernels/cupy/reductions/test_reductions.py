"""Reductions on a GPU: rows, columns, channels and all, long rows in parts, NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.engine.kernels.cupy.against_numpy import same

# Over the last axes, the first, one in the middle, all but one, all; rows of a warp, of a block, in parts.
SHAPES: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((3, 1), (1,)),
    ((3, 33), (1,)),
    ((2, 1025), (1,)),
    ((33, 9), (0,)),
    ((2, 5, 9), (1,)),
    ((3, 4, 5), (0, 2)),
    ((2, 3, 4, 5), (1, 3)),
    ((2, 3, 4, 2, 3), (0, 2, 4)),
    ((7,), ()),
    ((), ()),
    ((0, 3), (1,)),
]
LONG: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((9000,), ()), ((700, 8), (0,)), ((2, 8500), (-1,))]


def _launches(shape: tuple[int, ...], axes: tuple[int, ...]) -> int | None:
    if (shape, axes) in LONG:
        return 2
    return None if 0 in shape or axes == (0, 2, 4) else 1  # those are left to CuPy


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_amax", "reduce_amin"]
)
def test_reductions(cupy: Any, name: str, dtype: str) -> None:
    for shape, axes in SHAPES + LONG:
        x = np.random.default_rng(len(shape)).normal(-1, 2, size=shape).astype(dtype)
        for keepdim in (True, False):
            same(cupy, name, x, axis=axes, keepdim=keepdim, launches=_launches(shape, axes))


def test_integers_and_half(cupy: Any) -> None:
    for dtype in ("int32", "int64"):
        x = np.random.default_rng(0).integers(-(2**30), 2**30, (5, 40)).astype(dtype)
        for name in ("reduce_sum", "reduce_max", "reduce_min"):
            same(cupy, name, x, axis=(1,))
            same(cupy, name, x)
    ones = np.ones((2, 3000), np.float16)
    same(cupy, "reduce_sum", ones, axis=(1,))
    same(cupy, "reduce_mean", ones)


def test_log_sums(cupy: Any) -> None:
    for dtype in ("float32", "float64"):
        for shape, axes in SHAPES + LONG:
            x = 50 * np.random.default_rng(1).normal(size=shape).astype(dtype)
            launches = 1 if _launches(shape, axes) else None
            same(cupy, "logsumexp", x, axis=axes, launches=launches)
    x = np.zeros((5, 4), np.float32)
    x[0], x[1, 2], x[2, 0], x[3, 1] = -np.inf, np.inf, np.nan, -np.inf
    same(cupy, "logsumexp", x, axis=(1,))


@pytest.mark.parametrize("order", [2.0, 1.0, 0.0, np.inf, -np.inf, 3.0])
def test_norms(cupy: Any, order: float) -> None:
    x = np.random.default_rng(2).normal(size=(4, 33, 3))
    x[0, 0, 0] = 0
    for dtype in ("float32", "float64"):
        for axis in (0, 1, -1):
            same(cupy, "p_norm", x.astype(dtype), porder=order, axis=axis, keepdim=axis == 1)
        same(cupy, "p_norm", x.astype(dtype), porder=order, asvector=True)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min"])
def test_nan_spreads(cupy: Any, name: str) -> None:
    x = np.arange(99, dtype=np.float32).reshape(3, 33)
    x[0, 5], x[1, 6], x[1, 20], x[2, 1] = np.nan, np.inf, -np.inf, -np.inf
    same(cupy, name, x, axis=(1,))
    same(cupy, name, np.ascontiguousarray(x.T), axis=(0,))


def test_gradients_of_broadcast_inputs(cupy: Any) -> None:
    g = np.random.default_rng(3).normal(size=(6, 4, 9)).astype(np.float32)
    for shape in ((9,), (4, 1), (1, 4, 9), (6, 1, 9), (1,), (6, 4, 1)):
        same(cupy, "sum_to_like", g, np.zeros(shape, np.float32))
    same(cupy, "sum_to_like", g[0, 0], np.zeros((1, 9), np.float32), launches=None)


def test_arrays_of_other_layouts(cupy: Any) -> None:
    from engine.core.operators.opdef import OPS

    x = np.arange(12.0).reshape(3, 4)
    got = OPS["reduce_sum"].kernel_for("cupy")[0](cupy, cupy.asarray(x).T, axis=(1,))
    assert got.get().tolist() == x.sum(0).tolist()
