"""Plans on a GPU: elementwise operators are fused whatever their size, constants are on the device, one
update."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine import nn, optimizer
from engine.core.values.bfloat import narrow, widen
from engine.kernels import choice
from engine.nn import functional as F
from engine.program.run.fusion.updates import Update
from engine.program.run.plan import Plan
from tests.cupy_stand_in.counts import counted
from tests.cupy_stand_in.module import gpu
from tests.engine.program.passes.text import program_of


@pytest.fixture(autouse=True)
def kernels(cupy: Any) -> Iterator[None]:
    with choice.kernels.guard("auto"), choice.cuda_graphs.guard("off"):
        yield


def _plan(text: str, xp: Any, passes: int = 1) -> Plan:
    program = program_of(text)
    block = program.global_block()
    inputs = [block.var(n) for n in program.inputs]
    specs = {v.name: v.spec for v in inputs}
    outputs = [block.var(n) for n in program.outputs]
    return Plan(program, block.ops, inputs, outputs, specs, xp=xp, passes=passes)


def _parts(plan: Plan) -> list[list[str]]:
    return [
        [step[0] for step in o.attrs["steps"]] if "steps" in o.attrs else [o.opdef.name] for o in plan.ops
    ]


CHAIN = """
    x: {kind}[4, 6]
    b: {kind}[6]
    a = elementwise_add(x, b)
    c = elementwise_mul(a, a)
    d = elementwise_sub(c, x)
    return c, d
"""


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int32", "int64"])
def test_a_chain_is_one_launch_with_the_bits_of_numpy(cupy: Any, kind: str) -> None:
    plan = _plan(CHAIN.format(kind=kind), cupy)
    assert _parts(plan) == [["elementwise_add", "elementwise_mul", "elementwise_sub"]]
    rng = np.random.default_rng(0)
    given = [(9 * rng.standard_normal(shape)).astype(kind) for shape in ((4, 6), (6,))]
    moved = [cupy.asarray(x) for x in given]
    with counted() as counts:
        got = plan(moved)
    if not gpu():
        assert (counts.launches, counts.waits, counts.to_device) == (1, 0, 0)
    for a, b in zip(got, _plan(CHAIN.format(kind=kind), np, passes=0)(given), strict=True):
        np.testing.assert_array_equal(a.get(), b)


def test_bfloat16_is_rounded_as_between_operators(cupy: Any) -> None:
    rng = np.random.default_rng(0)
    given = [narrow(cupy, cupy.asarray(rng.standard_normal(s).astype("float32"))) for s in ((4, 6), (6,))]
    text = CHAIN.format(kind="bfloat16")
    plan = _plan(text, cupy)
    assert len(plan.ops) == 1
    with counted() as counts:
        got = plan(given)
    assert gpu() or counts.launches == 1
    for a, b in zip(got, _plan(text, cupy, passes=0)(given), strict=True):
        assert a.dtype == b.dtype == np.uint16
        np.testing.assert_array_equal(a.get(), b.get())


def test_bfloat16_without_a_rule_goes_through_float32(cupy: Any) -> None:
    from engine.kernels.cupy.elementwise import single

    host = np.linspace(-2, 2, 9, dtype="float32")
    got = single("softshrink")(cupy, narrow(cupy, cupy.asarray(host)), threshold=-0.25)
    assert got.dtype == np.uint16
    np.testing.assert_array_equal(widen(cupy, got).get(), host + np.float32(0.25))


def test_one_operator_alone_stays_and_so_do_all_with_the_choice_numpy(cupy: Any) -> None:
    alone = "x: float32[5]\na = tanh(x)\nreturn a"
    assert _parts(_plan(alone, cupy)) == [["tanh"]]
    with choice.kernels.guard("numpy"):
        assert len(_plan(CHAIN.format(kind="float32"), cupy).ops) == 3


def test_constants_are_brought_once(cupy: Any) -> None:
    text = (
        "x: float32[3]\na = fill_constant(shape=[3], value=2.0, dtype='float32')\nb = elementwise_mul(x, a)"
    )
    plan = _plan(text + "\nreturn b", cupy)
    assert all(isinstance(value, cupy.ndarray) for value in plan.constants.values())
    assert len(plan.constants) == 1
    x = cupy.arange(3, dtype=np.float32)
    with counted() as counts:
        (b,) = plan([x])
    assert gpu() or (counts.launches, counts.to_device) == (1, 0)
    np.testing.assert_array_equal(b.get(), [0, 2, 4])


def test_a_converted_step_updates_all_parameters_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def refuse(*_: Any) -> None:
        raise AssertionError("parameters are updated one by one")

    on_device = Update._on_device

    def count(self: Update, arrays: Any, *rest: Any) -> None:
        calls.append(len(arrays))
        on_device(self, arrays, *rest)

    monkeypatch.setattr(Update, "_one_by_one", refuse)
    monkeypatch.setattr(Update, "_on_device", count)
    paddle.seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Linear(8, 3))
    adam = optimizer.Adam(0.01, parameters=net.parameters())

    @paddle.jit.to_static
    def step(x: Any, y: Any) -> Any:
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    x, y = paddle.rand([5, 4]), paddle.zeros([5, 1], "int64")
    arrays = [p._array for p in net.parameters()]
    losses = []
    for _ in range(3):
        with counted() as counts:
            loss = step(x, y)
        losses.append(float(loss))
    assert losses[2] < losses[0]
    assert all(p._array is a for p, a in zip(net.parameters(), arrays, strict=True))
    assert calls == [4 * 5] * 3  # four parameters, each with two moments and two powers
    assert gpu() or counts.waits == 0


def test_a_rate_that_changes_in_a_program_is_not_copied() -> None:
    main, startup = paddle.static.Program(), paddle.static.Program()
    rate = optimizer.lr.StepDecay(0.5, 1, gamma=0.5)
    paddle.enable_static()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [4, 3], "float32")
        weight = paddle.static.create_parameter([3], "float32")
        loss = (x * weight).sum()
        optimizer.SGD(rate).minimize(loss)
    paddle.disable_static()
    executor = paddle.static.Executor(paddle.CUDAPlace(0))
    executor.run(startup)
    ones, losses = paddle.ones([4, 3]), []
    for _ in range(3):
        with counted() as counts:
            (loss_now,) = executor.run(main, feed={"x": ones}, fetch_list=[loss], return_numpy=False)
        assert gpu() or (counts.to_device, counts.waits) == (0, 0) or not losses
        losses.append(float(loss_now))
        rate.step()
    # Each step takes rate * 4 from three weights, of which the loss has four each.
    steps = [48 * 0.5, 48 * 0.25]
    np.testing.assert_allclose(np.diff(losses), [-s for s in steps], rtol=1e-5)
