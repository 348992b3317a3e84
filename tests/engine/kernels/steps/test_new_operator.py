"""An elementwise operator with its gradient, and nothing else, is fused and compiled on every backend."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.core.operators.infer import floating_as_x
from engine.core.operators.opdef import OPS, op
from engine.core.values.spec import Spec
from engine.kernels.choice import kernels
from engine.kernels.steps.cost import probed_cost
from engine.ops.elementwise.fused import Steps
from engine.program.run.plan import Plan

NAME = "bump_for_a_test"
SHAPE = (512, 64)


@pytest.fixture(scope="module", autouse=True)
def bump() -> Iterator[Any]:
    """A bump around 0, and its gradient in operators."""

    @op(NAME, infer=floating_as_x("bump"))
    def bump(xp, x, *, height=1.0):  # type: ignore[no-untyped-def]
        """height / (1 + x * x)."""
        return x.dtype.type(height) / (x * x + x.dtype.type(1))

    bump.grad(x=lambda g, x, out, height: g * out * out * x * (-2.0 / height))
    yield bump
    del OPS[NAME]


def values() -> Any:
    return np.random.default_rng(0).standard_normal(SHAPE).astype(np.float32)


def by_hand(x: Any) -> Any:
    once = np.float32(3) / (x * x + np.float32(1))
    return once * np.float32(2) + x


def steps() -> Steps:
    return Steps(
        (
            (NAME, (0,), (("height", 3.0),)),
            ("scale", (1,), (("scale", 2.0),)),
            ("elementwise_add", (2, 0), ()),
        )
    )


def test_its_cost_is_counted() -> None:
    cost = probed_cost(OPS[NAME])
    assert cost is not None
    assert (cost.operations, cost.functions, cost.library) == (3, 0, False)


def test_plans_fuse_it_with_its_gradient(bump: Any) -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        with paddle.static.program_guard(program):
            x = paddle.static.data("x", list(SHAPE), "float32")
            x.stop_gradient = False
            y = bump(x, height=3.0) * 2.0 + x
            (gradient,) = paddle.static.gradients([y], [x])
        with kernels.guard("fast"):
            plan = Plan(
                program, program.global_block().ops, [x], [y, gradient], {"x": Spec(SHAPE, "float32")}
            )
            given = values()
            made, slope = plan([given])
            while any(whose == "compiling" for _, whose in plan.kernels()):
                made, slope = plan([given])
        assert ("fused_elementwise", "fast") in plan.kernels()
        assert NAME not in [operator.opdef.name for operator in plan.ops]
        np.testing.assert_array_equal(made, by_hand(given))
        exact = given.astype(np.float64)
        np.testing.assert_allclose(slope, 1 - 12 * exact / (1 + exact * exact) ** 2, rtol=2e-5, atol=2e-6)
    finally:
        paddle.disable_static()


def test_compiled_loops_and_cuda_compute_it() -> None:
    given = values()
    want = by_hand(given)
    (in_numpy,) = OPS["fused_elementwise"].kernel(np, [given], steps=steps(), outputs=(3,))
    np.testing.assert_array_equal(in_numpy, want)
    from tests.cupy_stand_in.module import gpu, installed

    with nullcontext() if gpu() else installed(), kernels.guard("auto"):
        import cupy

        import engine.kernels.cupy  # the operators get their kernels

        assert engine.kernels.cupy.xp is cupy
        kernel, _ = OPS["fused_elementwise"].kernel_for("cupy")
        (on_gpu,) = kernel(cupy, [cupy.asarray(given)], steps=steps(), outputs=(3,))
        np.testing.assert_array_equal(cupy.asnumpy(on_gpu), want)
