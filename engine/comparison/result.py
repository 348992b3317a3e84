"""What a comparison found, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """An operator of one part (forward, backward or update) that both sides ran, and its results.

    ``name`` is the result that differs most, of ``shape`` and ``dtype``; ``absolute`` and ``relative`` are
    its difference (None: infinite), ``bitwise`` whether all results are equal bit for bit, ``diverges``
    whether one is above its tolerance, ``inputs_agree`` whether all that it read is within. ``number`` is the
    position of the operator among those of its part, ``order`` the number of the operator of that type within
    its layer call.
    """

    part: str
    type: str
    layer: str
    file: str
    line: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    absolute: float | None
    relative: float | None
    bitwise: bool
    diverges: bool
    inputs_agree: bool
    iterations: tuple[int, ...] = ()
    order: int = 0


@dataclass(frozen=True)
class Unmatched:
    """An operator that only one side ran: ``side`` is "A" or "B"; ``within`` is the fused operator of the
    other side that does it, where it is known."""

    side: str
    type: str
    layer: str
    file: str
    line: int
    shape: tuple[int, ...]
    within: str = ""
    order: int = 0


@dataclass(frozen=True)
class Cause:
    """A known cause: ``kind`` is one of mode, seed, weights, precision, pass, branch, optimizer, plan or
    unknown; ``text`` a clause for people."""

    kind: str
    text: str


@dataclass
class Comparison:
    """Two sides of a step, compared.

    ``first`` is the position in ``rows`` of the first diverging operator, None where none diverges or an
    operator without counterpart is the reason, which is then ``first_unmatched``. ``counts`` are the compared
    operators of each part.
    """

    a: str
    b: str
    verdict: str
    equal: bool
    bitwise: bool
    rows: list[Row] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    cause: Cause | None = None
    first: int | None = None
    first_unmatched: int | None = None
    tolerance: float | None = None
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
