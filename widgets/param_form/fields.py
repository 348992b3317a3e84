"""What a form asks for: plain descriptions of its fields, and how their text is read and written. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Value = int | float | str | bool | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | None
Kind = Literal["int", "float", "integers", "numbers", "shape", "patterns", "choice", "text", "path", "bool"]
Bound = Literal["minimum", "above", "maximum", "below"]


@dataclass(frozen=True)
class Field:
    """One setting.

    ``minimum`` and ``maximum`` may be reached, ``above`` and ``below`` may not; they hold for a number and
    for each of several. `choices` are (value, label) pairs; `path` says what a path field picks; an empty
    text or path is an error where `required`; an empty number is None where `optional`. `placeholder` shows
    in an empty line. A `shape` is sizes, -1 (typed as None, ? or -1) for any size. The unit
    may follow a number; a comma may then separate its decimals.
    """

    key: str
    label: str
    kind: Kind
    default: Value
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[tuple[Value, str], ...] = ()
    help: str = ""
    unit: str = ""
    required: bool = False
    optional: bool = False
    placeholder: str = ""
    path: Literal["folder", "file", "save"] = "folder"

    def bounds(self) -> tuple[tuple[Bound, float], ...]:
        """The bounds that the field has."""
        named: tuple[tuple[Bound, float | None], ...] = (
            ("minimum", self.minimum),
            ("above", self.above),
            ("maximum", self.maximum),
            ("below", self.below),
        )
        return tuple((name, bound) for name, bound in named if bound is not None)


@dataclass(frozen=True)
class Problem:
    """Why a text is invalid for its field: a code that the form translates, and the violated bounds."""

    code: Literal["whole", "number", "bounds", "empty", "bracket", "sizes"]
    bounds: tuple[tuple[Bound, float], ...] = ()


def parse(field: Field, text: str) -> Value | Problem:
    """The value that was typed into a field of numbers, text or a path, or what is wrong with it."""
    stripped = text.strip()
    if field.kind in ("text", "path"):
        return Problem("empty") if field.required and not stripped else stripped
    if field.kind == "patterns":
        patterns = tuple(dict.fromkeys(stripped.replace(",", " ").split()))
        closed = all(pattern.count("[") == pattern.count("]") for pattern in patterns)
        return patterns if closed else Problem("bracket")
    if not stripped and field.optional:
        return None
    if field.kind == "shape":
        return _shape(stripped)
    if field.kind in ("integers", "numbers"):
        values = [_number(field, part) for part in stripped.replace(",", " ").split()]
        wrong = next((value for value in values if isinstance(value, Problem)), None)
        if wrong is not None or not values:
            return wrong or Problem("empty")
        return tuple(value for value in values if not isinstance(value, Problem))
    # People type thousands with (thin) spaces, as the studio shows them.
    number = "".join(stripped.split())
    if field.unit:
        number = number.removesuffix(field.unit).replace(",", ".")
    return _number(field, number)


def _shape(text: str) -> Value | Problem:
    sizes = []
    for part in text.strip("[]() ").split(","):
        word = part.strip().lower()
        any_size = word in ("none", "?", "-1")
        if not any_size and not (word.isdecimal() and int(word) > 0):
            return Problem("sizes")
        sizes.append(-1 if any_size else int(word))
    return tuple(sizes)


def _number(field: Field, text: str) -> int | float | Problem:
    whole = field.kind in ("int", "integers")
    try:
        value: int | float = int(text) if whole else float(text)
    except ValueError:
        return Problem("whole" if whole else "number")
    if not math.isfinite(value):
        return Problem("number")
    within = {
        "minimum": lambda bound: value >= bound,
        "above": lambda bound: value > bound,
        "maximum": lambda bound: value <= bound,
        "below": lambda bound: value < bound,
    }
    if not all(within[name](bound) for name, bound in field.bounds()):
        return Problem("bounds", field.bounds())
    return value


def write(value: Value | np.floating[Any], kind: Kind = "text") -> str:
    """A value as text for editing: the shortest that reads back as the same number.

    In a shape, -1 is None.
    """
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ", ".join("None" if kind == "shape" and item == -1 else write(item) for item in value)
    if isinstance(value, float | np.floating):
        text = str(value)
        return text[:-2] if text.endswith(".0") else text
    return str(value)
