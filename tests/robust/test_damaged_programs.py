"""Programs that damage or malice made: diagrams and differences end soon, and say what is missing."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from engine.core.errors import FormatError
from engine.jit.saved.structure import compare_structure, listed_operators, text_of
from engine.jit.saved.structure.reading import MOST_OPERATORS
from studio.session.export.compared_diagrams import ComparedDiagrams
from studio.session.export.compared_programs import ComparedPrograms
from studio.session.export.program_pair import ProgramPair, pair_of
from studio.session.graph.diagram.diagram import Diagram

Plain = dict[str, Any]
SHORT = 1000  # characters of a text that is shown


def variable(name: str) -> Plain:
    return {
        "name": name, "shape": [-1, 4], "dtype": "float32", "persistable": False, "stop_gradient": True,
        "parameter": False, "data": name == "x",
    }  # fmt: skip


def operator(kind: str, read: str, made: str, layer: str = "") -> Plain:
    return {
        "type": kind, "inputs": {"X": [read]}, "outputs": {"Out": [made]}, "attrs": {}, "regions": [],
        "file": "net.py", "line": 3, "layer": layer,
    }  # fmt: skip


def chain(operators: int) -> Plain:
    ops = [operator("relu", f"v{n - 1}" if n else "x", f"v{n}", f"block{n // 100}") for n in range(operators)]
    names = ["x", *(f"v{n}" for n in range(operators))]
    block = {"idx": 0, "parent": -1, "vars": list(map(variable, names)), "ops": ops}
    return {"version": 2, "inputs": ["x"], "outputs": [names[-1]], "blocks": [block]}


def compared(a: Plain, b: Plain) -> ProgramPair:
    return pair_of(ComparedPrograms("", a, b, compare_structure(a, b)))


def look_at(plain: Plain) -> str:
    """Lay out a Program and its differences from a sound one; what is said about parts that are missing."""
    said = []
    try:
        diagram = Diagram(plain)
        scene = diagram.scene(seconds=0.5)
        assert max(map(len, scene.titles), default=0) < SHORT
        said.append(diagram.shortened)
    except FormatError as error:
        said.append(str(error))
    assert len(said[0]) < SHORT
    pair = compared(chain(8), plain)
    assert max((len(line[1]) for line in pair.lines), default=0) < SHORT
    try:
        ComparedDiagrams(pair).draw()
    except FormatError as error:
        said.append(str(error))
    return " ".join([*said, *pair.notes])


def test_cycles_are_drawn_and_compared() -> None:
    damaged = chain(50)
    ops = damaged["blocks"][0]["ops"]
    ops[3]["inputs"] = {"X": ["v40", "v3"]}
    ops[20]["inputs"] = {"X": ["v49"]}
    look_at(damaged)
    found = compare_structure(chain(50), damaged)
    assert "3" in {each.a for each in found.changes}


def test_missing_variables_and_blocks_that_own_themselves_have_a_reason() -> None:
    damaged = chain(20)
    damaged["blocks"][0]["vars"] = []
    damaged["blocks"][0]["ops"][5]["inputs"] = {"X": ["nothing"]}
    damaged["blocks"][0]["ops"][7]["regions"] = [{"block": 0, "arguments": [], "results": []}]
    assert "region" in look_at(damaged)


def test_names_of_100_000_characters_are_shortened() -> None:
    damaged = chain(20)
    long = "n" * 100_000
    op = damaged["blocks"][0]["ops"][6]
    op["outputs"], op["type"], op["layer"] = {"Out": [long]}, long, f"block0.{long}"
    damaged["blocks"][0]["ops"][7]["inputs"] = {"X": [long]}
    damaged["blocks"][0]["vars"].append(variable(long))
    look_at(damaged)
    found = compare_structure(chain(20), damaged)
    lines = list(text_of(listed_operators(chain(20), damaged, found)))
    assert max(map(len, lines)) < SHORT


JUNK: tuple[Any, ...] = (None, -1, 2**80, "x", [], {}, [[]], {"a": None}, True, 1.5, [None, "x"])


def corrupted(value: Any, draw: random.Random, share: float) -> Any:
    if draw.random() < share:
        return copy.deepcopy(draw.choice(JUNK))
    if isinstance(value, dict):
        return {key: corrupted(each, draw, share) for key, each in value.items()}
    if isinstance(value, list):
        return [corrupted(each, draw, share) for each in value]
    return value


@pytest.mark.parametrize("seed", range(40))
def test_junk_in_a_program_is_drawn_and_compared_or_refused(seed: int) -> None:
    draw = random.Random(seed)
    damaged = corrupted(chain(6), draw, draw.choice([0.005, 0.02, 0.1]))
    if isinstance(damaged, dict):
        look_at(damaged)


def test_a_program_of_very_many_operators_is_cut_off_with_the_reason() -> None:
    """A million of them need memory, not time: they are all the same object."""
    damaged = chain(4)
    block = damaged["blocks"][0]
    block["ops"] += [operator("relu", "v3", "v3")] * 1_000_000
    found = compare_structure(chain(4), damaged)
    assert found.notes == [f"B: operators from {MOST_OPERATORS} on are ignored: {MOST_OPERATORS} is the most"]
    assert len(found.changes) == MOST_OPERATORS - 4
