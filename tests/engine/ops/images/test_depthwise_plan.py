"""Depthwise convolutions by bands agree with the general way, which writes windows out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.ops.images.conv_choice import plan_of
from engine.ops.images.conv_plan import Plan
from engine.ops.images.depthwise_plan import DepthwisePlan
from tests.trials import trials

few = st.integers(0, 3)


@st.composite
def convolutions(draw: Any) -> tuple[Any, ...]:
    """Arguments of a plan whose filters take one channel each."""
    samples, channels, each = draw(st.integers(1, 5)), draw(st.integers(2, 4)), draw(st.integers(1, 2))
    shape = (samples, channels, draw(st.integers(1, 8)), draw(st.integers(1, 8)))
    weight = (channels * each, 1, draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    strides = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    pads = ((draw(few), draw(few)), (draw(few), draw(few)))
    dilations = (1, draw(st.integers(1, 2)))
    for n in (0, 1):
        assume(shape[2 + n] + sum(pads[n]) >= dilations[n] * (weight[2 + n] - 1) + 1)
    return shape, weight, strides, pads, dilations, channels


@trials(30)
@given(convolutions(), st.integers(0, 2**31), st.sampled_from([None, np.nan, np.inf]))
def test_bands_agree_with_the_general_way(arguments: Any, seed: int, odd: float | None) -> None:
    made = plan_of(np, *arguments)
    assert isinstance(made, DepthwisePlan)
    general = Plan(np, *arguments)
    draw = np.random.default_rng(seed)
    x, weight = draw.standard_normal(arguments[0]), draw.standard_normal(arguments[1])
    if odd is not None:
        x.flat[draw.integers(x.size)] = odd
    result = made.forward(x, weight)
    np.testing.assert_allclose(result, general.forward(x, weight), atol=1e-12)
    g = draw.standard_normal(result.shape)
    _, weight_grad = made.gradients(x, weight, g, False, True)
    np.testing.assert_allclose(weight_grad, general.gradients(x, weight, g, False, True)[1], atol=1e-12)
    if odd is not None:
        g.flat[draw.integers(g.size)] = odd
    x_grad, _ = made.gradients(x, weight, g, True, False)
    np.testing.assert_allclose(x_grad, general.gradients(x, weight, g, True, False)[0], atol=1e-12)


def test_an_infinite_value_stays_where_the_filter_reaches_it() -> None:
    x = np.ones((1, 2, 5, 7), np.float32)
    x[0, 1, 2, 3] = np.inf
    plan = plan_of(np, x.shape, (2, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 2)
    result = plan.forward(x, np.ones((2, 1, 3, 3), np.float32))
    reached = np.zeros(x.shape, bool)
    reached[0, 1, 1:4, 2:5] = True
    np.testing.assert_array_equal(np.isinf(result), reached)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("width", [8, 200])
def test_wide_images_take_the_general_path(width: int) -> None:
    plan = plan_of(np, (1, 2, 4, width), (2, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 2)
    assert isinstance(plan, DepthwisePlan) is (width == 8)
