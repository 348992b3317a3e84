"""Attention on a GPU: tiles at their borders, masks, layouts and dropout against NumPy's, and in plans."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.operators.opdef import OPS
from engine.core.place import place_guard
from engine.kernels.choice import kernels
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu, installed
from tests.engine.program.run.fusion.test_attention import BACKWARD, FORWARD, MASKS, names, plan_of

RNG = np.random.default_rng(5)
REAL = gpu()  # checked before the stand-in, which has one and counts, is installed
# Rows and columns over one and two tiles of 32, sizes over one of 32, widths over one of 64.
ROWS, COLUMNS, SIZE, WIDTH = 35, 70, 33, 66


@pytest.fixture(scope="module", autouse=True)
def cupy() -> Iterator[Any]:
    with nullcontext() if REAL else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy

        assert engine.kernels.cupy.xp is cupy
        yield cupy


def _numbers(*shape: int, dtype: str = "float64") -> Any:
    return (RNG.standard_normal(shape) * 0.5).astype(dtype)


def _moved(cupy: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_moved(cupy, v) for v in value]
    return None if value is None else cupy.asarray(value)


def _check(cupy: Any, name: str, values: list[Any], launches: int, near: float = 1e-10, **attrs: Any) -> Any:
    """Our kernel agrees with NumPy's, in ``launches``, and gives the same bits again."""
    kernel, _ = OPS[name].kernel_for("cupy")
    given = [_moved(cupy, v) for v in values]
    with counted() as counts:
        first = kernel(cupy, *given, **attrs)
    assert (counts.launches, counts.waits, counts.to_device) == (0 if REAL else launches, 0, 0)
    second = kernel(cupy, *given, **attrs)
    want = OPS[name].kernel(np, *values, **attrs)
    if OPS[name].single:
        first, second, want = (first,), (second,), (want,)
    for a, b, c in zip(first, second, want, strict=True):
        if c is None:
            assert a is None
            continue
        assert a.get().tobytes() == b.get().tobytes()
        assert a.dtype == c.dtype
        np.testing.assert_allclose(a.get(), c, near, near)
        assert a.strides == c.strides
    return first


def _turned(x: Any) -> Any:
    return np.ascontiguousarray(x.swapaxes(-1, -2))


@pytest.mark.parametrize("shape", [None, (COLUMNS,), (ROWS, 1), (2, 1, 1, COLUMNS), (2, 3, ROWS, COLUMNS)])
def test_tiles_and_masks(cupy: Any, shape: Any) -> None:
    x, y, v = _numbers(2, 3, ROWS, SIZE), _numbers(2, 3, COLUMNS, SIZE), _numbers(2, 3, COLUMNS, WIDTH)
    masks = [] if shape is None else [_numbers(*shape)]
    _check(cupy, "fused_attention", [x, y, v, masks], 1, factor=0.5, times=0.25)
    _check(cupy, "fused_scores", [x, _turned(y), masks], 1, turned=True)


def test_heads_are_adjacent_without_copies(cupy: Any) -> None:
    x, y, v = (
        _moved(cupy, _numbers(2, rows, 3, size)).swapaxes(1, 2) for rows, size in ((4, 5), (6, 5), (6, 2))
    )
    kernel, _ = OPS["fused_attention"].kernel_for("cupy")
    with counted() as counts:
        out, weights = kernel(cupy, x, y, v, [], lies=True, keeps=False)
    assert counts.launches == (0 if REAL else 1)
    assert weights is None
    assert out.swapaxes(1, 2).flags.c_contiguous
    want, _ = OPS["fused_attention"].kernel(np, *(a.get() for a in (x, y, v)), [])
    np.testing.assert_allclose(out.get(), want, 1e-10)


@pytest.mark.parametrize("dropout", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_gradients_in_two_passes(cupy: Any, dropout: bool, turned: bool) -> None:
    x, y, v = _numbers(2, 3, ROWS, SIZE), _numbers(2, 3, COLUMNS, SIZE), _numbers(2, 3, COLUMNS, WIDTH)
    weights = np.abs(_numbers(2, 3, ROWS, COLUMNS))
    flow = _numbers(2, 3, ROWS, WIDTH)
    kept = np.where(RNG.random(weights.shape) < 0.5, 2.0, 0.0) if dropout else None
    dropped = weights * kept if dropout else None
    given = [flow, weights, x, _turned(y) if turned else y, v, dropped, kept]
    attrs = {"factor": 0.5, "times": 2.0, "after": 0.25, "turned": turned, "lies": (True, False, True)}
    _check(cupy, "fused_attention_grad", given, 2, **attrs)


@pytest.mark.parametrize("wanted", [(True, False, False), (False, True, False), (False, False, True)])
def test_only_wanted_gradients_are_computed(cupy: Any, wanted: Any) -> None:
    given = [_numbers(1, 2, 3), np.abs(_numbers(1, 2, 4)), _numbers(1, 2, 5), _numbers(1, 4, 5)]
    launches = 1 + wanted[1]
    _check(cupy, "fused_attention_grad", [*given, _numbers(1, 4, 3), None, None], launches, wanted=wanted)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 1e-5), ("float16", 1e-2)])
def test_narrow_dtypes(cupy: Any, dtype: str, near: float) -> None:
    x, y, v = (_numbers(2, 4, 5, 3, dtype=dtype) for _ in range(3))
    _check(cupy, "fused_attention", [x, y, v, []], 1, near, times=0.5)
    weights = np.abs(_numbers(2, 4, 5, 5, dtype=dtype))
    given = [_numbers(2, 4, 5, 3, dtype=dtype), weights, x, y, v, None, None]
    _check(cupy, "fused_attention_grad", given, 2, near)


def test_masked_values_and_nan(cupy: Any) -> None:
    x, y, v = _numbers(1, 4, 2), _numbers(1, 70, 2), _numbers(1, 70, 3)
    mask = np.zeros((4, 70))
    mask[0, :69] = -np.inf  # the last column alone, in the third tile
    mask[1] = -np.inf  # none
    mask[2, 40] = np.nan
    mask[3, 40] = np.inf
    out, weights = _check(cupy, "fused_attention", [x, y, v, [mask]], 1)
    np.testing.assert_allclose(out.get()[0, 0], v[0, 69])
    assert np.isnan(weights.get()[0, 1:3]).all()
    assert np.isnan(weights.get()[0, 3, 40])


def test_large_ones_are_computed_by_products(cupy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.cupy import source
    from engine.kernels.cupy.linalg import products
    from engine.kernels.cupy.sequences import attention

    assert products.product(
        *_moved(cupy, [_numbers(1, 1)] * 2)
    ).size  # the first one asks whether it compiles

    monkeypatch.setattr(attention, "OWN", {8: 10})
    launched: list[str] = []
    plain = source.Kernel.__call__

    def call(self: Any, *values: Any, **named: Any) -> None:
        launched.append(self.name)
        plain(self, *values, **named)

    monkeypatch.setattr(source.Kernel, "__call__", call)
    x, y, v = _numbers(2, 3, 4, 2), _numbers(2, 3, 5, 2), _numbers(2, 3, 5, 3)
    kernel, _ = OPS["fused_attention"].kernel_for("cupy")
    out, weights = kernel(cupy, *_moved(cupy, [x, y, v]), [])
    assert launched == ["gemm", "softmax", "gemm"]
    want = OPS["fused_attention"].kernel(np, x, y, v, [])
    for a, b in zip((out, weights), want, strict=True):
        np.testing.assert_allclose(a.get(), b, 1e-10)


@pytest.mark.parametrize("way", ["of_projections", "with_dropout"])
def test_plans_on_a_gpu_have_them(cupy: Any, way: str) -> None:
    results = []
    with place_guard("gpu:0"):
        for passes in (1, 0):
            plan, given = plan_of(way, MASKS["samples"], "float64", passes=passes, xp=cupy)
            left = {n for n in names(plan) if n.startswith("fused")}
            fused = {"fused_scores" if way == "with_dropout" else FORWARD, BACKWARD}
            assert left == (fused if passes else set())
            paddle.seed(3)
            results.append(plan([cupy.asarray(each) for each in given]))
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.get(), b.get(), 1e-9, 1e-12)


def test_unread_weights_are_not_computed() -> None:
    plan, _ = plan_of("of_projections")
    alone, _ = plan_of("of_projections", results=1)
    for each, keeps in ((plan, True), (alone, False)):
        (fused,) = [o for o in each.ops if o.opdef.name == FORWARD]
        assert fused.attrs["keeps"] is keeps
