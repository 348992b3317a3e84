"""Two diagrams of compared Programs: marks, counterparts, what is opened together; damaged Programs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.core.errors import FormatError
from engine.jit.saved.structure import compare_structure
from studio.session.export.compared_diagrams import ComparedDiagrams
from studio.session.export.compared_programs import ComparedPrograms
from studio.session.export.program_pair import ProgramPair, pair_of

Plain = dict[str, Any]


def operator(kind: str, reads: str, makes: str, layer: str, **attrs: Any) -> Plain:
    return {
        "type": kind, "inputs": {"X": reads.split()}, "outputs": {"Out": [makes]}, "attrs": attrs,
        "regions": [], "file": "net.py", "line": 3, "layer": layer,
    }  # fmt: skip


def program(*ops: Plain, outputs: str = "d") -> Plain:
    names = ["x", *(op["outputs"]["Out"][0] for op in ops)]
    variables = [
        {"name": name, "shape": [-1, 4], "dtype": "float32", "persistable": False, "stop_gradient": True,
         "parameter": False, "data": name == "x"}
        for name in names
    ]  # fmt: skip
    block = {"idx": 0, "parent": -1, "vars": variables, "ops": list(ops)}
    return {"version": 2, "inputs": ["x"], "outputs": outputs.split(), "blocks": [block]}


BEFORE = program(
    operator("relu", "x", "a", "first.act"),
    operator("tanh", "a", "b", "first.last"),
    operator("exp", "b", "c", "second.act"),
    operator("scale", "c", "d", "second.last", factor=1.0),
)
AFTER = program(
    operator("relu", "x", "a", "first.act"),
    operator("exp", "a", "c", "second.act"),
    operator("scale", "c", "d", "second.last", factor=2.0),
)


def compared(a: Plain, b: Plain) -> ProgramPair:
    return pair_of(ComparedPrograms("", a, b, compare_structure(a, b)))


def test_changes_are_in_order_with_the_places_of_both() -> None:
    pair = compared(BEFORE, AFTER)
    assert pair.changes == [("removed", 0, 1, -1, -1), ("changed", 0, 3, 0, 2)]
    assert pair.marks(0) == {(0, 1): "removed", (0, 3): "changed"}
    assert pair.marks(1) == {(0, 2): "changed"}
    assert [line[0] for line in pair.lines] == ["", "-", "", "-", "+"]
    assert pair.counterparts == [[0, 0, 0, 0], [0, 2, 0, 1], [0, 3, 0, 2]]


def shown(diagrams: ComparedDiagrams, side: int) -> dict[str, tuple[str, ...]]:
    drawn = diagrams.draw()
    scene = drawn.scenes[side]
    return {
        title: drawn.marks[side].get(node, ())
        for node, title in zip(scene.ids.tolist(), scene.titles, strict=True)
    }


def test_groups_around_changes_are_open_and_operators_are_marked() -> None:
    diagrams = ComparedDiagrams(compared(BEFORE, AFTER))
    assert shown(diagrams, 0)["last · tanh"] == ("removed",)
    assert shown(diagrams, 0)["last · scale"] == ("changed",)
    assert shown(diagrams, 1)["last · scale"] == ("changed",)


def test_a_closed_group_has_the_marks_of_all_that_is_in_it_and_its_counterpart_closes_too() -> None:
    diagrams = ComparedDiagrams(compared(BEFORE, AFTER))
    drawn = diagrams.draw()
    titles = list(drawn.scenes[0].titles)
    group = int(drawn.scenes[0].ids[titles.index("second")])
    diagrams.toggle(0, group)
    assert shown(diagrams, 0)["second"] == ("changed",)
    assert shown(diagrams, 1)["second"] == ("changed",)
    partner = diagrams.partner(0, group)
    assert partner is not None
    assert diagrams.partner(1, partner) == group
    diagrams.toggle(1, partner)
    assert "last · scale" in shown(diagrams, 0)


def test_a_change_is_revealed_on_both_sides() -> None:
    diagrams = ComparedDiagrams(compared(BEFORE, AFTER))
    diagrams.open_all(False)
    node = diagrams.node_of(0, (0, 3))
    assert node is not None
    diagrams.reveal(0, node)
    assert "last · scale" in shown(diagrams, 0)
    assert "last · scale" in shown(diagrams, 1)
    assert diagrams.node_of(0, (7, 0)) is None


def test_damaged_programs_have_diagrams_or_an_error() -> None:
    damaged = copy.deepcopy(AFTER)
    damaged["blocks"][0]["ops"][1]["inputs"] = {"X": ["d", "none"]}  # a cycle, and a value that is missing
    damaged["blocks"][0]["ops"][0]["regions"] = [{"block": 0, "arguments": [], "results": []}]
    damaged["blocks"][0]["ops"][2]["outputs"] = {"Out": ["n" * 100_000]}
    pair = compared(BEFORE, damaged)
    assert pair.notes
    assert max(len(line[1]) for line in pair.lines) < 1000
    assert ComparedDiagrams(pair).draw().scenes[1].ids.size
    with pytest.raises(FormatError):
        ComparedDiagrams(compared({"blocks": 7, "inputs": [], "outputs": []}, AFTER))
