"""Explanations of a plan's operators: fused, views, in place, constants, and why NumPy computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine as paddle
from engine.kernels import choice
from engine.kernels.fast.compiler import available
from engine.program.run.explain import WHY, Explained
from engine.program.run.plan import Plan
from engine.static import Program, program_guard


def _explained(build: Any, shape: list[int], kernels: str = "numpy", **feeds: Any) -> list[Explained]:
    program = Program()
    paddle.enable_static()
    try:
        with program_guard(program, Program()):
            x = paddle.static.data("x", shape, "float32")
            result = build(x)
    finally:
        paddle.disable_static()
    with choice.kernels.guard(kernels):
        plan = Plan(program, program.global_block().ops, [x], [result], feeds)
        assert not plan._kernels._requested or plan._kernels.came.wait(120)
        plan([np.ones([2 if n < 0 else n for n in shape], np.float32)])
    made = plan.explain()
    assert [row.text for row in made] == [line.strip().split("  # ")[0] for line in plan.text().splitlines()]
    assert all(not row.why or row.why in WHY for row in made)
    return made


def test_views_places_of_results_and_constants() -> None:
    def build(x: Any) -> Any:
        a = paddle.exp(x).reshape([6, 2])
        return paddle.tanh(a) + paddle.full([2], 3.0)

    rows = {row.name: row for row in _explained(build, [3, 4])}
    assert (rows["reshape2"].how, rows["reshape2"].bytes) == ("view", 0)
    assert (rows["exp"].reuses, rows["exp"].bytes) == (False, 48)
    assert rows["elementwise_add"].reuses
    assert rows["fill_constant"].how == "constant"
    assert rows["fill_constant"].describe() == "computed once, with the plan"
    assert rows["exp"].describe() == f"NumPy: {WHY['chosen' if available() else 'absent']}"
    assert rows["exp"].places[0][0] == __file__


def test_branches_are_python_and_their_operators_are_listed() -> None:
    def build(x: Any) -> Any:
        return paddle.static.nn.cond(paddle.mean(x) > 0, lambda: paddle.exp(x), lambda: paddle.tanh(x))

    rows = _explained(build, [3])
    branch = next(row for row in rows if row.name == "conditional_block")
    assert (branch.how, branch.kernel, branch.depth) == ("flow", "", 0)
    assert branch.describe() == "Python"
    assert {"exp", "tanh"} <= {row.name for row in rows if row.depth == 1 and row.kernel == "numpy"}


def test_why_no_compiled_kernel_computes() -> None:
    pytest.importorskip("llvmlite", reason="llvmlite is not installed")

    def build(x: Any) -> Any:
        a = paddle.nn.functional.relu(paddle.exp(x) + 1.0)
        b = paddle.matmul(a, a) + paddle.mv(a, a[0])
        c = paddle.cumsum(b, axis=0)
        return c + paddle.nn.functional.softmax(b) + paddle.tanh(paddle.sum(b))

    rows = _explained(build, [256, 256], "fast")
    fused = next(row for row in rows if row.name == "fused_elementwise")
    assert {"exp", "relu"} <= set(fused.parts)
    assert (fused.kernel, fused.why, fused.describe()) == ("fast", "", "compiled")
    why = {row.name: row.why for row in rows}
    assert (why["mv"], why["cumsum"], why["tanh"]) == ("product", "none", "small")
    assert next(row for row in rows if row.name == "matmul_v2").kernel == "fast"
    assert next(row for row in rows if row.name == "softmax").kernel == "fast"
    assert "sizes" in {
        row.why for row in _explained(lambda x: paddle.nn.functional.softmax(x), [-1, 3], "fast")
    }


def test_without_llvmlite_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.kernels.fast import compiler

    monkeypatch.setattr(compiler, "available", lambda: False)
    for kernels in ("auto", "numpy"):  # a training chooses NumPy itself then
        (row,) = _explained(paddle.exp, [3], kernels)
        assert row.why == "absent"
        assert "pip install llvmlite" in row.describe()
