"""Rows of softmax on a GPU: the borders of warps and blocks, NaN and infinity, axes, results in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from tests.engine.kernels.cupy.against_numpy import close, same

# A warp takes rows up to 1,024 elements, a block longer ones, columns of threads rows along another axis.
SHAPES = [
    ((3, 1), 1),
    ((3, 31), -1),
    ((2, 32), 1),
    ((2, 33), 1),
    ((2, 1025), 1),
    ((0, 4), 1),
    ((4,), 0),
    ((2, 70, 9), 1),
    ((2, 3, 40), 1),
    ((3, 2, 2), 0),
]


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows(cupy: Any, name: str, dtype: str) -> None:
    draws = np.random.default_rng(1)
    for shape, axis in SHAPES:
        x = (3 * draws.normal(size=shape)).astype(dtype)
        same(cupy, name, x, axis=axis, launches=1 if x.size else None)


def test_half_is_computed_in_float(cupy: Any) -> None:
    x = np.linspace(-8, 8, 99, dtype=np.float16).reshape(3, 33)
    same(cupy, "softmax", x)
    exact = OPS["softmax"].kernel(np, x.astype(np.float64), axis=-1)
    got = OPS["softmax"].kernel_for("cupy")[0](cupy, cupy.asarray(x), axis=-1).get()
    np.testing.assert_allclose(got, exact, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_nan_spreads_within_its_row(cupy: Any, name: str) -> None:
    x = np.zeros((6, 33), np.float32)
    x[0, 32] = np.nan
    x[1, 3] = -np.inf
    x[2] = -np.inf
    x[3, 1] = np.inf
    x[4, 0] = 1e30
    same(cupy, name, x)
    got = OPS[name].kernel_for("cupy")[0](cupy, cupy.asarray(x)).get()
    assert np.isnan(got[[0, 2, 3]]).all() or name == "log_softmax"
    assert np.isfinite(got[5]).all()


def test_gradient(cupy: Any) -> None:
    draws = np.random.default_rng(2)
    for dtype in ("float32", "float64"):
        for shape, axis in SHAPES:
            soft = OPS["softmax"].kernel(np, draws.normal(size=shape), axis=axis).astype(dtype)
            flow = draws.normal(size=shape).astype(dtype)
            same(cupy, "softmax_grad", flow, soft, axis=axis, launches=1 if soft.size else None)


def test_arrays_of_other_layouts_and_results_in_place(cupy: Any) -> None:
    x = np.random.default_rng(3).normal(size=(5, 4))
    kernel = OPS["softmax"].kernel_for("cupy")[0]
    want = OPS["softmax"].kernel(np, x.T.copy(), axis=-1)
    close(kernel(cupy, cupy.asarray(x).T).get(), want)
    given = cupy.asarray(x.T.copy())
    assert kernel(cupy, given, out=given) is given
    close(given.get(), want)
    across = cupy.zeros((5, 4)).T
    assert kernel(cupy, cupy.asarray(x.T.copy()), out=across) is across
    close(across.get(), want)
