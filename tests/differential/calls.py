"""Random calls of public functions, as plain descriptions: the same for the same seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.differential import functions
from tests.differential.kinds import DTYPES, Description, Draw, draw

SIGNATURES = Path(__file__).parents[1] / "oracle" / "recorded" / "public_signatures.json"


@dataclass(frozen=True)
class Function:
    """A public function or method: its path, its row, and its parameters with their defaults as text."""

    path: str
    row: str
    parameters: dict[str, str | None]


def _parameters(text: str) -> dict[str, str | None]:
    """``(x, axis=[0, 1], *, name=None)`` as names and defaults."""
    found: dict[str, str | None] = {}
    depth, start = 0, 1
    for place, character in enumerate(text):
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(character, 0)
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            name, _, default = text[start:place].strip().partition("=")
            start = place + 1
            if name and name not in ("*", "name") and not name.startswith("**"):
                found[name] = default or None
    return found


@cache
def public() -> tuple[Function, ...]:
    """Every public function, method and operator."""
    signatures = json.loads(SIGNATURES.read_text(encoding="utf-8"))["signatures"]
    made = []
    for path, text in signatures.items():
        owner, _, name = path.rpartition(".")
        if owner not in functions.MODULES or not name[0].islower():
            continue
        parameters = _parameters(text)
        if owner == "paddle.Tensor":
            both = signatures.get(f"paddle.{name}") or signatures.get(f"paddle.{name.rstrip('_')}")
            first = next(iter(_parameters(both)), "x") if both else "x"
            parameters = {first.lstrip("*"): None, **parameters}
        made.append(Function(path, functions.MODULES[owner] + name, parameters))
    for path in functions.OPERATORS:
        parameters = dict.fromkeys(functions.rows()[path])
        made.append(Function(path, path, parameters))
    return tuple(made)


def _row(function: Function) -> dict[str, str]:
    """The row of a function; a method or a function in place has that of the function."""
    rows, name = functions.rows(), function.row
    candidates = [name, name.rstrip("_")]
    if function.path.startswith("paddle.Tensor."):
        candidates += [f"linalg.{name}", f"signal.{name}", f"F.{name.rstrip('_')}"]
    found = next((rows[each] for each in candidates if each in rows), {})
    first = next(iter(function.parameters), "")
    if function.path.startswith("paddle.Tensor.") and "x" in found and first != "x":
        found = {first if key == "x" else key: spec for key, spec in found.items()}
    return found


def skipped(function: Function) -> str:
    """Why a function is not called; empty where it is."""
    return functions.SKIPPED.get(function.row, "") or functions.SKIPPED.get(function.row.rstrip("_"), "")


def without_values(function: str) -> str:
    """Why the values of a function are not compared; empty where they are."""
    owner, _, name = function.rpartition(".")
    return functions.WITHOUT_VALUES.get(functions.MODULES.get(owner, "?") + name, "")


def _spec(name: str, default: str | None, row: dict[str, str]) -> str:
    """The kind of a parameter."""
    if name in row:
        return row[name]
    if default in ("True", "False"):
        return "flag"
    if name == "axis" and default == "None":
        return "axes"
    if name in functions.BY_NAME:
        return functions.BY_NAME[name]
    if default is not None and default.lstrip("-").isdigit():
        return "int:0:3"
    if default is not None and default.replace(".", "").replace("e-", "").lstrip("-").isdigit():
        return "num"
    return "num" if default is None else "one:None"


def described(function: Function, rng: random.Random) -> tuple[list[Description], dict[str, Description]]:
    """The arguments of one call: by position and by name."""
    row, d = _row(function), Draw(rng)
    method = function.path.startswith("paddle.Tensor.")
    wanted = {
        name: _spec(name.lstrip("*"), default, row)
        for name, default in function.parameters.items()
        if default is None or rng.random() < 0.5
    }
    order = [name for name in row if name in wanted or f"*{name}" in wanted]
    order = [f"*{name}" if f"*{name}" in wanted else name for name in order]
    for name in [*order, *(name for name in wanted if name not in order)]:
        if name not in d.drawn:
            d.drawn[name] = draw(d, wanted[name])
    position, named = [], {}
    by_position = rng.randint(0, len(function.parameters)) if rng.random() < 0.5 else len(function.parameters)
    operator = function.path.startswith("operator.")
    starred = any(name.startswith("*") for name in function.parameters)
    for n, name in enumerate(function.parameters):
        made = d.drawn.get(name) if name in wanted else None
        if made is None:
            by_position = min(by_position, n)
        elif name.startswith("*"):
            position += made.get("list", [made])
            by_position = len(function.parameters)
        elif n < by_position or operator or (n == 0 and (method or starred)):
            position.append(made)
        else:
            named[name] = made
    return position, named


ODD = [None, "a", -1, 2.5, True, [], [1.5], "float32", 0, {"t": [0], "d": "float32", "s": 0, "v": "unit"}]


def _tensors(made: Any) -> Iterator[Description]:
    for each in made:
        if "t" in each:
            yield each
        yield from _tensors(each.get("list", ()))


def twist(position: list[Description], named: dict[str, Description], rng: random.Random) -> str:
    """Change one argument so that the call is perhaps wrong; what was done."""
    tensors = list(_tensors([*position, *named.values()]))
    form = rng.random()
    if form < 0.3 and tensors:
        made = rng.choice(tensors)
        if made["v"] not in ("spd",):
            made["d"] = rng.choice(list(DTYPES["any"]))
        return "dtype"
    if form < 0.65 and tensors:
        made = rng.choice(tensors)
        if made["v"] in ("spd", "just"):
            return ""
        shape = made["t"]
        way = rng.choice(["more", "rank", "no rank", "empty", "one", "0d"])
        at = rng.randrange(len(shape)) if shape else 0
        if way == "0d":
            shape = []
        elif way == "rank" or not shape:
            shape = [2, *shape]
        elif way == "no rank":
            shape = shape[1:]
        else:
            shape = [*shape[:at], {"more": shape[at] + 1, "empty": 0, "one": 1}[way], *shape[at + 1 :]]
        made["t"] = shape
        return "shape"
    places: list[tuple[Any, Any]] = [(position, n) for n in range(1, len(position))]
    places += [(named, key) for key in named]
    if form < 0.9 and places:
        owner, key = rng.choice(places)
        odd = rng.choice(ODD)
        if "v" in owner[key] and isinstance(owner[key]["v"], int) and rng.random() < 0.6:
            odd = rng.choice([7, -7, -1, 0, float(owner[key]["v"]), None])
        owner[key] = (
            dict(odd)
            if isinstance(odd, dict)
            else {"list": [{"v": n} for n in odd]}
            if isinstance(odd, list)
            else {"v": odd}
        )
        return "odd argument"
    if tensors and form < 0.95 and position and "t" in position[0] and position[0]["d"] != "bfloat16":
        position[0] = {"np": position[0]}
        return "array"
    named["more"] = {"v": 1}
    return "unknown argument"


def calls(seed: int, count: int, only: str = "") -> Iterator[dict[str, Any]]:
    """``count`` calls of a seed: descriptions, or a function and the reason why it is not called."""
    chosen = [function for function in public() if only in function.path]
    for number in range(count):
        rng = random.Random(f"{seed}:{number}")
        function = rng.choice(chosen)
        reason = skipped(function)
        if reason:
            yield {"number": number, "name": function.path, "skipped": reason}
            continue
        position, named = described(function, rng)
        twisted = twist(position, named, rng) if rng.random() < 0.15 else ""
        yield {
            "number": number,
            "name": function.path,
            "args": position,
            "named": named,
            "grad": rng.random() < 0.6,
            "static": True,
            "unknown": rng.random() < 0.3,
            "twisted": twisted,
        }
