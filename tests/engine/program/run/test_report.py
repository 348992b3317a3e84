"""The report of a plan agrees with the memory of a call."""

from __future__ import annotations

import inspect
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

import engine as paddle
from engine import jit, nn
from engine.jit.run_program import ProgramRunner
from engine.program.run.plan import Plan

HERE = str(Path(__file__).resolve())
SIDE = 256
ONE = SIDE * SIDE * 4


def _body(x: Any, w: Any) -> Any:
    a = paddle.matmul(x, w)
    b = paddle.matmul(a, w)
    c = paddle.matmul(a, b)
    return c.reshape([-1]).sum()


_FIRST = inspect.getsourcelines(_body)[1]


def _plan() -> tuple[Plan, list[Any]]:
    converted = jit.to_static(_body)
    given = [paddle.rand([SIDE, SIDE]) for _ in range(2)]
    converted(*given)
    runner: ProgramRunner = converted.get_concrete_program(*given)[0].runner
    (plan,) = runner._inference.values()
    return plan, [t._array for t in given]


def test_the_peak_is_the_memory_of_a_call() -> None:
    plan, arrays = _plan()
    found = plan.report()
    assert (found.peak, found.during, found.given, found.unknown) == (3 * ONE, "matmul_v2", 2 * ONE, 0)
    assert [(o.operator, o.file, o.line, o.bytes) for o in found.owners] == [
        ("matmul_v2", HERE, _FIRST + n, ONE) for n in (1, 2, 3)
    ]
    plan(arrays)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        plan(arrays)
        taken = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert found.peak <= taken < found.peak + 50_000


def test_the_table() -> None:
    plan, _ = _plan()
    lines = plan.report().text(most=2).splitlines()
    assert lines[0] == "peak 0.79 MB in matmul_v2, 3 values; arguments 0.52 MB"
    assert lines[1].split() == ["0.26", "matmul_v2", f"run/test_report.py:{_FIRST + 1}"]
    assert lines[3].split() == ["0.26", "1", "others"]


def test_backward_in_training_frees_values_after_their_last_read() -> None:
    net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(6)])
    converted = jit.to_static(net)
    x = paddle.rand([32, 64])
    x.stop_gradient = False
    converted(x).sum().backward()
    runner = converted.forward.concrete_program.runner
    (run,) = runner._training.values()
    weights = sum(int(np.prod(p.shape)) * 4 for p in net.parameters())
    found = run.backward.report()
    # All gradients of weights are results; of those of values there are never more than three.
    assert weights <= found.peak <= weights + 3 * 32 * 64 * 4
    assert all(o.line for o in found.owners)


def _peak(net: Any, x: Any) -> int:
    """The largest number of bytes that a step takes in addition, gradients included."""
    net(x).sum().backward()
    net.clear_gradients()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        net(x).sum().backward()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_a_converted_training_peaks_no_higher_than_an_eager_one() -> None:
    def made() -> Any:
        layers: list[Any] = []
        for _ in range(8):
            layers += [nn.Linear(256, 256), nn.Tanh(), nn.LayerNorm(256)]
        return nn.Sequential(*layers)

    x = paddle.rand([256, 256])
    x.stop_gradient = False
    eager, converted = _peak(made(), x), _peak(jit.to_static(made()), x)
    assert converted <= eager + 100_000  # the code that is written


def test_values_are_retained_if_the_graph_is_used_again() -> None:
    net = jit.to_static(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    x = paddle.rand([2, 4])
    x.stop_gradient = False
    y = net(x).sum()
    y.backward(retain_graph=True)
    first = x.grad.numpy()
    (again,) = paddle.grad(y, x, retain_graph=True)
    np.testing.assert_array_equal(again.numpy(), first)
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * first, rtol=1e-6)
