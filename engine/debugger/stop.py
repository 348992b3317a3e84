"""Stop: where a debugger stands and why, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypedDict

from engine.core.errors import FormatError
from engine.debugger.points import Array, Site
from engine.debugger.views import extremes

Reason = Literal[
    "begin", "step", "breakpoint", "condition", "not finite", "failed", "end", "finite", "interrupted"
]
"""``begin``: before the first operator; ``end``: after the last; ``finite``: nothing was found;
``not finite``: the first operator with finite inputs and a result that is not."""

FOUND: tuple[Reason, ...] = ("breakpoint", "condition", "not finite", "failed")
MOST_VALUES = 64
"""Values of one operator that a Stop shows; a Program's author may give it any number."""
MOST_TEXT = 10_000


class Value(TypedDict):
    """A value at a stop. ``minimum`` and ``maximum`` are of the finite elements, None where there are none;
    ``shape`` is None for a value that is not an array. ``kept`` says that it need not be computed again."""

    name: str
    shape: list[int] | None
    dtype: str
    nan: int
    positive_infinite: int
    negative_infinite: int
    zero: int
    minimum: float | None
    maximum: float | None
    kept: bool


@dataclass(frozen=True)
class Stop:
    """Where the debugger stands, with the operator that computed last; plain values of bounded size.

    ``batch`` counts as a training counts its steps, ``position`` the operators of the batch that computed.
    ``message`` says in a sentence what was found. ``value`` names the result that it was found in,
    ``error`` the class of the error of an operator that failed. ``where``
    has pairs of block and operator in the Program of the part, outermost first, ``iterations`` the number of
    each loop's around it. ``watches`` has the values that are watched.
    """

    reason: Reason
    message: str = ""
    batch: int = 1
    position: int = 0
    part: str = ""
    where: list[list[int]] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    operator: str = ""
    layer: str = ""
    file: str = ""
    line: int = 0
    value: str = ""
    error: str = ""
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    watches: list[Value] = field(default_factory=list)

    @property
    def found(self) -> bool:
        """Whether something was found that was looked for, or an operator failed."""
        return self.reason in FOUND

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Stop:
        """The Stop of what ``plain()`` gave. Raises FormatError for anything else."""
        kinds = {name: type(value) for name, value in asdict(cls("begin")).items()}
        given = dict(plain) if isinstance(plain, Mapping) else {}
        if given.keys() != kinds.keys() or any(type(given[name]) is not kinds[name] for name in kinds):
            raise FormatError(f"debug: not a stop: {plain!r:.100}")
        return cls(**given)


def at_site(site: Site, iterations: Sequence[int]) -> dict[str, Any]:
    """The fields of a Stop that say where."""
    return {
        "part": site.part,
        "where": [list(pair) for pair in site.where],
        "iterations": list(iterations),
        "operator": site.operator,
        "layer": site.layer,
        "file": site.file,
        "line": site.line,
    }


def value_row(name: str, array: Array, kept: bool = True) -> Value:
    """What a Stop shows of a value."""
    found = extremes(array)
    return Value(
        name=name,
        shape=found.shape,
        dtype=found.dtype,
        nan=found.nan,
        positive_infinite=found.positive_infinite,
        negative_infinite=found.negative_infinite,
        zero=found.zero,
        minimum=None if math.isnan(found.minimum) else found.minimum,
        maximum=None if math.isnan(found.maximum) else found.maximum,
        kept=kept,
    )
