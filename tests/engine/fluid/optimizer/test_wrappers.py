"""Optimizers of fluid around others, and clipping by a parameter's attributes in static mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid
from engine.core.errors import ArgumentError, ConditionError, DTypeError, ModeError, UnsupportedError
from engine.fluid import layers

X = np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)


@pytest.fixture
def programs() -> Iterator[tuple[Any, Any]]:
    engine.enable_static()
    try:
        main, startup = fluid.Program(), fluid.Program()
        with fluid.program_guard(main, startup), fluid.unique_name.guard():
            yield main, startup
    finally:
        engine.disable_static()


def loss_of(attr: Any = None) -> Any:
    """sum(x @ w): the gradient of w is the sum of the rows of x, [4, 1]."""
    first = fluid.initializer.Constant(1.0)
    attr = attr or fluid.ParamAttr(name="w", initializer=first)
    return layers.reduce_sum(layers.fc(layers.data("x", [2]), 1, param_attr=attr, bias_attr=False))


def weights(programs: tuple[Any, Any], steps: int, name: str = "w") -> list[Any]:
    """The weight after each step."""
    exe = fluid.Executor(fluid.CPUPlace())
    exe.run(programs[1])
    return [exe.run(programs[0], {"x": X}, [name])[0].ravel() for _ in range(steps)]


def test_a_slow_copy_follows_every_k_steps(programs: Any) -> None:
    fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1), alpha=0.25, k=3).minimize(loss_of())
    fast = slow = np.ones(2)
    for step, found in enumerate(weights(programs, 7), 1):
        fast = fast - 0.1 * np.array([4.0, 1.0])
        if step % 3 == 0:
            fast = slow = slow + 0.25 * (fast - slow)
        np.testing.assert_allclose(found, fast, rtol=1e-5, atol=1e-6)


def test_a_wrong_lookahead_is_refused() -> None:
    inner = object()
    with pytest.raises(ConditionError, match="inner optimizer"):
        fluid.optimizer.LookaheadOptimizer(None)
    with pytest.raises(ConditionError, match="alpha should be"):
        fluid.optimizer.LookaheadOptimizer(inner, alpha=1.5)
    with pytest.raises(ConditionError, match="k should be"):
        fluid.optimizer.LookaheadOptimizer(inner, k=0)
    with fluid.dygraph.guard():
        value = fluid.dygraph.to_variable(X)
        with pytest.raises(ModeError, match="LookAhead"):
            fluid.optimizer.LookaheadOptimizer(inner).minimize(value)


def test_recomputing_gives_the_same_values(programs: Any) -> None:
    loss = loss_of()
    optimizer = fluid.optimizer.RecomputeOptimizer(fluid.optimizer.SGD(0.1))
    with pytest.raises(ConditionError, match="_set_checkpoints first"):
        optimizer.minimize(loss)
    with pytest.raises(ArgumentError, match="list of Variables"):
        optimizer._set_checkpoints(loss)
    optimizer._set_checkpoints([loss])
    pairs = optimizer.backward(loss)
    optimizer.apply_optimize(loss, None, pairs)
    np.testing.assert_allclose(weights(programs, 2)[-1], [1 - 0.8, 1 - 0.2], rtol=1e-5)
    with fluid.dygraph.guard(), pytest.raises(ModeError, match="DyGraph"):
        optimizer.minimize(fluid.dygraph.to_variable(X))


@pytest.mark.parametrize("kind", ["plain", "by norm"])
def test_a_layer_of_static_mode_clips_by_its_attributes(programs: Any, kind: str) -> None:
    first, clip = fluid.initializer.Constant(1.0), fluid.clip.GradientClipByValue(0.5)
    if kind == "plain":
        attr: Any = fluid.ParamAttr(name="w", initializer=first, gradient_clip=clip)
    else:
        attr = fluid.WeightNormParamAttr(None, "w", first, gradient_clip=clip)
    fluid.optimizer.SGD(0.1).minimize(loss_of(attr))
    if kind == "plain":
        assert weights(programs, 1)[0] == pytest.approx([0.95, 0.95])
        return
    # w = g * v / |v|; with s, the gradient of w: s.v / |v| for g, g * (s - v (s.v) / |v|^2) / |v| for v.
    assert weights(programs, 1, "w_g")[0] == pytest.approx([np.sqrt(2) - 0.05])
    assert weights(programs, 1, "w_v")[0] == pytest.approx([0.95, 1.05])


def test_a_clip_of_another_type_is_refused() -> None:
    with pytest.raises(DTypeError, match="WeightNormParamAttr: gradient_clip"):
        fluid.WeightNormParamAttr(gradient_clip=1.0)
    with pytest.raises(DTypeError, match="ParamAttr: gradient_clip"):
        fluid.ParamAttr(gradient_clip=1.0)
    assert fluid.WeightNormParamAttr(0, "w", None, 1.0, None, True, True).do_model_average


@pytest.mark.parametrize(
    "name", ["optimizer.DGCMomentumOptimizer", "optimizer.Dpsgd", "clip.ErrorClipByValue"]
)
def test_omitted_names_raise_with_a_replacement(name: str) -> None:
    module, _, last = name.partition(".")
    kind = getattr(getattr(fluid, module), last)
    with pytest.raises(UnsupportedError, match=rf"fluid.{name}: .*use "):
        kind(0.1)
