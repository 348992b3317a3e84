"""The pipeline: random Programs and whole networks give the same before and after it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject

import engine as paddle
from engine.core.errors import ArgumentError, GradientError
from engine.program.graph.check import check
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Program
from engine.program.passes.pipeline import PIPELINE, Later, optimize
from tests.engine.program.passes.random_programs import Weights, built, run, steps
from tests.trials import trials


def draws_in(program: Program) -> int:
    """How many operators draw random numbers."""
    return sum(o.opdef.random for o in with_sub_blocks(program.global_block().ops))


@trials(16)
@given(steps())
def test_results_and_gradients_stay_the_same(plan: list[Any]) -> None:
    weights = Weights()
    program = built(plan, weights)
    x = np.random.default_rng(1).uniform(-1, 1, (2, 3, 4, 4)).astype("float32")
    try:
        expected = run(program, x, weights)
    except GradientError:  # a gradient needs a state that was written since
        reject()
    exact = optimize(program, 1, after_each=lambda made, _: check(made))
    for one, other in zip(run(exact, x, weights), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    inference = optimize(program, 3, after_each=lambda made, _: check(made))
    if draws_in(inference) != draws_in(exact):
        return  # a folded batch norm no longer writes its statistics: with it go operators that only it read
    with paddle.no_grad():
        for one, other in zip(run(inference, x, weights), run(program, x, weights), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_wrong_arguments_are_refused() -> None:
    program = Program()
    with pytest.raises(ArgumentError, match="level 4"):
        optimize(program, 4)
    with pytest.raises(ArgumentError, match="no outputs"):
        optimize(program)


def test_every_pass_has_a_description() -> None:
    for each in PIPELINE:
        rewrite = each.rewrite.load() if isinstance(each.rewrite, Later) else each.rewrite
        text = rewrite.__doc__ or ""
        assert "->" in text, each.rewrite.__name__


def test_the_program_given_stays_as_it_is() -> None:
    weights = Weights()
    program = built([("conv", (0, 1), []), ("constant", (1, 0), [])], weights)
    before = str(program)
    optimize(program, 2)
    assert str(program) == before
