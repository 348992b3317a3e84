"""The stage ``choose``: from a Program's operators to those of a plan, with constants and shapes."""

from __future__ import annotations

import numpy as np
import pytest

import engine as paddle
from engine import static
from engine.core.errors import ShapeError
from engine.core.values.spec import Spec
from engine.program.run.stages.choose import choose, module_for
from tests.engine.program.passes.text import program_of
from tests.engine.program.run.stages.drafts import chosen, shown


def test_only_needed_operators_and_effects_are_chosen() -> None:
    draft = chosen(
        """
        x: float32[2]
        w: weight float32[2]
        rate: float32[]
        a = exp(x)
        b = tanh(x)
        p = sgd(w, rate, x)
        return b
        """
    )
    assert shown(draft) == ["tanh", "sgd"]
    assert [v.name for v in draft.inputs] == ["x", "rate", "w"]
    assert not draft.groups
    assert not draft.reused


def test_shapes_are_those_that_are_fed() -> None:
    program = program_of("x: float32[-1, 3]\na = tanh(x)\nreturn a")
    block = program.global_block()
    given, result = [block.var("x")], [block.var("a")]
    draft = choose(program, block.ops, given, result, {"x": Spec((5, 3), "float32")})
    assert draft.spec_of(block.var("a")) == Spec((5, 3), "float32")
    assert draft.spec_of([block.var("x"), None]) == [Spec((5, 3), "float32"), None]


def test_shapes_that_do_not_fit_raise_the_error_of_the_operator() -> None:
    program = program_of("x: float32[-1, 3]\ny: float32[2, 3]\na = elementwise_add(x, y)\nreturn a")
    block = program.global_block()
    given = [block.var("x"), block.var("y")]
    with pytest.raises(ShapeError):
        choose(program, block.ops, given, [block.var("a")], {"x": Spec((5, 3), "float32")})


CONSTANT = """
    x: float32[2]
    a = fill_constant(shape=[2], value=3.0, dtype='float32')
    b = elementwise_add(x, a)
    return b
"""


def test_constants_are_computed_except_for_a_metered_program() -> None:
    draft = chosen(CONSTANT)
    (value,) = draft.constants.values()
    assert value.tolist() == [3.0, 3.0]
    assert not value.flags.writeable
    assert not chosen(CONSTANT, foreign=True).constants


def test_gradient_operators_become_those_of_their_rules() -> None:
    paddle.enable_static()
    try:
        main = static.Program()
        with static.program_guard(main):
            x = static.data("x", [2])
            x.stop_gradient = False
            (g,) = static.gradients([paddle.tanh(x)], [x])
    finally:
        paddle.disable_static()
    ops = main.global_block().ops
    assert "gradient" in [o.opdef.name for o in ops]
    draft = choose(main, ops, [x], [g], {})
    assert "gradient" not in shown(draft)
    assert draft.ops[-1].outputs[-1] is g
    assert main.global_block().ops == ops  # the Program stays as it is


def test_inputs_choose_the_array_module() -> None:
    assert module_for([np.zeros(2), np.ones(3)]) is np
    assert module_for([]) is np
