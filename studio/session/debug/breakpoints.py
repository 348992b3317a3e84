"""Breakpoints and conditions as the page Debug edits them; they stay where the child process ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Literal

Kind = Literal["operator", "layer", "line"]
Place = tuple[tuple[int, int], ...]
"""Pairs of block and operator, outermost first."""


@dataclass(frozen=True)
class Breakpoint:
    """Where to stop; see :class:`engine.debugger.Breakpoint`, which ``plain`` is for.

    ``condition`` is one of ``Conditions.plain``. The child says the rest: ``text`` is its name in short,
    ``refused`` why it holds nowhere in what is debugged now, ``hit`` how often it was hit.
    """

    kind: Kind
    part: str = ""
    operator: str = ""
    where: Place = ()
    layer: str = ""
    file: str = ""
    line: int = 0
    hits: int = 1
    condition: dict[str, Any] | None = None
    enabled: bool = True
    text: str = ""
    refused: str = ""
    hit: int = 0

    def plain(self) -> dict[str, Any]:
        """As it is sent to the child."""
        return {
            "kind": self.kind,
            "part": self.part,
            "operator": self.operator,
            "where": [list(pair) for pair in self.where],
            "layer": self.layer,
            "file": self.file,
            "line": self.line,
            "hits": self.hits,
            "condition": self.condition,
            "enabled": self.enabled,
        }

    @property
    def place(self) -> tuple[Any, ...]:
        """What it stops at, whatever else it has: two of one place are the same breakpoint."""
        return self.kind, self.part, self.operator, self.where, self.layer, self.file, self.line

    @property
    def name(self) -> str:
        """What it stops at, in short."""
        if self.text:
            return self.text
        if self.kind == "line":
            return f"{PurePath(self.file).name}:{self.line}"
        return self.layer if self.kind == "layer" else self.operator


@dataclass(frozen=True)
class Conditions:
    """At which results of any operator to stop; each holds where its first field is True."""

    not_finite: bool = False
    ignored: tuple[str, ...] = ()
    above: bool = False
    limit: float = 1e6
    all_zero: bool = False
    shape_is: bool = False
    shape: tuple[int, ...] = ()

    def plain(self) -> list[dict[str, Any]]:
        """Those that hold, as they are sent to the child."""
        found: list[dict[str, Any]] = []
        if self.not_finite:
            found.append({"kind": "not_finite", "ignore": list(self.ignored)})
        if self.above:
            found.append({"kind": "above", "limit": self.limit})
        if self.all_zero:
            found.append({"kind": "all_zero"})
        if self.shape_is and self.shape:
            found.append({"kind": "shape", "shape": list(self.shape)})
        return found


@dataclass(frozen=True)
class Change:
    """A value that was changed by hand: ``value`` is the number, factor or fill."""

    name: str
    how: str
    value: Any
    index: tuple[int, ...] = ()
    position: int = 0


@dataclass(frozen=True)
class ValueRow:
    """A value at the position: of the operator (``role`` is in or out), watched, or any other.

    ``minimum`` and ``maximum`` are of the finite elements, None where there are none or they are not known.
    """

    name: str
    role: Literal["in", "out", "watch", ""] = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    nan: int = 0
    positive_infinite: int = 0
    negative_infinite: int = 0
    zero: int = 0
    minimum: float | None = None
    maximum: float | None = None
    retained: bool = True
    known: bool = True

    @property
    def bad(self) -> int:
        """How many elements are not finite."""
        return self.nan + self.positive_infinite + self.negative_infinite


@dataclass(frozen=True)
class Stop:
    """Where the debugger stands and why; see :class:`engine.debugger.Stop`."""

    reason: str = ""
    message: str = ""
    batch: int = 0
    position: int = 0
    part: str = ""
    where: Place = ()
    iterations: tuple[int, ...] = ()
    operator: str = ""
    layer: str = ""
    file: str = ""
    line: int = 0
    source: str = ""
    value: str = ""
    rows: tuple[ValueRow, ...] = field(default=())

    @property
    def at(self) -> tuple[int, int] | None:
        """Block and operator in the Program of the part; None where no operator was computed."""
        return self.where[-1] if self.where else None

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Stop:
        """From what the child sent."""
        roles: tuple[tuple[Literal["in", "out", "watch"], str], ...] = (
            ("in", "inputs"),
            ("out", "outputs"),
            ("watch", "watches"),
        )
        return cls(
            reason=str(plain["reason"]),
            message=str(plain.get("message", "")),
            batch=int(plain.get("batch", 0)),
            position=int(plain.get("position", 0)),
            part=str(plain.get("part", "")),
            where=place_of(plain.get("where", ())),
            iterations=tuple(int(each) for each in plain.get("iterations", ())),
            operator=str(plain.get("operator", "")),
            layer=str(plain.get("layer", "")),
            file=str(plain.get("file", "")),
            line=int(plain.get("line", 0)),
            source=str(plain.get("source", "")),
            value=str(plain.get("value", "")),
            rows=tuple(value_row(each, role) for role, key in roles for each in plain.get(key, ())),
        )


def place_of(plain: Sequence[Sequence[int]]) -> Place:
    """Pairs of block and operator from what the child sent."""
    return tuple((int(block), int(operator)) for block, operator in plain)


def value_row(plain: dict[str, Any], role: Literal["in", "out", "watch", ""] = "") -> ValueRow:
    """A value of a stop, or a name of all values, whose figures are not known."""
    shape = plain.get("shape")
    counts = {
        name: int(plain.get(name, 0)) for name in ("nan", "positive_infinite", "negative_infinite", "zero")
    }
    return ValueRow(
        str(plain["name"]),
        role,
        None if shape is None else tuple(int(size) for size in shape),
        str(plain.get("dtype", "")),
        **counts,
        minimum=_number(plain.get("minimum")),
        maximum=_number(plain.get("maximum")),
        retained=bool(plain.get("kept", True)),
        known="nan" in plain,
    )


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
