"""Operators of a plan that may round otherwise than those of a stepping plan."""

from __future__ import annotations

from typing import Any

import numpy as np

import engine as paddle
from engine.kernels import choice
from engine.program.run.stepping.otherwise import COMPILED, FUSED, Otherwise, computed_otherwise, in_words
from engine.training.whole_step import WholeStep


def test_fused_operators_are_named_with_their_layer() -> None:
    class Chain(paddle.nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.tanh(paddle.exp(x * 0.5) + x) * x

    network = paddle.nn.Sequential(paddle.nn.Linear(64, 64), Chain())
    with choice.kernels.guard("fast"):
        x = paddle.ones([500, 64])
        step = WholeStep(lambda x: network(x).sum(), None, (x,), network=network)
        rows = step.computed_otherwise()
    fused = next(row for title, row in rows if title == "forward" and row.how == FUSED)
    assert {"exp", "tanh"} <= set(fused.parts)
    assert fused.layer == "Sequential"
    assert {file for file, _ in fused.places} == {__file__}


def test_operators_that_will_be_compiled() -> None:
    network = paddle.nn.BatchNorm1D(64)
    with choice.kernels.guard("auto"):
        step = WholeStep(lambda x: network(x).sum(), None, (paddle.ones([500, 64]),), network=network)
        plans = step.function.plans()
        rows = [row for _, plan in plans for row in computed_otherwise(plan)]
    assert [title for title, _ in plans] == ["forward", "backward"]
    assert ("batch_norm",) in [row.parts for row in rows if row.how == COMPILED]


def test_a_stepping_plan_takes_compiled_kernels_where_plans_do_at_once() -> None:
    x = np.random.default_rng(3).normal(size=(500, 64)).astype(np.float32)
    network = paddle.nn.BatchNorm1D(64)
    found = {}
    for name in ("numpy", "fast"):
        with choice.kernels.guard(name):
            step = WholeStep(lambda x: network(x).sum(), None, (paddle.to_tensor(x),), network=network)
            whose = dict(step.function.forward.kernels())
            found[name] = whose["batch_norm"], float(step.begin_forward().finish()[0])
    assert found["numpy"][0] == "numpy"
    assert found["fast"][0] == "fast"
    np.testing.assert_allclose(found["fast"][1], found["numpy"][1], atol=1e-2)


def test_in_words() -> None:
    rows = [Otherwise((name,), "", (), COMPILED) for name in ("conv2d", "conv2d", "a", "b", "c", "d")]
    rows.append(Otherwise(("exp", "tanh"), "", (), FUSED))
    assert in_words(rows) == "7 operators, 1 of them fused: 2 conv2d, 1 a, 1 b, 1 c, ..."
    assert in_words(rows[:2]) == "2 operators: 2 conv2d"
