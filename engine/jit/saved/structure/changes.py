"""The differences between two Programs, as plain values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["added", "removed", "changed", "moved"]
Place = tuple[int, int]
"""The index of a block and that of an operator in it."""


@dataclass(frozen=True)
class Detail:
    """A part of an operator that differs.

    ``what`` is ``attribute``, ``input``, ``parameter`` (its shape or dtype), ``results`` (their number),
    ``regions`` or ``replay``; ``name`` is the attribute or the slot; ``a`` and ``b`` are the values before
    and after: None for an attribute that is missing.
    """

    what: str
    name: str
    a: Any
    b: Any


@dataclass(frozen=True)
class OperatorChange:
    """An operator that differs.

    ``a`` and ``b`` are its places in both Programs, empty where it is missing: ``4``, or ``4.0.2`` for
    operator 2 in region 0 of operator 4. ``layer`` is the path of the Layer's call that made it, ``inside``
    how many operators its regions hold. An operator that is moved may have details too.
    """

    kind: Kind
    type: str
    layer: str
    a: str
    b: str
    details: tuple[Detail, ...] = ()
    inside: int = 0


@dataclass(frozen=True)
class Renamed:
    """A source line or a layer that is another one for so many operators that are otherwise the same."""

    a: str
    b: str
    operators: int


@dataclass
class Structure:
    """All differences between two Programs A and B.

    ``outputs`` are outputs of the whole Program that another operator computes. ``sources`` and ``layers``
    are source lines and layers of operators that have a counterpart; neither is a change of an operator.
    ``counterparts`` has the operators of B for those of A, by place; ``marks`` the kind of the change of
    each operator that has one, in A and in B. ``rows`` has the operators of both in one order, None for one
    that is missing on its side; those that were moved are in both of their positions. ``same`` has the names
    in B of the values of A. ``notes`` say what of a damaged Program is
    ignored.
    """

    changes: list[OperatorChange] = field(default_factory=list)
    outputs: list[Detail] = field(default_factory=list)
    sources: list[Renamed] = field(default_factory=list)
    layers: list[Renamed] = field(default_factory=list)
    same: dict[str, str] = field(default_factory=dict)
    counterparts: dict[Place, Place] = field(default_factory=dict)
    marks: tuple[dict[Place, Kind], dict[Place, Kind]] = field(default_factory=lambda: ({}, {}))
    rows: list[tuple[Place | None, Place | None]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Whether both compute the same in the same order."""
        return not (self.changes or self.outputs)
