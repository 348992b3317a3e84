"""What a comparison found, as plain values."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from resources.compared_numbers import ComparedRow, UnmatchedRow


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
    rows: list[ComparedRow] = field(default_factory=list)
    unmatched: list[UnmatchedRow] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    cause: Cause | None = None
    first: int | None = None
    first_unmatched: int | None = None
    tolerance: float | None = None
    notes: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)
