"""Elementwise operators in one: bits and layout of the operators one by one, in blocks and whole."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.kernels.cpu import cut, fused_elementwise
from engine.kernels.cpu.fused_elementwise import Loop
from tests.trials import trials

UNARY: list[tuple[str, tuple[tuple[str, Any], ...]]] = [
    ("tanh", ()),
    ("relu", ()),
    ("exp", ()),
    ("square", ()),
    ("leaky_relu", (("alpha", 0.1),)),
    ("scale", (("scale", -1.0), ("bias", 1.0))),
    ("cast", (("out_dtype", "float64"),)),
]
# Operators that take integers, too.
OF_INTEGERS = [
    ("square", ()),
    ("abs", ()),
    ("scale", (("scale", 3), ("bias", 1))),
    ("cast", (("out_dtype", "float32"),)),
]
BINARY = [
    "elementwise_add",
    "elementwise_mul",
    "elementwise_sub",
    "elementwise_max",
    "greater_than",
    "relu_grad",
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused_elementwise, "LARGE", 1)
    monkeypatch.setattr(cut, "BLOCK", 12)


def one_by_one(steps: Any, xs: list[Any]) -> list[Any]:
    values = list(xs)
    for name, read, attrs in steps:
        values.append(OPS[name].kernel(np, *[values[n] for n in read], **dict(attrs)))
    return values


def laid_out(rng: Any, shape: tuple[int, ...], order: tuple[int, ...], dtype: str) -> Any:
    made = (rng.standard_normal([shape[n] for n in order]) * 4).astype(dtype)
    return made.transpose([order.index(n) for n in range(len(order))])


@st.composite
def programs(draw: Any) -> tuple[Any, ...]:
    """Inputs and steps: shapes, layouts, broadcasts, dtypes."""
    ndim = draw(st.integers(1, 4))
    shape = tuple(draw(st.lists(st.integers(1, 7), min_size=ndim, max_size=ndim)))
    order = tuple(draw(st.permutations(range(ndim))))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = draw(st.sampled_from(["float32", "float64", "float16", "int32", "int64"]))
    xs = [laid_out(rng, shape, order, dtype)]
    for _ in range(draw(st.integers(0, 2))):
        kind = draw(st.sampled_from(["same", "other layout", "broadcast", "number"]))
        if kind == "broadcast":
            full = draw(st.lists(st.booleans(), min_size=ndim, max_size=ndim))
            small = [n if keep else 1 for n, keep in zip(shape, full, strict=True)]
            xs.append((rng.standard_normal(small[draw(st.integers(0, ndim)) :]) * 4).astype(dtype))
        elif kind == "number":
            xs.append(np.asarray(rng.standard_normal(), dtype))
        else:
            other = order if kind == "same" else tuple(draw(st.permutations(range(ndim))))
            xs.append(laid_out(rng, shape, other, dtype))
    values = list(xs)
    steps: list[Any] = []
    for _ in range(draw(st.integers(2, 6))):
        if draw(st.booleans()):
            name, attrs = draw(st.sampled_from(OF_INTEGERS if dtype.startswith("int") else UNARY))
            read: tuple[int, ...] = (draw(st.integers(0, len(values) - 1)),)
        else:
            name, attrs = draw(st.sampled_from(BINARY[:5] if dtype.startswith("int") else BINARY)), ()
            read = tuple(draw(st.integers(0, len(values) - 1)) for _ in range(2))
        kinds = {values[n].dtype for n in read}
        sizes = [values[n].size for n in read]
        if np.dtype(bool) in kinds or len(kinds) > 1 or (name == "relu_grad" and sizes[0] < sizes[1]):
            continue
        steps.append((name, read, attrs))
        values.append(one_by_one([(name, read, attrs)], values)[-1])
    outputs = sorted({len(values) - 1, draw(st.integers(len(xs), len(values) - 1))}) if steps else []
    return xs, tuple(steps), tuple(outputs)


@trials(60)
@given(programs())
def test_bits_and_layout_are_those_of_the_operators(program: tuple[Any, ...]) -> None:
    xs, steps, outputs = program
    expected = one_by_one(steps, xs)
    loop = Loop(steps)
    with np.errstate(all="ignore"):
        for _ in range(2 if steps else 0):  # the first call finds the layout of results, the second cuts
            for n, got in zip(outputs, loop(np, xs, outputs), strict=True):
                assert got.tobytes() == expected[n].tobytes()
                assert got.dtype == expected[n].dtype
                assert got.shape == expected[n].shape
                if got.size and 1 not in got.shape:
                    assert got.strides == expected[n].strides


def test_arrays_of_one_layout_are_cut() -> None:
    """Otherwise the test above compares the operators with themselves."""
    rng = np.random.default_rng(0)
    steps = (("elementwise_add", (0, 1), ()), ("tanh", (2,), ()))
    x = laid_out(rng, (5, 4, 3), (2, 0, 1), "float32")
    loop = Loop(steps)
    for bias in (np.float32([1, 2, 3]), rng.standard_normal((5, 1, 1)).astype("float32")):
        loop(np, [x, bias], (3,))
    assert len(loop._blocked) == 2
    assert None not in loop._blocked.values()
    loop(np, [x, np.ascontiguousarray(x)], (3,))
    assert list(loop._blocked.values())[-1] is None


@pytest.mark.parametrize("large", [1, 1 << 30])
def test_results_are_written_into_the_given_array(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    monkeypatch.setattr(fused_elementwise, "LARGE", large)
    steps = (("elementwise_add", (0, 1), ()), ("tanh", (2,), ()))
    loop = Loop(steps)
    x, bias = np.linspace(-1, 1, 60, dtype="float32").reshape(20, 3), np.float32([1, 2, 3])
    expected = np.tanh(x + bias)
    loop(np, [x, bias], (3,))
    (got,) = loop(np, [x, bias], (3,), [x])
    assert got is x
    np.testing.assert_array_equal(x, expected)


def test_a_step_that_reads_a_later_value_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"step tanh reads values \[3\]: only 0 to 0"):
        OPS["fused_elementwise"].infer_specs(
            [[Spec((2,), "float32")]], {"steps": (("tanh", (3,), ()),), "outputs": (1,)}
        )
