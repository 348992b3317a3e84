"""Compiled attention and its gradient against the operators' own kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine  # noqa: F401
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import threads
from engine.kernels.fast.linalg import blas
from engine.kernels.fast.sequences import attention

EXACT = {"float32": 5e-6, "float64": 1e-13}
# Leading dimensions, rows, columns, size, width.
SIZES = [((16, 4), 64, 64, 32, 32), ((2, 3), 17, 33, 5, 7), ((40,), 1, 40, 8, 3), ((1, 1), 40, 31, 16, 16)]
pytestmark = pytest.mark.skipif(blas.gemm("s") is None, reason="NumPy's BLAS is not OpenBLAS")


def arrays(sizes: Any, dtype: str, turned: bool, strided: bool = False) -> list[Any]:
    lead, rows, columns, size, width = sizes
    random = np.random.default_rng(0)

    def made(*shape: int) -> Any:
        if strided and len(lead) == 2:  # heads of a projection
            flat = random.standard_normal((lead[0], shape[0], lead[1], shape[1])).astype(dtype)
            return flat.swapaxes(1, 2)
        return random.standard_normal((*lead, *shape)).astype(dtype)

    y = made(size, columns) if turned else made(columns, size)
    return [made(rows, size), y, made(columns, width), made(rows, width)]


def same(name: str, maker: Any, inputs: list[Any], attrs: dict[str, Any], dtype: str) -> None:
    attrs = OPS[name].with_defaults(attrs)
    specs = [
        [Spec.of(m) for m in x] if isinstance(x, list) else None if x is None else Spec.of(x) for x in inputs
    ]
    fast = maker(specs, attrs)
    assert fast.handles[0].wait(120)
    with np.errstate(all="ignore"):
        wanted, results = OPS[name].kernel(np, *inputs, **attrs), fast.kernel(*inputs)
    with threads.computing_threads(1):
        alone = fast.kernel(*inputs)
    if OPS[name].single:
        wanted, results, alone = (wanted,), (results,), (alone,)
    for got, want, again in zip(results, wanted, alone, strict=True):
        if want is None:
            assert got is None
            continue
        assert (got.shape, got.dtype, got.strides) == (want.shape, want.dtype, want.strides)
        allowed = EXACT[dtype] * max(1.0, np.abs(want[np.isfinite(want)]).max(initial=0))
        np.testing.assert_allclose(got, want, rtol=EXACT[dtype], atol=allowed)
        np.testing.assert_array_equal(got, again)


@pytest.mark.parametrize("dtype", EXACT)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("turned", [False, True])
def test_forward_and_gradient(sizes: Any, turned: bool, dtype: str) -> None:
    for strided in (False, True):
        x, y, v, flow = arrays(sizes, dtype, turned, strided)
        attrs = {"factor": 0.25, "times": 0.5 if strided else None, "turned": turned}
        weights = OPS["fused_attention"].kernel(np, x, y, v, [], **attrs)[1]
        same("fused_attention", attention.forward, [x, y, v, []], {**attrs, "lies": strided}, dtype)
        same("fused_scores", attention.scores, [x, y, [weights[0, ..., :1]]], attrs, dtype)
        for wanted in ((True, True, True), (True, False, False), (False, True, True), (False, False, True)):
            lies = (strided, strided and not turned, strided)
            more = {**attrs, "after": 0.25, "wanted": wanted, "lies": lies}
            for dropped, kept in ((None, None), (weights * 2, weights + 1), (None, weights - 1)):
                inputs = [flow, weights, x, y, v, dropped, kept]
                same("fused_attention_grad", attention.backward, inputs, more, dtype)


@pytest.mark.parametrize("dtype", EXACT)
def test_masks_of_all_shapes(dtype: str) -> None:
    x, y, v, _ = arrays(SIZES[1], dtype, False)
    random = np.random.default_rng(3)
    shapes = [(17, 33), (33,), (1,), (), (2, 1, 17, 1), (3, 1, 33), (2, 3, 17, 33), (1, 1, 1, 1)]
    for shape in shapes:
        mask = np.asarray(random.standard_normal(shape), dtype)
        same("fused_attention", attention.forward, [x, y, v, [mask]], {}, dtype)
    causal = np.triu(np.full((17, 33), -np.inf, dtype), 1)
    same("fused_attention", attention.forward, [x, y, v, [causal, mask]], {"factor": 0.5}, dtype)
    columns = np.asfortranarray(random.standard_normal((17, 33)).astype(dtype))
    same("fused_attention", attention.forward, [x, y, v, [columns]], {}, dtype)


def test_infinity_and_nan_spread_as_in_numpy() -> None:
    x, y, v, flow = arrays(SIZES[1], "float32", False)
    x[0, 0, 0, 0], y[1, 2, 3] = np.nan, np.inf
    mask = np.zeros((17, 33), np.float32)
    mask[4] = -np.inf  # a row that may look nowhere
    same("fused_attention", attention.forward, [x, y, v, [mask]], {}, "float32")
    weights = np.abs(flow[..., :1] * np.ones(33, np.float32))
    flow[1, 1, 1, 1] = np.nan
    same("fused_attention_grad", attention.backward, [flow, weights, x, y, v], {}, "float32")
