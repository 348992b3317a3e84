"""The walk over a Program, seen by an Emitter whose gradients are strings: which operators it visits, and
and how it adds up gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

import engine as paddle
from engine.core.containers.identity import IdentitySet
from engine.core.errors import GradientError
from engine.core.values.spec import Spec
from engine.ops.normalization.batch_norm import batch_norm
from engine.program.backward.append_backward import append_backward
from engine.program.backward.walk import Step, depends_on, walk_back
from engine.program.build.builder import building, variable
from engine.program.graph.program import Program


class Spelled:
    """Gradients are strings: ``tanh(g)`` is the gradient through tanh from ``g``."""

    def __init__(self, sums_at_once: bool = True) -> None:
        self.sums_at_once = sums_at_once
        self.path: list[str] = []
        self.sums: list[tuple[str, int]] = []

    def begin(self, path: Sequence[Step]) -> None:
        self.path = [f"{s.operator.type}{[n for n, _ in s.targets]}" for s in path]

    def gradients(self, step: Step, incoming: Sequence[Any]) -> Any:
        return [(v, f"{step.operator.type}({incoming[0]})") for _, v in step.targets]

    def regions(self, rule: Any, step: Step, incoming: Sequence[Any], reached: Any) -> Any:
        return [(v, f"{step.operator.type}({incoming[0]})") for _, v in step.targets]

    def total(self, variable: Any, parts: Sequence[Any]) -> Any:
        self.sums.append((variable.name, len(parts)))
        return "+".join(parts)


@pytest.fixture
def program():
    made = Program()
    with building(made):
        yield made


def data(program: Program, name: str, stop_gradient: bool = False) -> Any:
    return variable(program, name, Spec((2, 3), "float32"), stop_gradient=stop_gradient)


def walk(program: Program, emitter: Any, grads: Any, sources: Any, stops: Any = ()) -> Any:
    ops, stops = program.global_block().ops, IdentitySet(stops)
    reached = depends_on(ops, sources, stops)
    return walk_back(ops, grads, sources, emitter, reached, stops)


def test_operators_are_visited_last_first_and_only_those_in_between(program):
    x, other = data(program, "x"), data(program, "other")
    y = paddle.exp(paddle.tanh(x))
    paddle.sin(x)  # leads to no result
    z = paddle.multiply(y, paddle.cos(other))  # cos leads to no source
    emitter = Spelled()
    assert walk(program, emitter, [(z, "g")], [x]) == ["tanh(exp(elementwise_mul(g)))"]
    assert emitter.path == ["elementwise_mul[0]", "exp[0]", "tanh[0]"]


def test_an_input_that_is_read_twice_gets_two_contributions(program):
    x = data(program, "x")
    y = paddle.multiply(x, x)
    emitter = Spelled()
    assert walk(program, emitter, [(y, "g")], [x]) == ["elementwise_mul(g)+elementwise_mul(g)"]
    assert emitter.path == ["elementwise_mul[0, 1]"]


@pytest.mark.parametrize(("at_once", "sums"), [(True, [("x", 2), ("x", 2)]), (False, [("x", 3)])])
def test_contributions_are_added_by_the_emitter(program, at_once, sums):
    x = data(program, "x")
    results = [paddle.sin(x), paddle.cos(x), paddle.tanh(x)]
    emitter = Spelled(at_once)
    (found,) = walk(program, emitter, [(r, r.name) for r in results], [x])
    assert found == "+".join(f"{o.type}({o.outputs[0].name})" for o in reversed(program.global_block().ops))
    assert emitter.sums == sums


def test_a_given_gradient_is_added_to_the_computed_one(program):
    x = data(program, "x")
    y = paddle.tanh(x)
    z = paddle.exp(y)
    assert walk(program, Spelled(), [(y, "first"), (z, "g")], [x]) == ["tanh(first+exp(g))"]


def test_a_start_that_is_given_twice_counts_twice(program):
    x = data(program, "x")
    y = paddle.tanh(x)
    assert walk(program, Spelled(), [(y, "a"), (y, "b")], [x]) == ["tanh(a+b)"]


def test_nothing_flows_into_stops_or_variables_without_gradients(program):
    x, fixed = data(program, "x"), data(program, "fixed", stop_gradient=True)
    y = paddle.tanh(x)
    z = paddle.add(y, paddle.multiply(fixed, x))
    emitter = Spelled()
    assert walk(program, emitter, [(z, "g")], [x], [y]) == ["elementwise_mul(elementwise_add(g))"]
    assert emitter.path == ["elementwise_add[1]", "elementwise_mul[1]"]
    assert walk(program, Spelled(), [(z, "g")], [fixed]) == [None]


def test_a_source_without_a_way_to_it_has_none(program):
    x, other = data(program, "x"), data(program, "other")
    y = paddle.tanh(x)
    assert walk(program, Spelled(), [(y, "g")], [other, y]) == [None, "g"]


def test_a_branch_reads_each_captured_value_once(program):
    x = data(program, "x")
    y = paddle.static.nn.cond(x.sum() > 0, lambda: x * x, lambda: paddle.exp(x))
    emitter = Spelled()
    assert walk(program, emitter, [(y, "g")], [x]) == ["conditional_block(g)"]
    assert emitter.path == ["conditional_block[1]"]


def test_a_gradient_through_a_value_that_was_replaced_is_refused(program):
    x = data(program, "x")
    scale, bias, mean, variance = (
        variable(program, name, Spec((3,), "float32")) for name in ("scale", "bias", "mean", "variance")
    )
    y, mean_out, *_ = batch_norm(x, scale, bias, mean, variance)
    assert walk(program, Spelled(), [(y, "g")], [x]) == ["batch_norm(g)"]
    with pytest.raises(GradientError, match=r"batch_norm: a gradient flows back through a value that"):
        walk(program, Spelled(), [(mean_out, "g")], [x])


def test_dependence_goes_through_operators_with_gradients_only(program):
    x = data(program, "x")
    y = paddle.tanh(x)
    rounded = paddle.cast(x > 0, "float32")
    z = paddle.add(y, rounded)
    reached = depends_on(program.global_block().ops, [x])
    assert y in reached
    assert z in reached
    assert rounded not in reached
    assert z not in depends_on(program.global_block().ops, [x], IdentitySet([y]))


def test_names_of_contributions_are_paddles():
    paddle.enable_static()
    try:
        with paddle.static.program_guard(paddle.static.Program()):
            x = paddle.static.data("x", [2, 3])
            x.stop_gradient = False
            loss = paddle.add_n([paddle.tanh(x), paddle.exp(x), x]).mean()
            before = len(loss.block.ops)
            append_backward(loss)
            made = [(o.type, o.output_arg_names) for o in loss.block.ops[before:]]
    finally:
        paddle.disable_static()
    assert [names for type_, names in made if type_ == "sum"] == [["x@GRAD"]]
    renamed = sorted(n for _, names in made for n in names if n.startswith("x@GRAD@RENAME"))
    assert renamed == [f"x@GRAD@RENAME@block0@{n}" for n in range(3)]
