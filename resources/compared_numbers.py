"""Rows of a comparison of numbers: plain values that the engine makes, and command line and window show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ComparedRow:
    """An operator of one part (forward, backward or update) that both sides ran, and its results.

    ``name`` is the result that differs most, of ``shape`` and ``dtype``; ``absolute`` and ``relative`` are
    its difference (None: infinite), ``bitwise`` whether all results are equal bit for bit, ``diverges``
    whether one is above its tolerance, ``inputs_agree`` whether all that it read is within. ``iterations``
    are those of the loops around it, ``order`` its number among the operators of its type in its layer call.
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
class UnmatchedRow:
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
