"""Operators with sub-blocks (conditional_block, while, while_grad) and with effects (print, assert)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ModeError
from engine.core.operators.opdef import OPS
from engine.core.values.spec import Spec
from engine.eager.tensor import Tensor
from engine.ops.control import flow as control
from engine.ops.elementwise import arithmetic, comparison, power
from engine.ops.reductions import reduce
from engine.program.backward.inline_gradients import inline_gradients
from engine.program.build.builder import building, variable
from engine.program.build.control import cond, while_loop
from engine.program.graph.check import check
from engine.program.graph.program import Program
from engine.program.run.executor import Executor


def _program(build: Callable[[Any], Any], x: Any, gradient: bool = False) -> Any:
    """The value of ``build`` at x (and its gradient), by a Program."""
    program = Program()
    with building(program):
        place = variable(program, "x", Spec([-1] * x.ndim, "float64"), stop_gradient=not gradient)
        out = build(place)
        made = [out]
        if gradient:
            start = variable(program, "start", out.spec)
            made += inline_gradients(list(program.global_block().ops), [(out, start)], [place])
    check(program)
    feed = {"x": x, **({"start": np.ones(_program(build, x).shape)} if gradient else {})}
    found = Executor().run(program, feed, made)
    return found if gradient else found[0]


def _branch(x: Any) -> Any:
    positive = comparison.greater_than(reduce.sum(x), arithmetic.scale(reduce.sum(x), scale=0.0))
    return cond(positive, lambda: power.square(x), lambda: arithmetic.scale(x, scale=-3.0))


@pytest.mark.parametrize(
    ("x", "want", "slope"), [([1.0, 2.0], [1.0, 4.0], [2.0, 4.0]), ([1.0, -2.0], [-3.0, 6.0], [-3.0, -3.0])]
)
def test_conditional_block(x: Any, want: Any, slope: Any) -> None:
    value, gradient = _program(_branch, np.array(x), gradient=True)
    np.testing.assert_allclose(value, want)
    np.testing.assert_allclose(gradient, slope)
    np.testing.assert_allclose(_branch(Tensor(np.array(x)))._array, want)


def _doubled(x: Any) -> Any:
    """x doubled until its sum is 10 or more."""
    ten = arithmetic.scale(reduce.sum(x), scale=0.0, bias=10.0)
    return while_loop(
        lambda y: comparison.less_than(reduce.sum(y), ten), lambda y: arithmetic.scale(y, scale=2.0), [x]
    )[0]


@pytest.mark.parametrize(("x", "times"), [([1.0, 2.0], 4.0), ([4.0, 4.0], 2.0), ([9.0, 9.0], 1.0)])
def test_while_and_while_grad(x: Any, times: float) -> None:
    value, gradient = _program(_doubled, np.array(x), gradient=True)
    np.testing.assert_allclose(value, np.array(x) * times)
    np.testing.assert_allclose(gradient, [times, times])
    np.testing.assert_allclose(_doubled(Tensor(np.array(x)))._array, value)


@pytest.mark.parametrize("name", ["conditional_block", "while", "while_again", "while_grad"])
def test_only_plans_run_sub_blocks(name: str) -> None:
    kernel = OPS[name].kernel
    attributes = dict.fromkeys(OPS[name].attributes)
    with pytest.raises(ModeError, match="inside a Program only"):
        kernel(np, *([] for _ in OPS[name].inputs), **attributes)


def test_print_shows_and_passes_on(capsys: pytest.CaptureFixture[str]) -> None:
    x = Tensor(np.array([1.5]), stop_gradient=False)
    y = control.print_value(x, message="seen")
    assert capsys.readouterr().out == "seen [1.5]\n"
    y.backward()
    assert x.grad is not None
    assert x.grad.tolist() == [1.0]


def test_print_in_a_program_is_not_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    def build(x: Any) -> Any:
        control.print_value(x, message="inside")
        return power.square(x)

    assert _program(build, np.array([3.0])).tolist() == [9.0]
    assert capsys.readouterr().out == "inside [3.]\n"


def _checked(x: Any) -> Any:
    control.check(comparison.less_than(x, arithmetic.scale(x, scale=0.0, bias=5.0)), [x], message="too large")
    return power.square(x)


def test_assert() -> None:
    assert _program(_checked, np.array([2.0])).tolist() == [4.0]
    assert _checked(Tensor(np.array([2.0]))).tolist() == [4.0]
    with pytest.raises(AssertionError, match="too large"):
        _program(_checked, np.array([2.0, 7.0]))
    with pytest.raises(AssertionError, match="too large"):
        _checked(Tensor(np.array([2.0, 7.0])))
    with pytest.raises(AssertionError, match=r"assert failed: data \[\[7\.0\]\]"):
        control.check(Tensor(np.array(False)), [Tensor(np.array([7.0, 8.0]))], summarize=1)
