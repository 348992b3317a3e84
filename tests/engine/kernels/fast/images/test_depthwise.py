"""Compiled convolutions whose filters have one channel each, against NumPy's, and the order along a row."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
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
from engine.kernels.fast.images import depthwise
from engine.kernels.fast.images.convolution import (
    backward_axes,
    filter_plan,
    forward_axis,
    forward_plan,
    image_plan,
)
from engine.kernels.fast.images.depthwise_code import Axis, alike, links
from engine.kernels.fast.images.row_course import course
from engine.ops.images.conv_choice import plan_of
from tests.engine.kernels.fast.images.test_convolution import PLAIN, agree, compare, fast, some

# Shapes of x and weight, and differences from PLAIN; groups are x's channels.
CASES = [
    ((2, 3, 6, 7), (3, 1, 3, 3), {"paddings": (1, 1)}),
    ((3, 2, 5, 9), (2, 1, 3, 3), {"paddings": (1, 1), "strides": (2, 2)}),
    ((5, 4, 8, 8), (4, 1, 3, 3), {"paddings": (1, 1), "strides": (2, 1)}),
    ((8, 20, 4, 4), (20, 1, 3, 3), {"paddings": (1, 1)}),
    ((21, 3, 9, 16), (3, 1, 3, 3), {"paddings": (2, 2), "dilations": (2, 2)}),
    ((9, 3, 13, 14), (3, 1, 5, 5), {"paddings": (2, 2)}),
    ((16, 2, 11, 12), (2, 1, 5, 5), {"paddings": (2, 2), "strides": (2, 2)}),
    ((17, 2, 9, 19), (2, 1, 7, 7), {"paddings": (3, 3)}),
    ((8, 3, 6, 5), (9, 1, 3, 3), {"paddings": (1, 1)}),  # three filters for each channel
    ((12, 2, 7, 30), (2, 1, 1, 9), {"paddings": (0, 4)}),
    ((11, 2, 20, 3), (2, 1, 11, 1), {"paddings": (5, 0), "dilations": (1, 3)}),
    ((8, 2, 3, 3), (2, 1, 3, 3), {"paddings": (4, 5)}),  # results that meet no pixel
    ((8, 2, 9, 9), (2, 1, 2, 2), {"strides": (4, 3)}),  # pixels that no result meets
    ((6, 2, 9, 9), (2, 1, 5, 5), {"strides": (7, 7), "paddings": (6, 6)}),
    ((10, 3, 6, 7), (3, 1, 3, 3), {"data_format": "NHWC", "padding_algorithm": "SAME", "strides": (2, 2)}),
    ((16, 6, 5, 5), (6, 1, 3, 3), {"paddings": (0, 1, 2, 0)}),
    ((10, 3, 4, 9), (3, 1, 3, 3), {"paddings": (1, 1)}),  # two samples are left over,
    ((12, 2, 5, 8), (2, 1, 5, 5), {"paddings": (2, 2)}),  # four
    ((14, 2, 5, 6), (2, 1, 3, 3), {}),  # six
]


@pytest.fixture(scope="module", autouse=True)
def makers() -> None:
    register()


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(pool.threads_, "get_num_threads", lambda: 3)
    yield
    pool.dismiss()


def _attrs(case: Any) -> Any:
    x, weight, attrs = case
    last = attrs.get("data_format") == "NHWC"
    x = (x[0], *x[2:], x[1]) if last else x
    return x, weight, {"groups": case[0][1]} | attrs


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[:2]))
def test_they_agree_with_numpy(threads: None, case: Any) -> None:
    number = CASES.index(case)
    order = ("first", "rows", "channels")[number % 3]
    compare(*_attrs(case), order, (None, np.nan, np.inf)[number // 2 % 3], number)


@st.composite
def convolutions(draw: Any) -> tuple[Any, ...]:
    """Shapes and attributes of any small convolution."""
    small, size = st.integers(1, 3), st.integers(1, 12)
    channels, each = draw(st.integers(2, 4)), draw(st.integers(1, 2))
    x = (draw(st.integers(2, 18)), channels, draw(size), draw(size))
    weight = (channels * each, 1, draw(st.integers(1, 5)), draw(st.integers(1, 5)))
    strides, dilations = (draw(small), draw(small)), (draw(small), draw(small))
    paddings = tuple(draw(st.lists(st.integers(0, 4), min_size=4, max_size=4)))
    for n in (0, 1):
        assume(x[2 + n] + sum(paddings[2 * n : 2 * n + 2]) > dilations[n] * (weight[2 + n] - 1))
    return (
        x,
        weight,
        {"groups": channels, "strides": strides, "dilations": dilations, "paddings": paddings},
    )


@settings(max_examples=4, deadline=None)
@given(convolutions(), st.sampled_from(["first", "rows", "channels"]), st.integers(0, 2**31))
def test_any_agrees_with_numpy(case: Any, order: str, seed: int) -> None:
    x, weight, attrs = case
    specs = [Spec(x, "float32"), Spec(weight, "float32")]
    assume(OPS["depthwise_conv2d"].fast(specs, PLAIN | attrs) is not None)  # the filters are cut
    compare(*case, order, None, seed)


def test_infinite_filters_and_gradients_give_what_numpy_gives() -> None:
    rng = np.random.default_rng(5)
    attrs = PLAIN | {"groups": 2, "paddings": (1, 1)}
    x, weight = some(rng, (8, 2, 5, 6), "first"), some(rng, (2, 1, 3, 3), "first")
    weight[0, 0, 0, 0] = np.inf
    found = fast("depthwise_conv2d", (x, weight), attrs)(x, weight)
    assert np.isnan(found[:, 0, 0]).all()
    assert np.isfinite(found[:, 1]).all()
    agree(found, OPS["depthwise_conv2d"].kernel(np, x, weight, **attrs))
    g = some(rng, (8, 2, 5, 6), "first")
    g[3, 1, 0, 2] = np.inf
    both = attrs | {"need_x": False, "need_weight": True}
    found = fast("depthwise_conv2d_grad", (x, weight, g), both)(x, weight, g)[1]
    assert not np.isfinite(found[1]).all()
    assert np.isfinite(found[0]).all()
    agree(found, OPS["depthwise_conv2d_grad"].kernel(np, x, weight, g, **both)[1])


def test_the_number_of_threads_changes_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    attrs = PLAIN | {"groups": 3, "paddings": (1, 1), "need_x": True, "need_weight": True}
    x, weight, g = (some(rng, shape, "rows") for shape in ((19, 3, 9, 7), (3, 1, 3, 3), (19, 3, 9, 7)))
    kernel = fast("depthwise_conv2d_grad", (x, weight, g), attrs)
    made = []
    for count in (1, 2, 3):
        monkeypatch.setattr(pool.threads_, "get_num_threads", lambda count=count: count)
        made.append(kernel(x, weight, g))
    pool.dismiss()
    for other in made[1:]:
        for one, two in zip(made[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


def _numbers(weight: Any, groups: int, taken: int = 1) -> Any:
    pads = ((weight[2] // 2,) * 2, (weight[3] // 2,) * 2)
    return plan_of(np, (8, groups * taken, 40, 40), weight, (1, 1), pads, (1, 1), groups)


def test_who_takes_them() -> None:
    assert depthwise.suits(image_plan(_numbers((4, 1, 3, 3), 4)))
    several = _numbers((8, 1, 3, 3), 4)
    assert depthwise.suits(forward_plan(several, True, "relu"))
    assert not depthwise.suits(image_plan(several))  # it adds up over filters
    assert not depthwise.suits(forward_plan(_numbers((4, 1, 3, 35), 4), False, ""))  # too many at once


def test_who_sums_gradients_of_filters_so() -> None:
    def suit(weight: Any, groups: int) -> bool:
        return depthwise.sums_suit(filter_plan(_numbers(weight, groups, taken=weight[1])))

    assert suit((8, 1, 1, 2), 4)
    assert suit((8, 3, 3, 3), 1)
    assert suit((8, 16, 1, 5), 2)
    assert not suit((8, 17, 3, 3), 1)  # the image is read too often
    assert not suit((8, 3, 1, 3), 1)  # few products for what is read
    assert not suit((8, 1, 3, 35), 4)  # too many sums at once


def _walked(axes: list[Axis], before: int, size: int, results: int) -> None:
    """Each link is met once, in an order in which results are complete when they are said to be."""
    wanted = links(axes, before, size)
    way = course(wanted, results, axes[0].stride, axes[0].step)
    assert all(turn == way.turns[way.begin] for turn in way.turns[way.begin : way.end])
    met, ended, blank = [], [], []
    for number, turn in enumerate(way.turns, way.first):
        held = {
            result - number * way.made for _, result, _ in met if result not in ended and result not in blank
        }
        assert held == set(turn.held)
        blank += [number * way.made + result for result in turn.blank]
        for source, meets in turn.reads:
            for result, tap, last in meets:
                place = number * way.made + result
                assert place not in ended
                met.append((number * way.read + source, place, tap))
                if last:
                    ended.append(place)
    assert sorted(met) == sorted(wanted)
    assert sorted(ended + blank) == list(range(results))


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "before"),
    [
        (size, kernel, stride, dilation, before)
        for size, kernel, stride, dilation, before in product(
            (1, 4, 13), (1, 3, 4), (1, 2, 5), (1, 2), (0, 1, 6)
        )
        if size + 2 * before > dilation * (kernel - 1)
    ],
)
def test_a_row_meets_each_link_once(size: int, kernel: int, stride: int, dilation: int, before: int) -> None:
    outputs = (size + 2 * before - dilation * (kernel - 1) - 1) // stride + 1
    stride = min(stride, size + 2 * before)
    _walked([forward_axis(outputs, kernel, stride, dilation)], before, size, outputs)
    axes, lead = backward_axes(size, outputs, kernel, stride, dilation, before)
    if stride <= size:
        _walked(axes, lead, outputs, size)
    for axis in axes:
        parts = alike(axis, lead, outputs)
        assert [n for part in parts for n in range(part.begin, part.end)] == list(range(axis.count))


def test_turns_in_the_middle_of_a_row_are_a_loop() -> None:
    axis = forward_axis(32, 3, 1, 1)
    way = course(links([axis], 1, 32), 32, 1, 1)
    assert (len(way.turns), way.end - way.begin, way.held) == (32, 30, 3)
    assert [len(turn.reads) for turn in way.turns] == [1] * 32
