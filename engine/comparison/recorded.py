"""One side of a comparison: the operators that a step applied, with their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from engine.comparison.values import Value


@dataclass
class Applied:
    """One operator that was applied.

    ``inputs`` are the values that it read, without the weights among them, which are in ``weights`` under
    their names; None for one that was not recorded. ``given`` are the gradients of its outputs, at their
    positions, and ``made`` those that it sends back to its inputs, by parameter; empty where none flowed.
    ``variables`` are the names of the Variables of a Program by parameter. ``iterations`` are those of the
    loops around it. ``contains`` marks a branch or a loop, whose operators are listed themselves. ``order``
    is its number among the operators of its type in its layer call.
    """

    type: str
    layer: str = ""
    file: str = ""
    line: int = 0
    inputs: list[Value | None] = field(default_factory=list)
    weights: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    attrs: Mapping[str, Any] = field(default_factory=dict)
    random: bool = False
    iterations: tuple[int, ...] = ()
    contains: bool = False
    given: list[Value | None] = field(default_factory=list)
    made: list[Value] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    order: int = 0

    @property
    def shape(self) -> tuple[tuple[int, ...], ...]:
        """The shapes of its results."""
        return tuple(each.shape for each in self.outputs)

    @property
    def place(self) -> str:
        """Its type, layer and line: ``conv2d` of `features.3`, net.py:21``, with backquotes around names."""
        return place(self.type, self.layer, self.file, self.line)


@dataclass
class Updated:
    """A parameter that the step trained: its gradient, its values before and after the update, None where
    nothing updates it."""

    name: str
    before: Value
    gradient: Value | None
    after: Value | None


@dataclass
class Side:
    """All that a step did. ``label`` names the side for people.

    ``inputs`` are what it was given, by the names of Variables where it is a Program, ``results`` what it
    returned: the loss first. ``aliases`` are Variables that passes put in the place of others: for each name
    the former one.
    """

    label: str
    operators: list[Applied] = field(default_factory=list)
    updates: list[Updated] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    aliases: Mapping[str, str] = field(default_factory=dict)


def place(type: str, layer: str, file: str, line: int) -> str:
    """An operator for people: `` `conv2d` of `features.3`, net.py:21 ``."""
    words = f"`{type}`"
    if layer:
        words += f" of `{layer}`"
    if file and line:
        words += f", {PurePath(file).name}:{line}"
    return words
