"""Stepping plans and plans of functions, and the check that both give the same bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import engine as paddle
from engine.core.values.spec import Spec
from engine.jit.concrete_program import ConcreteProgram
from engine.jit.differentiated import differentiate
from engine.jit.run_program import ProgramRunner
from engine.program.run.plan import Plan
from engine.program.run.stepping.plan import SteppingPlan
from engine.program.run.stepping.stepping import Moment

Array = np.ndarray[Any, Any]


def traced(function: Callable[..., Any], *arrays: Array) -> ConcreteProgram:
    """The Program of a function of tensors."""
    specs = [paddle.static.InputSpec(list(a.shape), str(a.dtype), f"x{n}") for n, a in enumerate(arrays)]
    for spec, array in zip(specs, arrays, strict=True):
        spec.stop_gradient = array.dtype.kind != "f"
    concrete: ConcreteProgram = paddle.jit.to_static(
        function, input_spec=specs, full_graph=True
    ).concrete_program
    return concrete


def forward_of(function: Callable[..., Any], *arrays: Array) -> tuple[SteppingPlan, Plan, list[Array]]:
    """The stepping plan and the plan of a function, and the arrays of their inputs."""
    concrete = traced(function, *arrays)
    program = concrete.main_program
    bound = program.bound()
    inputs, outputs = [*concrete.inputs, *bound], [v for v in concrete.outputs if v is not None]
    feeds = {v.name: Spec(a.shape, str(a.dtype)) for v, a in zip(concrete.inputs, arrays, strict=True)}
    arguments = (program, program.global_block().ops, inputs, outputs, feeds)
    values = [*arrays, *[v.tensor.numpy() for v in bound]]
    return SteppingPlan(*arguments), Plan(*arguments, passes=0), values


def with_gradients_of(function: Callable[..., Any], *arrays: Array) -> tuple[SteppingPlan, Plan, list[Array]]:
    """Those of a function with the gradients of its first result."""
    concrete = traced(function, *arrays)
    outputs = [v for v in concrete.outputs if v is not None]
    runner = ProgramRunner(concrete.main_program, concrete.inputs, outputs, passes=0)
    values = [*arrays, *[v.tensor.numpy() for v in runner.bound]]
    wanted = tuple(n for n, v in enumerate(values) if v.dtype.kind == "f")
    whole = differentiate(runner, wanted, (0,))
    feeds = {v.name: Spec(a.shape, str(a.dtype)) for v, a in zip(whole.everything, values, strict=False)}
    (fed,) = whole.fed
    feeds[fed.name] = fed.spec
    inputs, results = [*whole.everything, fed], [*whole.outputs, *whole.gradients]
    ops = (*whole.forward_ops, *whole.backward_ops)
    arguments = (whole.program, ops, inputs, results, feeds)
    values.append(np.ones(fed.spec.shape, fed.spec.dtype.np))
    return SteppingPlan(*arguments), Plan(*arguments, passes=0), values


def moments_of_equal(stepping: SteppingPlan, plan: Plan, values: Sequence[Array]) -> list[Moment]:
    """The Moments of a run whose results, and the inputs that it changes, are those of the plan."""
    given = [v.copy() for v in values]
    paddle.seed(7)
    run = stepping.begin(values)
    moments = list(run)
    for before, after in zip(given, values, strict=True):
        require_same(after, before)
    paddle.seed(7)
    expected = plan(given)
    assert len(run.results) == len(expected)
    for found, wanted in zip(run.results, expected, strict=True):
        require_same(found, wanted)
    place = {v.name: n for n, v in enumerate(stepping.inputs)}
    for name, array in run.changed:
        require_same(array, given[place[name]])
    return moments


def require_same(found: Any, wanted: Any) -> None:
    """Require equal bits."""
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.tobytes() == wanted.tobytes()
