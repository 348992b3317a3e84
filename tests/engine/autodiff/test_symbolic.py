"""Rules applied to an operator of a Program: positions of inputs, and broadcasting undone."""

from __future__ import annotations

from typing import Any

import pytest

import engine as paddle
from engine.autodiff.symbolic import flat_inputs, operator_gradients
from engine.core.values.spec import Spec
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program


@pytest.fixture
def program():
    made = Program()
    with building(made):
        yield made


def data(program: Program, name: str, *dims: int) -> Any:
    return variable(program, name, Spec(dims, "float32"), stop_gradient=False)


def emitted(program: Program, grads: list[Any], targets: list[int]) -> tuple[list[Any], list[str]]:
    ops = program.global_block().ops
    count = len(ops)
    found = operator_gradients(ops[count - 1], grads, targets)
    return found, [o.type for o in ops[count:]]


def test_inputs_in_a_row(program):
    x, y = data(program, "x", 2), data(program, "y", 2)
    paddle.concat([x, y])
    operator = program.global_block().ops[-1]
    assert [(place, v.name) for _, place, v in flat_inputs(operator)] == [(0, "x"), (1, "y")]


def test_one_input_of_a_list(program):
    x, y, g = data(program, "x", 2), data(program, "y", 3), data(program, "g", 5)
    paddle.concat([x, y])
    found, _ = emitted(program, [g], [1])
    assert [f.spec for f in found] == [y.spec]


def test_targets_are_answered_in_their_order(program):
    x, y, g = data(program, "x", 2, 3), data(program, "y", 3), data(program, "g", 2, 3)
    paddle.add(x, y)
    found, types = emitted(program, [g], [1, 0])
    assert [f.spec for f in found] == [y.spec, x.spec]
    assert types == ["reduce_sum"]


@pytest.mark.parametrize(
    ("x", "y", "types"),
    [
        ((2, 3), (2, 3), []),
        ((2, 3), (1, 3), ["reduce_sum", "reshape2"]),
        ((-1, 3), (-1, 3), ["sum_to_like"]),  # y may have one row in a run where x has more
        ((2, 3), (-1, 3), ["sum_to_like"]),
        ((1, 3), (-1, 3), []),
        ((3,), (-1, 3), []),
    ],
)
def test_gradients_of_broadcast_dimensions_are_summed(program, x, y, types):
    a, b = data(program, "x", *x), data(program, "y", *y)
    out = paddle.add(a, b)
    g = data(program, "g", *out.spec.shape)
    found, made = emitted(program, [g], [1])
    assert list(found[0].spec.shape) == list(y)
    assert made == types


def test_expand_stretches_by_its_attribute(program):
    x, g = data(program, "x", -1, 3), data(program, "g", 4, 3)
    paddle.expand(x, [4, 3])
    found, types = emitted(program, [g], [0])
    assert found[0].spec == x.spec
    assert types[-1] == "sum_to_like"


def test_an_output_without_a_gradient_counts_as_zero(program):
    x = data(program, "x", 2, 3)
    paddle.topk(x, 2)
    found, types = emitted(program, [None, None], [0])
    assert [f.spec for f in found] == [x.spec]
    assert "fill_any_like" in types
