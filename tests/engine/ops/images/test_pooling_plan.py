"""Ways to compute poolings in NumPy that sizes choose between: they agree with each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core.operators.opdef import OPS
from engine.ops.images import pooling_plan
from engine.ops.images.pooling_plan import PoolPlan


def _plan(size: Any, ksize: Any, strides: Any = (1, 1), paddings: Any = (0, 0), **more: Any) -> PoolPlan:
    given = {"ceil_mode": False, "exclusive": True, "adaptive": False} | more
    return PoolPlan(
        size, ksize, strides, paddings, False, *[given[n] for n in ("ceil_mode", "exclusive", "adaptive")],
        "EXPLICIT",
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_uneven_windows_give_the_same_gathered_and_axis_by_axis(kind: str, monkeypatch: Any) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-3, 4, (2, 3, 5, 7)).astype(np.float32)
    attrs: dict[str, Any] = OPS["pool2d"].with_defaults(
        {"ksize": [3, 4], "adaptive": True, "pooling_type": kind}
    )
    gathered = OPS["pool2d"].kernel(np, x, **attrs)
    g = rng.standard_normal(gathered.shape).astype(np.float32)
    spread = OPS["pool2d_grad"].kernel(np, x, gathered, g, **attrs)
    monkeypatch.setattr(pooling_plan, "_COPIED", 0)
    monkeypatch.setattr(pooling_plan, "_SEGMENTS", 0)
    np.testing.assert_allclose(OPS["pool2d"].kernel(np, x, **attrs), gathered, rtol=1e-6)
    np.testing.assert_allclose(
        OPS["pool2d_grad"].kernel(np, x, gathered, g, **attrs), spread, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("pads", [(0, 0), (2, 1)])
def test_positions_are_the_same_window_by_window_and_entry_by_entry(pads: Any) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(-1, 2, (2, 3, 9, 11)).astype(np.float32)
    x[0, 0, 3, 4], x[1] = np.nan, -np.inf
    plan = _plan((9, 11), (4, 3), (2, 3), pads)
    assert plan.has_window_positions(6)
    whole = plan.window_positions(np, x)
    best = np.take_along_axis(x.reshape(2, 3, -1), whole.reshape(2, 3, -1), axis=2).reshape(whole.shape)
    np.testing.assert_array_equal(plan.positions(np, x, best), whole)


def test_windows_entirely_in_the_padding_are_looked_for_entry_by_entry() -> None:
    plan = _plan((2, 3), (2, 2), (3, 3), (1, 1), ceil_mode=True)
    assert any(begin >= end for spans in plan.spans() for begin, end, _ in spans)
    assert not plan.has_window_positions(1)


@pytest.mark.parametrize(
    "plan",
    [
        _plan((5, 7), (3, 4), adaptive=True),
        _plan((9, 8), (3, 2), (2, 3), (1, 0)),
        _plan((4, 4), (1, 1), (3, 3)),
    ],
)
def test_readers_are_the_windows_that_contain_each_element(plan: PoolPlan) -> None:
    for size, spans, readers in zip(plan.size, plan.spans(), plan.readers(), strict=True):
        for element in range(size):
            containing = [n for n, (begin, end, _) in enumerate(spans) if begin <= element < end]
            first, last, _ = readers[element]
            assert list(range(first, last)) == containing
