"""Plain Programs for tests: written by hand, and with all Variables renamed."""

from __future__ import annotations

import copy
from typing import Any

Plain = dict[str, Any]


def operator(kind: str, reads: str, makes: str, layer: str = "", **attrs: Any) -> Plain:
    """An operator that reads the names of ``reads`` in its slots A, B ... and makes those of ``makes``."""
    return {
        "type": kind,
        "inputs": {chr(65 + n): [name] for n, name in enumerate(reads.split())},
        "outputs": {"Out": makes.split()},
        "attrs": attrs,
        "regions": [],
        "file": "net.py",
        "line": 3,
        "layer": layer,
    }


def block(*ops: Plain, parent: int = -1, idx: int = 0, **shapes: list[int]) -> Plain:
    """A block; the shapes are those of its parameters."""
    variables = [{"name": name, "shape": shape, "dtype": "float32"} for name, shape in shapes.items()]
    return {"idx": idx, "parent": parent, "vars": variables, "ops": list(ops)}


def program(*blocks: Plain, inputs: str = "x", outputs: str = "y") -> Plain:
    """A Program."""
    return {"version": 2, "inputs": inputs.split(), "outputs": outputs.split(), "blocks": list(blocks)}


def region(number: int, arguments: str = "", results: str = "") -> Plain:
    """A region that owns the block ``number``."""
    return {
        "block": number,
        "arguments": [[number, name] for name in arguments.split()],
        "results": [[number, name] for name in results.split()],
    }


def renamed(plain: Plain, prefix: str) -> Plain:
    """A copy in which each Variable has another name."""
    made = copy.deepcopy(plain)
    names: dict[str, str] = {}

    def name(old: str) -> str:
        return names.setdefault(old, f"{prefix}{len(names)}")

    for each in made["blocks"]:
        for variable in each["vars"]:
            variable["name"] = name(variable["name"])
        for op in each["ops"]:
            for key in ("inputs", "outputs"):
                op[key] = {slot: [name(old) for old in given] for slot, given in op[key].items()}
            for part in op["regions"]:
                for key in ("arguments", "results"):
                    part[key] = [[where, name(old)] for where, old in part[key]]
    for key in ("inputs", "outputs"):
        made[key] = [name(old) for old in made[key]]
    return made
