"""Fused elementwise operators in plans: which become one, which do not, and that every bit stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject

import engine as paddle
from engine import static
from engine.core.errors import GradientError
from engine.core.spans import watch
from engine.core.values.spec import Spec
from engine.kernels.cpu import cut, fused_elementwise
from engine.program.graph.program import Program
from engine.program.passes import level
from engine.program.passes.pipeline import optimize
from engine.program.run.fusion import elementwise as of_plans
from engine.program.run.plan import Plan
from engine.program.run.stages import fuse as stage
from tests.engine.program.passes.random_programs import Weights, built, run, steps
from tests.engine.program.passes.text import program_of
from tests.trials import trials


@pytest.fixture(autouse=True, scope="module")
def everything_pays() -> Any:
    """All groups are fused, and computed in small blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "compiles", lambda: True)
        patch.setattr(of_plans, "LEAST", 1)
        patch.setattr(fused_elementwise, "LARGE", 1)
        patch.setattr(cut, "BLOCK", 12)
        yield


def plan_of(text: str, passes: int = 1) -> Plan:
    program = program_of(text)
    block = program.global_block()
    inputs = [block.var(n) for n in program.inputs]
    specs = {v.name: v.spec for v in inputs}
    return Plan(program, block.ops, inputs, [block.var(n) for n in program.outputs], specs, passes=passes)


def shown(plan: Plan) -> list[str]:
    """The operators of a plan, those of a fused one in brackets."""
    return [
        "[" + " ".join(step[0] for step in o.attrs["steps"]) + "]" if "steps" in o.attrs else o.opdef.name
        for o in plan.ops
    ]


CHAIN = """
    x: float32[4, 6]
    b: float32[6]
    a = elementwise_add(x, b)
    c = relu(a)
    d = scale(c, scale=2.0)
"""


def test_a_chain_becomes_one_operator() -> None:
    plan = plan_of(CHAIN + "return c, d")
    assert shown(plan) == ["[elementwise_add relu scale]"]
    assert [v.name for v in plan.ops[0].outputs] == ["c", "d"]
    x, b = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6), np.arange(6, dtype="float32")
    for _ in range(2):
        c, d = plan([x, b])
        np.testing.assert_array_equal(c, np.maximum(x + b, 0))
        np.testing.assert_array_equal(d, c * 2)


def test_at_level_0_operators_stay_as_they_are() -> None:
    assert shown(plan_of(CHAIN + "return c, d", passes=0)) == ["elementwise_add", "relu", "scale"]
    with level.guard(0):
        block = program_of(CHAIN + "return d").global_block()
        given_specs = {"x": Spec((4, 6), "float32"), "b": Spec((6,), "float32")}
        plan = Plan(block.program, block.ops, [block.var("x"), block.var("b")], [block.var("d")], given_specs)
    assert len(plan.ops) == 3


@pytest.mark.parametrize(
    ("between", "want"),
    [
        # values that others read before the group is complete are computed before the reads
        (
            "s = reduce_sum(a)\n t = elementwise_mul(c, s)",
            ["[elementwise_add relu]", "reduce_sum", "elementwise_mul"],
        ),
        # groups have one shape
        ("s = reduce_sum(c)\n t = tanh(s)", ["[elementwise_add relu]", "reduce_sum", "tanh"]),
        # two branches that meet are one group
        ("s = tanh(x)\n t = elementwise_mul(c, s)", ["[elementwise_add relu tanh elementwise_mul]"]),
    ],
)
def test_groups_end_at_barriers(between: str, want: list[str]) -> None:
    text = CHAIN.replace("d = scale(c, scale=2.0)", between) + "return t"
    plan = plan_of(text)
    assert shown(plan) == want
    values = [np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6), np.arange(6, dtype="float32")]
    np.testing.assert_array_equal(plan(values)[0], plan_of(text, passes=0)(values)[0])


def test_values_changed_in_place_are_read_before_the_change() -> None:
    paddle.enable_static()
    try:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            x = static.data("x", [4, 6], "float32")
            state = static.create_global_var([4, 6], 1.0, "float32", persistable=True)
            read = x + state
            paddle.assign(paddle.tanh(x), state)
            out = paddle.nn.functional.relu(read)
        runs = []
        for passes in (0, 1):
            executor = static.Executor()
            with level.guard(passes), static.scope_guard(static.Scope()):
                executor.run(startup)
                feed = {"x": np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)}
                runs.append([executor.run(main, feed, [out])[0] for _ in range(2)])
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(runs[0], runs[1])


def test_an_array_is_reused_after_its_last_read() -> None:
    text = """
        x: float32[4, 6]
        p = matmul_v2(x, x, trans_x=False, trans_y=True)
        q = matmul_v2(x, x, trans_x=False, trans_y=True)
        a = tanh(p)
        b = relu(q)
        c = elementwise_mul(a, p)
        d = elementwise_add(c, b)
        return a, d"""
    plan = plan_of(text)
    assert shown(plan) == ["matmul_v2", "matmul_v2", "[tanh relu elementwise_mul elementwise_add]"]
    assert "out=[None, fitting(" in plan.source  # p is read after a is made
    x = np.linspace(-1, 1, 24, dtype="float32").reshape(4, 6)
    for _ in range(2):
        for got, want in zip(plan([x]), plan_of(text, passes=0)([x]), strict=True):
            np.testing.assert_array_equal(got, want)


def test_parts_are_listed() -> None:
    plan = plan_of(CHAIN + "return d")
    (operator,) = plan.ops
    assert [part.opdef.name for part in operator.notes["parts"]] == ["elementwise_add", "relu", "scale"]


def test_text_and_profile_name_the_parts() -> None:
    network = paddle.nn.Linear(6, 4)

    @paddle.jit.to_static
    def run(x: paddle.Tensor) -> paddle.Tensor:
        made = network(x)
        high = paddle.nn.functional.relu(made)
        return high * 2.0

    reported: list[str] = []

    class Recorder:
        shapes = details = False

        def add(self, kind: str, name: str, start: int, shapes: Any = ()) -> None:
            reported.append(name)

    x = paddle.ones([8, 6])
    with paddle.no_grad():
        run(x)
        (plan,) = run.program_cache[0].runner._inference.values()
        watch.start(Recorder())  # type: ignore[arg-type]
        try:
            run(x)
        finally:
            watch.stop()
    names = "fused_elementwise(elementwise_add, relu, scale)"
    assert reported == ["matmul_v2", names]
    line = next(line for line in plan.text().splitlines() if "fused" in line)
    assert f" = {names}(" in line
    here = [int(place.rpartition(":")[2]) for place in line.partition("# ")[2].split(", ")]
    assert here[-1] == here[-2] + 1  # relu and the product are on separate lines


def test_an_untrusted_model_runs_without_fusion() -> None:
    program = program_of(CHAIN + "return d")
    program.foreign = True
    block = program.global_block()
    inputs = [block.var("x"), block.var("b")]
    plan = Plan(program, block.ops, inputs, [block.var("d")], {v.name: v.spec for v in inputs})
    assert shown(plan) == ["elementwise_add", "relu", "scale"]


@trials(24)
@given(steps())
def test_random_programs_give_the_same_bits(plan: list[Any]) -> None:
    weights = Weights()
    program: Program = optimize(built(plan, weights), 1)
    x = np.random.default_rng(1).uniform(-1, 1, (2, 3, 4, 4)).astype("float32")
    try:
        expected = run(program, x, weights, passes=0)
    except GradientError:  # a gradient needs a state that was written since
        reject()
    for one, other in zip(run(program, x, weights, passes=1), expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_random_programs_contain_groups() -> None:
    """Otherwise the test above compares nothing."""
    for kinds in (("gelu", "cast"), ("where", "clip")):
        program = built([(kind, (n, n), []) for n, kind in enumerate(kinds)], Weights())
        block = program.global_block()
        x = block.var("x")
        plan = Plan(program, block.ops, [x], [block.var(program.outputs[0])], {"x": x.spec})
        assert any("steps" in o.attrs for o in plan.ops)


@pytest.mark.parametrize(
    ("compiled", "size", "name", "count"),
    [
        (True, 4000, "relu", 0),
        (True, 4000, "exp", 1),
        (True, 9000, "relu", 1),
        (False, 9000, "relu", 0),
    ],
)
def test_groups_that_gain_nothing_stay(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, size: int, name: str, count: int
) -> None:
    monkeypatch.setattr(stage, "compiles", lambda: compiled)
    monkeypatch.setattr(of_plans, "LEAST", 1 << 14)
    text = f"x: float32[{size}]\na = {name}(x)\nb = scale(a, scale=2.0)\nreturn b"
    assert sum("steps" in o.attrs for o in plan_of(text).ops) == count


@pytest.mark.parametrize(("name", "alone"), [("relu", True), ("leaky_relu", True), ("tanh", False)])
def test_single_operators_of_several_numpy_passes_are_compiled(
    monkeypatch: pytest.MonkeyPatch, name: str, alone: bool
) -> None:
    monkeypatch.setattr(of_plans, "LEAST", 1 << 14)
    for size in (1 << 14, 1 << 13):
        (operator,) = plan_of(f"x: float32[{size}]\na = {name}(x)\nreturn a").ops
        assert ("steps" in operator.attrs) is (alone and size == 1 << 14)


def test_groups_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_plans, "_MOST", 4)
    lines = "\n".join(f"v{n + 1} = tanh(v{n})" for n in range(10))
    plan = plan_of(f"v0: float32[2, 2]\n{lines}\nreturn v10")
    assert shown(plan) == ["[tanh tanh tanh tanh]", "[tanh tanh tanh tanh]", "[tanh tanh]"]
