"""Batch normalization with relu in plans: which become one operator, and that values and gradients stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.nn import functional as F
from engine.program.run.plan import Plan
from engine.program.run.stages import fuse as stage
from tests.engine.fresh_static import fresh_static

FORWARD, BACKWARD = "fused_batch_norm_relu", "fused_batch_norm_relu_grad"
Net = Callable[[Any, Any], Any]


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where plans request compiled kernels; NumPy's compute."""
    monkeypatch.setattr(stage, "compiles", lambda: True)


def plan_of(net: Net, passes: int = 1, training: bool = True, more: str = "") -> tuple[Plan, list[Any]]:
    """The plan of a network of x [4, 3, 5, 5] with its gradients, and values of its inputs."""
    random = np.random.default_rng(0)
    x_shape, each = (4, 3, 5, 5), (3,)
    shapes = {"x": x_shape, "s": each, "b": each, "mean": each, "variance": each, "g": x_shape}
    given = {
        n: np.abs(random.standard_normal(s)).astype("float32") - 0.3 * (n == "x") for n, s in shapes.items()
    }
    given["g"] = random.standard_normal(x_shape).astype("float32")
    with fresh_static():
        program = static.default_main_program()
        data = {n: static.data(n, list(s), "float32") for n, s in shapes.items()}
        leaves = [data[n] for n in "xsb"]
        for leaf in leaves:
            leaf.stop_gradient = False

        def norm(x: Any) -> Any:
            statistics = data["mean"], data["variance"]
            return F.batch_norm(x, *statistics, data["s"], data["b"], training=training)

        out = net(norm, data["x"])
        gradients = static.gradients([out], leaves, [data["g"]])
    block, inputs = program.global_block(), list(data.values())
    specs = {v.name: v.spec for v in inputs}
    fetched = [out, *gradients, *[block.var(n) for n in more.split()]]
    return Plan(program, block.ops, inputs, fetched, specs, passes=passes), [given[v.name] for v in inputs]


def names(plan: Plan) -> list[str]:
    return [o.opdef.name for o in plan.ops if "norm" in o.opdef.name]


def run(plan: Plan, given: list[Any]) -> list[Any]:
    """The results, then the running statistics."""
    given = [value.copy() for value in given]
    return [*plan(given), *given[3:5]]


def assert_same(net: Net, **options: Any) -> Plan:
    """The plan, whose results are the bits of the single operators."""
    plan, given = plan_of(net, **options)
    plain, _ = plan_of(net, passes=0, **options)
    assert {FORWARD, BACKWARD}.isdisjoint(names(plain))
    for got, want in zip(run(plan, given), run(plain, given), strict=True):
        np.testing.assert_array_equal(got, want)
        assert got.strides == want.strides
    return plan


def test_norm_and_relu_become_one_operator_with_the_same_bits() -> None:
    plan = assert_same(lambda norm, x: F.relu(norm(x)))
    assert names(plan) == [FORWARD, BACKWARD]


def test_values_of_numbers_that_are_none_stay() -> None:
    plan, given = plan_of(lambda norm, x: F.relu(norm(x)))
    plain, _ = plan_of(lambda norm, x: F.relu(norm(x)), passes=0)
    given[0][1, 2] = np.nan
    given[5][0, 0, 1] = np.inf
    with np.errstate(all="ignore"):
        for got, want in zip(run(plan, given), run(plain, given), strict=True):
            np.testing.assert_array_equal(got, want)


def test_a_norm_that_others_read_stays() -> None:
    def net(norm: Any, x: Any) -> Any:
        y = norm(x)
        return F.relu(y) + y

    assert names(assert_same(net)) == ["batch_norm", "batch_norm_grad"]


def test_two_layers_become_two() -> None:
    plan = assert_same(lambda norm, x: F.relu(norm(F.relu(norm(x)))))
    assert names(plan) == [FORWARD, FORWARD, BACKWARD, BACKWARD]


def test_a_residual_sum_keeps_the_gradient_that_both_branches_read() -> None:
    plan = assert_same(lambda norm, x: F.relu(norm(x) + x))
    assert names(plan) == ["batch_norm", "batch_norm_grad"]


@pytest.mark.parametrize("activation", [F.sigmoid, F.relu6, F.leaky_relu])
def test_other_activations_stay(activation: Any) -> None:
    assert names(assert_same(lambda norm, x: activation(norm(x)))) == ["batch_norm", "batch_norm_grad"]


def test_given_statistics_stay() -> None:
    plan = assert_same(lambda norm, x: F.relu(norm(x)), training=False)
    assert names(plan) == ["batch_norm", "batch_norm_grad"]


def test_the_gradient_is_written_into_one_that_nothing_else_reads() -> None:
    plan, _ = plan_of(lambda norm, x: paddle.tanh(F.relu(norm(x))))
    assert names(plan) == [FORWARD, BACKWARD]
    (fused,) = [o for o in plan.ops if o.opdef.name == BACKWARD]
    (line,) = [line for line in plan.source.splitlines() if "out=[" in line]
    arguments = line[line.index("(xp, ") + 5 :].split(", ")
    assert f"out=[fitting({arguments[2]}" in line  # the gradient of the relu's result
    assert fused.inputs[2].name not in {v.name for v in plan.outputs}
