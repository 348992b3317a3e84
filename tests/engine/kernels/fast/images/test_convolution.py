"""Compiled convolutions against NumPy's, and who takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import pool
from engine.kernels.fast import register

PLAIN = {
    "strides": (1, 1),
    "paddings": (0, 0),
    "padding_algorithm": "EXPLICIT",
    "dilations": (1, 1),
    "groups": 1,
    "data_format": "NCHW",
}

# Shapes of x and weight, and differences from PLAIN.
CASES = [
    ((5, 3, 6, 7), (6, 3, 3, 3), {"paddings": (1, 1)}),
    ((16, 2, 9, 8), (5, 2, 3, 2), {"strides": (2, 3), "dilations": (2, 1), "paddings": (2, 0, 1, 3)}),
    ((17, 6, 5, 11), (9, 2, 2, 4), {"groups": 3, "padding_algorithm": "SAME", "strides": (2, 1)}),
    ((12, 7, 8, 3), (4, 3, 5, 5), {"data_format": "NHWC", "paddings": (2, 2)}),
    ((9, 4, 7, 6), (8, 1, 3, 3), {"groups": 4, "paddings": (1, 1), "strides": (1, 2)}),
    ((8, 6, 5, 4), (7, 6, 1, 1), {"strides": (2, 1)}),
    ((48, 6, 3, 4), (12, 1, 2, 5), {"groups": 6, "paddings": (0, 2)}),  # the gradient of filters in parts
    ((12, 8, 7, 9), (6, 4, 3, 3), {"groups": 2, "paddings": (1, 1)}),  # gradients of channels by themselves
    ((16, 20, 6, 7), (5, 20, 3, 3), {"strides": (2, 2)}),  # of all together
    ((8, 70, 3, 4), (70, 1, 2, 2), {"groups": 70}),  # more items than shards
]


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: 3)
    yield
    pool.dismiss()


def some(rng: Any, shape: Any, order: str) -> np.ndarray:
    """Random numbers whose samples come first or last in memory."""
    values = rng.standard_normal(shape).astype(np.float32)
    if order == "first":
        return values
    axes = (2, 1, 3, 0) if order == "rows" else (1, 2, 3, 0)
    return np.ascontiguousarray(values.transpose(axes)).transpose(np.argsort(axes))


def fast(name: str, inputs: Any, attrs: Any) -> Any:
    made = OPS[name].fast([Spec.of(a) for a in inputs], attrs)
    assert made is not None
    assert all(h.wait(120) for h in made.handles)
    return made.kernel


def agree(found: Any, wanted: Any) -> None:
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    size = np.abs(wanted[finite]).max(initial=1e-3)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=2e-6 * size)


def compare(x_shape: Any, weight_shape: Any, attrs: Any, order: str, odd: float | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    attrs = PLAIN | attrs
    name = "depthwise_conv2d" if weight_shape[1] == 1 < attrs["groups"] else "conv2d"
    x, weight = some(rng, x_shape, order), some(rng, weight_shape, "first")
    bias = rng.standard_normal(weight_shape[:1]).astype(np.float32)
    if odd is not None:
        x.flat[rng.integers(x.size)] = odd
    fused = attrs | {"activation": "relu"}
    wanted = OPS[f"{name}_fusion"].kernel(np, x, weight, bias, **fused)
    agree(fast(f"{name}_fusion", (x, weight, bias), fused)(x, weight, bias), wanted)
    g = np.empty_like(wanted)
    g[...] = rng.standard_normal(g.shape)
    both = attrs | {"need_x": True, "need_weight": True}
    found = fast(f"{name}_grad", (x, weight, g), both)(x, weight, g)
    for one, other in zip(found, OPS[f"{name}_grad"].kernel(np, x, weight, g, **both), strict=True):
        agree(one, other)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[:2]))
def test_compiled_convolutions_agree_with_numpy(threads: None, case: Any) -> None:
    number = CASES.index(case)
    order = ("first", "rows", "channels")[number % 3]
    compare(*case, order, (None, np.nan, np.inf)[number // 2 % 3], number)


@pytest.mark.parametrize("odd", [np.inf, -np.inf, np.nan])
def test_a_weight_that_is_not_finite_reaches_the_pixels_that_it_met(odd: float) -> None:
    rng = np.random.default_rng(1)
    x, weight, g = (some(rng, shape, "first") for shape in ((5, 3, 6, 7), (6, 3, 3, 3), (5, 6, 4, 5)))
    weight.flat[7] = odd
    attrs = PLAIN | {"need_x": True, "need_weight": True}
    found, _ = fast("conv2d_grad", (x, weight, g), attrs)(x, weight, g)
    wanted, _ = OPS["conv2d_grad"].kernel(np, x, weight, g, **attrs)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
    assert np.isfinite(found).sum() == found.size - 5 * 4 * 5  # the windows of one element of a filter
    agree(found, wanted)


@st.composite
def convolutions(draw: Any) -> tuple[Any, ...]:
    """Shapes and attributes of any small convolution."""
    small, size = st.integers(1, 3), st.integers(1, 7)
    groups, ins, each = draw(small), draw(small), draw(st.integers(1, 5))
    x = (draw(st.integers(5, 18)), groups * ins, draw(size), draw(size))
    weight = (groups * each, ins, draw(st.integers(1, 4)), draw(st.integers(1, 6)))
    strides, dilations = (draw(small), draw(small)), (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    paddings = tuple(draw(st.lists(st.integers(0, 3), min_size=4, max_size=4)))
    for n in (0, 1):
        count = (
            x[2 + n] + sum(paddings[2 * n : 2 * n + 2]) - dilations[n] * (weight[2 + n] - 1) - 1
        ) // strides[n]
        assume(count >= 1)
    return x, weight, {"groups": groups, "strides": strides, "dilations": dilations, "paddings": paddings}


@settings(max_examples=2, deadline=None)
@given(convolutions(), st.sampled_from(["first", "rows", "channels"]), st.integers(0, 2**31))
def test_any_convolution_agrees_with_numpy(case: Any, order: str, seed: int) -> None:
    compare(*case, order, None, seed)


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    x, weight, g = (some(rng, shape, "rows") for shape in ((16, 3, 6, 7), (33, 3, 3, 3), (16, 33, 4, 5)))
    attrs = PLAIN | {"need_x": True, "need_weight": True}
    kernel = fast("conv2d_grad", (x, weight, g), attrs)
    made = []
    for count in (1, 2, 3):
        monkeypatch.setattr(pool.threads_, "get_num_threads", lambda count=count: count)
        made.append(kernel(x, weight, g))
    pool.dismiss()
    for other in made[1:]:
        for one, two in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("x", "weight", "dtype"),
    [
        ((16, 2, 6, 6), (3, 2, 3, 3), "float64"),
        ((1, 2, 6, 6), (3, 2, 3, 3), "float32"),  # most lanes would be idle
        ((16, 600, 1, 1), (600, 600, 3, 3), "float32"),
        ((0, 2, 6, 6), (3, 2, 3, 3), "float32"),
    ],
)
def test_numpy_computes_where_it_is_faster(x: Any, weight: Any, dtype: str) -> None:
    specs = [Spec(x, dtype), Spec(weight, dtype)]
    assert OPS["conv2d"].fast(specs, PLAIN | {"paddings": (1, 1)}) is None
