"""Random edits of real Programs are reported exactly as they were made."""

from __future__ import annotations

import copy
import random
from functools import cache
from typing import Any

import pytest

import engine as paddle
from engine import nn
from engine.jit.saved.structure import compare_structure
from engine.program.saved.serialize import to_plain
from tests.engine.jit.saved.structure.plain_programs import Plain, renamed


class Encoder(nn.Layer):
    """Two blocks of a transformer: three products of the same shape next to each other."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, 32), 2)

    def forward(self, x: Any) -> Any:
        return self.blocks(x)


@cache
def traced(name: str) -> Plain:
    layer = paddle.vision.models.resnet18() if name == "resnet" else Encoder()
    shape = [None, 3, 64, 64] if name == "resnet" else [None, 5, 16]
    layer.eval()
    spec = [paddle.static.InputSpec(shape, "float32", "x")]
    made = paddle.jit.to_static(layer.forward, input_spec=spec).concrete_program.main_program
    return dict(to_plain(made))


def results(op: Plain) -> list[str]:
    return [name for names in op["outputs"].values() for name in names]


def redirect(program: Plain, begin: int, old: list[str], new: str) -> None:
    """Let all operators from ``begin`` on read ``new`` instead of ``old``."""
    for op in program["blocks"][0]["ops"][begin:]:
        op["inputs"] = {slot: [new if n in old else n for n in names] for slot, names in op["inputs"].items()}
    program["outputs"] = [new if name in old else name for name in program["outputs"]]


def delete(program: Plain, at: int) -> list[tuple[str, str, str]]:
    op = program["blocks"][0]["ops"].pop(at)
    before = next((names[0] for names in op["inputs"].values()), program["inputs"][0])
    redirect(program, at, results(op), before)
    return [("removed", str(at), "")]


def insert(program: Plain, at: int) -> list[tuple[str, str, str]]:
    ops = program["blocks"][0]["ops"]
    old = results(ops[at])[0]
    op = {"type": "tanh", "inputs": {"X": [old]}, "outputs": {"Out": ["fresh"]}, "attrs": {}, "regions": []}
    ops.insert(at + 1, op)
    redirect(program, at + 2, [old], "fresh")
    return [("added", "", str(at + 1))]


def change(program: Plain, at: int) -> list[tuple[str, str, str]]:
    program["blocks"][0]["ops"][at]["attrs"]["other"] = 7
    return [("changed", str(at), str(at))]


def swap(program: Plain, at: int) -> list[tuple[str, str, str]]:
    """Swap the next two neighbours of which one does not read the other."""
    ops = program["blocks"][0]["ops"]
    for n in range(at, len(ops) - 1):
        read = [name for names in ops[n + 1]["inputs"].values() for name in names]
        if not set(results(ops[n])) & set(read):
            ops[n], ops[n + 1] = ops[n + 1], ops[n]
            return [("moved", str(n), str(n + 1)), ("moved", str(n + 1), str(n))]
    return []


EDITS = (delete, insert, change, swap)


@pytest.mark.parametrize("kept", ["names", "layers", "names and layers"])
@pytest.mark.parametrize("name", ["resnet", "encoder"])
def test_one_edit_is_one_row(name: str, kept: str) -> None:
    before = copy.deepcopy(traced(name))
    for op in before["blocks"][0]["ops"]:
        if "layers" not in kept:
            op.pop("layer", None)
    for seed in range(24):
        draw = random.Random(seed)
        after = copy.deepcopy(before)
        edit = EDITS[seed % 4]
        expected = edit(after, draw.randrange(2, len(after["blocks"][0]["ops"]) - 2))
        found = compare_structure(before, after if "names" in kept else renamed(after, "n"))
        made = [(each.kind, each.a, each.b) for each in found.changes]
        assert found.outputs == []
        if edit is swap:
            assert (len(made), made[0] in expected) == (1, True) if expected else not made, seed
        else:
            assert made == expected, (seed, edit.__name__)


@pytest.mark.parametrize("name", ["resnet", "encoder"])
def test_names_alone_are_no_difference(name: str) -> None:
    before = traced(name)
    after = renamed(before, "n")
    assert compare_structure(before, after).equal
    for op in (op for each in (before, after) for op in each["blocks"][0]["ops"]):
        op.pop("layer", None)
    assert compare_structure(before, after).equal
    traced.cache_clear()


@pytest.mark.parametrize("seed", range(12))
def test_several_edits_far_from_each_other_are_each_reported(seed: int) -> None:
    draw = random.Random(seed)
    before = traced("resnet")
    after = copy.deepcopy(before)
    count = len(after["blocks"][0]["ops"])
    places = sorted((draw.randrange(2 + n * 12, 8 + n * 12) for n in range((count - 10) // 12)), reverse=True)
    kinds = []
    for at in places:  # from the end, so that places in front stay
        edit = draw.choice(EDITS[:3])
        kinds += [row[0] for row in edit(after, at)]
        if edit is insert:
            name = f"fresh{at}"
            for op in after["blocks"][0]["ops"]:
                for key in ("inputs", "outputs"):
                    op[key] = {slot: [name if n == "fresh" else n for n in g] for slot, g in op[key].items()}
            after["outputs"] = [name if n == "fresh" else n for n in after["outputs"]]
    found = compare_structure(before, after)
    assert [each.kind for each in found.changes] == kinds[::-1]
