"""Compiled transposed convolutions against NumPy's."""

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
from tests.engine.kernels.fast.images.test_convolution import PLAIN, agree, fast, some

TRANSPOSED = PLAIN | {"output_padding": (), "output_size": ()}

# Shapes of x and weight, and differences from TRANSPOSED.
CASES = [
    ((8, 6, 5, 7), (6, 4, 4, 4), {"strides": (2, 2), "paddings": (1, 1)}),
    ((5, 3, 4, 5), (3, 2, 3, 3), {"strides": (2, 3), "output_padding": (1, 2)}),
    ((9, 6, 5, 4), (6, 2, 3, 2), {"groups": 3, "dilations": (2, 1), "strides": (1, 2)}),
    (
        (16, 4, 4, 6),
        (4, 1, 3, 3),
        {"groups": 4, "strides": (2, 2), "paddings": (1, 1), "output_size": (8, 12)},
    ),
    ((17, 3, 5, 5), (3, 5, 5, 5), {"padding_algorithm": "SAME", "strides": (2, 2), "data_format": "NHWC"}),
    ((8, 32, 6, 7), (32, 16, 3, 3), {"paddings": (1, 1)}),  # by transforms
    ((8, 2, 5, 4), (2, 3, 2, 2), {"strides": (4, 3)}),  # pixels that nothing contributes to
    ((6, 5, 3, 8), (5, 1, 3, 5), {"groups": 5, "paddings": (0, 1, 2, 1), "strides": (3, 1)}),
]


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: 3)
    yield
    pool.dismiss()


def _compare(x_shape: Any, weight_shape: Any, attrs: Any, order: str, odd: float | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    attrs = TRANSPOSED | attrs
    if attrs["data_format"] == "NHWC":
        x_shape = (x_shape[0], *x_shape[2:], x_shape[1])
    name = "depthwise_conv2d_transpose" if weight_shape[0] == attrs["groups"] > 1 else "conv2d_transpose"
    x, weight = some(rng, x_shape, order), some(rng, weight_shape, "first")
    if odd is not None:
        x.flat[rng.integers(x.size)] = odd
    wanted = OPS[name].kernel(np, x, weight, **attrs)
    agree(fast(name, (x, weight), attrs)(x, weight), wanted)
    g = np.empty_like(wanted)
    g[...] = rng.standard_normal(g.shape)
    for need in ((True, True), (True, False), (False, True)):
        both = attrs | {"need_x": need[0], "need_weight": need[1]}
        made = OPS[f"{name}_grad"].fast([Spec.of(a) for a in (x, weight, g)], both)
        if made is None:  # few pixels: only the gradient of the filters, which is left to NumPy
            assert need == (False, True)
            continue
        assert all(handle.wait(120) for handle in made.handles)
        wanted_grads = OPS[f"{name}_grad"].kernel(np, x, weight, g, **both)
        for one, other in zip(made.kernel(x, weight, g), wanted_grads, strict=True):
            assert (one is None) == (other is None)
            if other is not None:
                agree(one, other)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[:2]))
def test_they_agree_with_numpy(threads: None, case: Any) -> None:
    number = CASES.index(case)
    _compare(
        *case, ("first", "rows", "channels")[number % 3], (None, np.nan, np.inf)[number // 2 % 3], number
    )


@st.composite
def convolutions(draw: Any) -> tuple[Any, ...]:
    """Shapes and attributes of any small transposed convolution."""
    small, size = st.integers(1, 3), st.integers(1, 6)
    groups, ins, each = draw(small), draw(small), draw(small)
    x = (draw(st.integers(5, 18)), groups * ins, draw(size), draw(size))
    weight = (groups * ins, each, draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    strides, dilations = (draw(small), draw(small)), (draw(st.integers(1, 2)), draw(st.integers(1, 2)))
    paddings = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    extra = tuple(draw(st.integers(0, max(pair) - 1)) for pair in zip(strides, dilations, strict=True))
    for n in (0, 1):
        span = dilations[n] * (weight[2 + n] - 1) + 1
        assume((x[2 + n] - 1) * strides[n] - 2 * paddings[n] + span + extra[n] >= 1)
    attrs = {
        "groups": groups,
        "strides": strides,
        "dilations": dilations,
        "paddings": paddings,
        "output_padding": extra,
    }
    return x, weight, attrs


@settings(max_examples=3, deadline=None)
@given(convolutions(), st.sampled_from(["first", "rows", "channels"]), st.integers(0, 2**31))
def test_any_agrees_with_numpy(case: Any, order: str, seed: int) -> None:
    x, weight, attrs = case
    made = OPS["conv2d_transpose"].fast([Spec(x, "float32"), Spec(weight, "float32")], TRANSPOSED | attrs)
    assume(made is not None)  # the filters are cut
    _compare(x, weight, attrs, order, None, seed)


def test_few_samples_and_other_dtypes_are_left_to_numpy() -> None:
    weight = (4, 3, 3, 3)
    for x, dtype in (((1, 4, 6, 6), "float32"), ((8, 4, 6, 6), "float64"), ((8, 4, 0, 6), "float32")):
        assert OPS["conv2d_transpose"].fast([Spec(x, dtype), Spec(weight, dtype)], TRANSPOSED) is None
