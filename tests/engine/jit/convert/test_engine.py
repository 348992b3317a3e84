"""Converted functions on the engine itself: what is built and run gives what Python gives on numbers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.core.errors import ConversionError
from engine.core.values.spec import Spec
from engine.jit.convert.convert import convert
from engine.jit.run_program import ProgramRunner
from engine.program.build.builder import building, variable
from engine.program.graph.check import check
from engine.program.graph.program import Program, Variable
from engine.tensor import to_tensor


def build(function: Callable[..., Any], *specs: Spec) -> tuple[Program, Callable[..., list[Any]]]:
    """The Program of a converted function, and a call that runs it on arrays."""
    converted = convert(function).function
    program = Program()
    inputs = [variable(program, f"x{n}", spec, stop_gradient=False) for n, spec in enumerate(specs)]
    with building(program):
        outputs = converted(*inputs)
    outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
    assert all(isinstance(output, Variable) for output in outputs)
    check(program)
    runner = ProgramRunner(program, inputs, outputs)
    return program, lambda *arrays: [
        tensor.numpy() for tensor in runner([to_tensor(np.asarray(array)) for array in arrays])
    ]


def numbers(*values: float) -> list[np.ndarray]:
    return [np.asarray(value, "float32") for value in values]


SCALAR = Spec((), "float32")
BATCH = Spec((-1, 3), "float32")


def test_branch_with_unknown_dims_and_a_number() -> None:
    def f(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = 0.0
        return y + x

    _, run = build(f, BATCH)
    ones = np.ones((2, 3), "float32")
    np.testing.assert_array_equal(run(ones)[0], 3 * ones)
    np.testing.assert_array_equal(run(-ones)[0], -ones)


def test_while_with_whole_number_that_becomes_a_float() -> None:
    def f(x):
        total = 0
        steps = 0
        while x > 1:
            x = x / 2
            total = total + x
            steps += 1
        return total, steps

    program, run = build(f, SCALAR)
    total, steps = run(*numbers(8))
    assert (total, steps) == (7, 3)
    total, steps = run(*numbers(0.5))
    assert (total, steps) == (0, 0)
    assert len(program.blocks) == 4, "what the first try built is gone"


def test_return_in_a_loop_with_unknown_dims() -> None:
    def f(x, limit):
        n = 0
        while n < 5:
            x = x * 2
            if x.max() > limit:
                return x, n
            n += 1
        return -x, n

    _, run = build(f, BATCH, SCALAR)
    ones = np.ones((2, 3), "float32")
    for limit in (3, 9, 1000):
        value, steps = run(ones, *numbers(limit))
        expected = f(ones, limit)
        np.testing.assert_array_equal(value, expected[0])
        assert steps == expected[1]


def test_range_of_a_tensor() -> None:
    def f(x, n):
        for i in range(n.astype("int64")):
            if i == 3:
                break
            x = x + i.astype("float32")
        return x

    _, run = build(f, SCALAR, SCALAR)
    assert [float(run(*numbers(1, n))[0]) for n in (0, 1, 3, 7)] == [1, 1, 4, 4]


def test_rows_of_a_tensor() -> None:
    def f(x):
        total = x.sum() * 0
        for row in x:
            if row.sum() > 100:
                continue
            total = total + row.max()
        return total

    data = np.asarray([[1, 2, 3], [90, 20, 3], [7, 8, 9], [-1, -2, -3]], "float32")
    for spec in (Spec((4, 3), "float32"), BATCH):
        _, run = build(f, spec)
        assert run(data)[0] == 3 + 9 - 1


def test_unfinished_and_and_or_not() -> None:
    def f(x, y):
        a = x > 0 and y > 0
        b = x > 0 or not y > 0
        c = -1 < x < y
        return (1.0 if a else 0.0), (1.0 if b else 0.0), (1.0 if c else 0.0)

    _, run = build(f, SCALAR, SCALAR)
    for x in (-2, 1, 3):
        for y in (-1, 2):
            assert [float(value) for value in run(*numbers(x, y))] == list(f(x, y))


def test_gradient_flows_through_a_branch() -> None:
    def f(x):
        if x.sum() > 0:
            return x * x
        return -x

    converted = convert(f).function
    program = Program()
    x = variable(program, "x", BATCH, stop_gradient=False)
    with building(program):
        y = converted(x).sum()
    runner = ProgramRunner(program, [x], [y])
    for sign, slope in ((1, 2.0), (-1, -1.0)):
        given = to_tensor(sign * np.ones((2, 3), "float32"))
        given.stop_gradient = False
        runner([given])[0].backward()
        np.testing.assert_array_equal(given.grad.numpy(), np.full((2, 3), slope, "float32"))


def test_assert_and_print_when_the_program_runs(capsys: pytest.CaptureFixture[str]) -> None:
    def f(x):
        assert x.sum() > 0, "not positive"
        print("x is", x)
        return x * 2

    _, run = build(f, SCALAR)
    assert run(*numbers(2))[0] == 4
    assert capsys.readouterr().out.startswith("x is 2.0")
    with pytest.raises(AssertionError, match="not positive"):
        run(*numbers(-2))


def test_gradient_flows_through_a_loop() -> None:
    def f(x, steps):
        while steps > 0:
            x = x * x
            steps = steps - 1
        return x

    program = Program()
    x = variable(program, "x", Spec((2,), "float32"), stop_gradient=False)
    steps = variable(program, "steps", SCALAR)
    with building(program):
        y = convert(f).function(x, steps)
    runner = ProgramRunner(program, [x, steps], [y])
    given = to_tensor(np.asarray([3, -2], "float32"))
    given.stop_gradient = False
    result = runner([given, to_tensor(np.asarray(2, "float32"))])[0]
    np.testing.assert_array_equal(result.numpy(), [81, 16])
    result.sum().backward()
    np.testing.assert_array_equal(given.grad.numpy(), [4 * 27, 4 * -8])


def test_undecided_eager_tensor() -> None:
    counter = to_tensor(np.asarray(2, "float32"))

    def f(x):
        if counter > 1:
            return x * counter
        return x

    _, run = build(f, SCALAR)
    assert run(*numbers(5))[0] == 10
    counter.set_value(np.asarray(1, "float32"))
    assert run(*numbers(5))[0] == 5, "the condition is read when the Program runs"


def test_condition_in_unconverted_code_names_the_reason() -> None:
    namespace: dict[str, Any] = {"__name__": "typed"}
    exec("def g(x):\n    return x if x > 0 else -x", namespace)
    g = namespace["g"]

    def f(x):
        return g(x)

    with pytest.raises(ConversionError, match="the source of `g` could not be read"):
        build(f, SCALAR)


@pytest.mark.parametrize("seed", range(12 if os.environ.get("MODEL_STUDIO_LONG") else 6))
def test_random_programs(define: Any, random_text: Callable[[int], str], seed: int) -> None:
    function = define(random_text(3000 + seed))
    _, run = build(function, *[Spec((), "int64")] * 3)
    for sample in [(0, 0, 0), (1, 2, 3), (-2, 4, 1), (5, -1, 0), (3, 3, 3)]:
        values = [np.asarray(value, "int64") for value in sample]
        assert run(*values)[0] == function(*sample)
