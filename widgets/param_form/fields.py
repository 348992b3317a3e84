"""What a form asks for: plain descriptions of its fields, and how their text is read and written. No Qt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Value = int | float | str | bool
Kind = Literal["int", "float", "choice", "text", "path", "bool"]


@dataclass(frozen=True)
class Field:
    """One setting. `choices` are (value, label) pairs; `path` says what a path field picks; an empty text or
    path is an error where `required`."""

    key: str
    label: str
    kind: Kind
    default: Value
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[Value, str], ...] = ()
    help: str = ""
    unit: str = ""
    required: bool = False
    path: Literal["folder", "file", "save"] = "folder"


@dataclass(frozen=True)
class Problem:
    """Why a text is no value of its field: a code that the form puts into words, and the numbers in them."""

    code: Literal["whole", "number", "range", "minimum", "maximum", "empty"]
    low: float | None = None
    high: float | None = None


def parse(field: Field, text: str) -> Value | Problem:
    """The value that was typed into an int, float, text or path field, or what is wrong with it."""
    stripped = text.strip()
    if field.kind in ("text", "path"):
        return Problem("empty") if field.required and not stripped else stripped
    # People type thousands with (thin) spaces, as the studio shows them.
    compact = "".join(stripped.split())
    try:
        value: int | float = int(compact) if field.kind == "int" else float(compact)
    except ValueError:
        return Problem("whole" if field.kind == "int" else "number")
    if not math.isfinite(value):
        return Problem("number")
    low, high = field.minimum, field.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        if low is not None and high is not None:
            return Problem("range", low, high)
        return Problem("minimum", low=low) if low is not None else Problem("maximum", high=high)
    return value


def write(value: Value) -> str:
    """A value as text for editing: the shortest that reads back as the same number."""
    if isinstance(value, float):
        text = repr(value)
        return text[:-2] if text.endswith(".0") else text
    return str(value)
