"""Products in plans that become one call: which ones, where they move, and that every bit stays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="llvmlite is not installed")

import engine as paddle
from engine import jit
from engine.core.spans import Recorder, watch
from engine.kernels.choice import kernels
from engine.kernels.cpu import pool, threads
from engine.kernels.fast.linalg import matmul
from engine.program.run.fusion import chains
from engine.program.run.fusion import products as of_plans
from engine.program.run.plan import Plan
from tests.engine.program.passes.text import program_of


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Products of these sizes are large ones, on two threads, and no parts of chains."""
    monkeypatch.setattr(chains, "LEAST", 100)
    monkeypatch.setattr(of_plans, "SHARD", 1 << 10)
    monkeypatch.setattr(matmul, "SHARD", 1 << 8)
    monkeypatch.setattr(threads, "_count", 2)
    with kernels.guard("fast"):
        yield
    pool.dismiss()


def plan_of(text: str, passes: int = 1) -> Plan:
    program = program_of(text)
    block = program.global_block()
    inputs = [block.var(n) for n in program.inputs]
    specs = {v.name: v.spec for v in inputs}
    return Plan(program, block.ops, inputs, [block.var(n) for n in program.outputs], specs, passes=passes)


def lines(plan: Plan) -> list[list[str]]:
    """The results of each line of the plan that calls a kernel."""
    names = [" ".join(v.name for v in o.outputs if v is not None) for o in plan.ops]
    found, position = [], 0
    for line in plan.source.splitlines():
        call = line.partition(" = c")
        if call[1]:
            count = len([each for each in call[0].split(",") if each.strip()])
            found.append(names[position : position + count])
            position += count
    return found


class Names(Recorder):
    """Records the names of operators."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.shapes = self.details = False

    def add(self, kind: str, name: str, start: int, shapes: Any = ()) -> None:
        self.names.append(name)

    def operator(self, name: str, start: int, end: int, call: Any) -> None:
        self.names.append(name)


def random(*shapes: tuple[int, ...]) -> list[Any]:
    draw = np.random.default_rng(0)
    return [draw.standard_normal(shape).astype("float32") for shape in shapes]


HEADS = """
    x: float32[40, 32]
    q: float32[32, 48]
    k: float32[32, 20]
    a = matmul_v2(x, q)
    b = exp(a)
    c = matmul_v2(x, k)
    d = exp(c)
    e = matmul_v2(b, d, trans_x=True)
    return b, e
"""


def test_products_of_one_input_become_one_call() -> None:
    plan = plan_of(HEADS)
    assert lines(plan) == [["a", "c"], ["b"], ["d"], ["e"]]
    x, q, k = random((40, 32), (32, 48), (32, 20))
    plain = plan_of(HEADS, passes=0)
    assert lines(plain) == [["a"], ["b"], ["c"], ["d"], ["e"]]
    for _ in range(3):
        for made, expected in zip(plan([x, q, k]), plain([x, q, k]), strict=True):
            np.testing.assert_array_equal(made, expected)
    assert [whose for _, whose in plan.kernels()] == ["fast", "fast", "numpy", "numpy", "fast"]


def test_gradients_of_a_product_become_one_call_and_single_ones_while_it_is_recorded() -> None:
    plan = plan_of("""
        x: float32[40, 32]
        w: float32[32, 48]
        g: float32[40, 48]
        u = exp(g)
        a = matmul_v2(x, u, trans_x=True)
        b = matmul_v2(u, w, trans_y=True)
        return a, b
    """)
    assert lines(plan) == [["u"], ["a", "b"]]
    x, w, g = random((40, 32), (32, 48), (40, 48))
    a, b = plan([x, w, g])
    np.testing.assert_allclose(a, x.T @ np.exp(g), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(b, np.exp(g) @ w.T, rtol=1e-4, atol=1e-4)
    recorded = Names()
    watch.start(recorded)
    try:
        again = plan([x, w, g])
    finally:
        watch.stop()
    assert recorded.names == ["exp", "matmul_v2", "matmul_v2"]
    np.testing.assert_array_equal(again[0], a)
    np.testing.assert_array_equal(again[1], b)


def test_dependent_products_stay_apart() -> None:
    plan = plan_of("""
        x: float32[40, 40]
        a = matmul_v2(x, x)
        b = matmul_v2(a, x)
        c = matmul_v2(x, b)
        return a, c
    """)
    assert lines(plan) == [["a"], ["b"], ["c"]]


def test_small_products_stay_alone() -> None:
    plan = plan_of("""
        x: float32[4, 5]
        y: float32[5, 6]
        z: float32[5, 7]
        a = matmul_v2(x, y)
        b = matmul_v2(x, z)
        return a, b
    """)
    assert lines(plan) == [["a"], ["b"]]


def test_products_do_not_move_over_a_change_of_what_they_read() -> None:
    weight = paddle.to_tensor(random((32, 48))[0])

    def step(x: Any) -> Any:
        before = paddle.matmul(x, weight)
        paddle.assign(weight * 2.0, weight)
        return before, paddle.matmul(x, weight)

    (x,) = random((40, 32))
    expected = x.astype("float64") @ weight.numpy()
    before, after = jit.to_static(step)(paddle.to_tensor(x))
    np.testing.assert_allclose(before.numpy(), expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(after.numpy(), 2 * expected, rtol=1e-4, atol=1e-4)
