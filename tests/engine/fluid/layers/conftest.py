"""What the tests of fluid.layers run in: a guard, a Program, or a Program that the test builds itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import fluid


@pytest.fixture
def main() -> Iterator[Any]:
    """The main Program that is being built; its startup Program is ``main.startup``."""
    engine.enable_static()
    try:
        program, startup = engine.static.Program(), engine.static.Program()
        with engine.static.program_guard(program, startup), engine.utils.unique_name.guard():
            program.startup = startup
            yield program
    finally:
        engine.disable_static()


@pytest.fixture(params=["guard", "program"])
def world(request: pytest.FixtureRequest) -> Iterator[Callable[..., list[Any]]]:
    """Runs a function on arrays, at once or as a Program; the results as arrays."""
    if request.param == "guard":
        with fluid.dygraph.guard():
            yield at_once
    else:
        yield as_program


def at_once(function: Callable[..., Any], arrays: tuple[Any, ...]) -> list[Any]:
    found = function(*(fluid.dygraph.to_variable(a) for a in arrays))
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    assert all(type(v) is engine.fluid.values.variable.Variable for v in found)
    return [v.numpy() for v in found]


def as_program(function: Callable[..., Any], arrays: tuple[Any, ...]) -> list[Any]:
    engine.enable_static()
    try:
        main = engine.static.Program()
        with engine.static.program_guard(main, engine.static.Program()):
            given = [engine.static.data(f"x{n}", a.shape, a.dtype) for n, a in enumerate(arrays)]
            found = function(*given)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            feed = {f"x{n}": a for n, a in enumerate(arrays)}
            fetched = engine.static.Executor().run(main, feed, found, return_numpy=False)
            values = [np.asarray(value) for value in fetched]  # also of sequences, which have lengths
            for value, variable in zip(values, found, strict=True):
                assert len(value.shape) == len(variable.shape), variable
            return values
    finally:
        engine.disable_static()
