"""Liveness: each fact of a few operators, counted by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import engine as paddle
from engine import static
from engine.program.graph.liveness import Liveness, leading, needed, needed_values
from engine.program.graph.program import Program
from tests.engine.program.passes.text import program_of

VIEWS = """
    x: float32[2, 3]
    a = scale(x, scale=2.0)
    b = reshape2(a, shape=[6])
    c = tanh(b)
    d = reshape2(b, shape=[3, 2])
    e = exp(x)
    f = elementwise_add(c, c)
    return f, d
"""
UPDATE = """
    x: float32[3]
    rate: float32[]
    w: weight float32[3]
    a = elementwise_mul(x, w)
    v = reshape2(w, shape=[3, 1])
    p = sgd(w, rate, a)
    b = elementwise_add(a, w)
    return b, v
"""


class Named:
    """The facts of a Program by the names of its Variables."""

    def __init__(self, program: Program) -> None:
        self.program, self.live = program, Liveness.of(program)
        self._names = {id(v): v.name for block in program.blocks for v in block.vars.values()}

    def ids(self, *names: str) -> set[int]:
        return {key for key, name in self._names.items() if name in names}

    def names(self, ids: Iterable[int]) -> set[str]:
        return {self._names[key] for key in ids}

    def by_name(self, fact: Mapping[int, Any]) -> dict[str, Any]:
        return {self._names[key]: value for key, value in fact.items()}


def test_first_and_last_uses_are_positions() -> None:
    of = Named(program_of(VIEWS))
    assert of.by_name(of.live.last) == {"x": 4, "a": 1, "b": 3, "c": 5, "d": 3, "e": 4, "f": 5}
    assert of.by_name(of.live.makers) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5}
    assert of.by_name(of.live.readers) == {"x": [0, 4], "a": [1], "b": [2, 3], "c": [5, 5]}


def test_a_view_lives_in_the_array_of_its_owner() -> None:
    of = Named(program_of(VIEWS))
    block = of.program.global_block()
    assert {k: of.names([v]) for k, v in of.by_name(of.live.base).items()} == {"b": {"a"}, "d": {"a"}}
    assert of.names([of.live.owner(block.var("d"))]) == {"a"}
    assert of.names(of.live.owners([block.var("d"), block.var("c")])) == {"a", "c"}
    assert of.by_name(of.live.ends) == {"x": 4, "a": 3, "c": 5, "e": 4, "f": 5}
    assert of.names(of.live.with_viewed(of.ids("d", "f"))) == {"d", "b", "a", "f"}
    assert not of.live.handed_on


def test_needed_operators_lead_to_outputs() -> None:
    program = program_of(VIEWS)
    block, of = program.global_block(), Named(program)
    f = block.var("f")
    assert [o.outputs[0].name for o in needed(block.ops, [f])] == ["a", "b", "c", "f"]
    assert of.names(needed_values(block.ops, [f])) == {"x", "a", "b", "c", "f"}
    found = leading(block.ops, [block.var("b")], [f])
    assert [o.outputs[0].name for o in found] == ["c", "f"]


def test_an_update_in_place_is_needed_and_changes_what_is_read_after_it() -> None:
    of = Named(program_of(UPDATE))
    ops = of.program.global_block().ops
    w = of.program.global_block().var("w")
    assert [o.opdef.name for o in needed(ops, [])] == ["elementwise_mul", "sgd"]
    assert [v.name for v in of.live.written] == ["w"]
    assert [of.names(of.live.changed_by(o)) for o in ops] == [set(), set(), {"w"}, set()]
    assert {v.name for v in of.live.unstable} == {"w", "v"}  # v is a view of it
    assert of.by_name(dict.fromkeys(of.live.once, 0)).keys() == {"a", "v", "w", "b"}
    assert [o.opdef.name for o in of.live.read_by[w]] == [
        "elementwise_mul",
        "reshape2",
        "sgd",
        "elementwise_add",
    ]


def _branches() -> tuple[Program, Any, Any]:
    """``y`` is x in one branch; the other doubles it, and reads it through a view."""
    program = static.Program()
    with static.program_guard(program):
        x = static.data("x", [2, 3])
        flag = static.data("flag", [], "bool")
        v = paddle.reshape(x, [6])
        y = static.nn.cond(flag, lambda: v, lambda: paddle.tanh(v) * 2.0)
    return program, v, y


def test_values_of_branches_are_handed_on() -> None:
    paddle.enable_static()
    try:
        program, v, y = _branches()
    finally:
        paddle.disable_static()
    of = Named(program)
    assert [o.opdef.name for o in of.live.everything] == ["reshape2", "conditional_block", "tanh", "scale"]
    assert of.names(of.live.handed_on) == {"x", "flag", y.name}  # v is a view of x
    assert of.by_name(of.live.last) == {"x": 0, "flag": 1, v.name: 1, y.name: 1}
    readers = [o.opdef.name for o in of.live.read_by[v]]
    assert readers == ["conditional_block", "conditional_block", "tanh"]  # captured, and a result
    assert [o and o.opdef.name for o in (of.live.made_by[v], of.live.made_by[y])] == [
        "reshape2",
        "conditional_block",
    ]


def test_a_variable_written_twice_has_no_one_maker() -> None:
    program = program_of(VIEWS)
    block = program.global_block()
    block.ops[4].outputs = (block.var("c"),)  # exp(x), after the readers of the first c but one
    program.changed()
    live = Liveness.of(program)
    assert live.made_by[block.var("c")] is None
    assert id(block.var("c")) not in live.once
    assert live.makers[id(block.var("c"))] == 4
    assert {v.name for v in live.unstable} == {"c"}


def test_there_is_one_for_each_version_of_a_program() -> None:
    program = program_of(VIEWS)
    live = Liveness.of(program)
    assert Liveness.of(program) is live
    program.global_block().ops.pop()
    program.changed()
    assert len(Liveness.of(program).ops) == 5
    assert len(live.ops) == 6  # of the version before
