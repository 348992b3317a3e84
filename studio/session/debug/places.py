"""Where an operator of a Program is, and which operators breakpoints and the position mark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from studio.session.debug.breakpoints import Breakpoint, Place
from studio.session.debug.debug_view import Part

At: TypeAlias = tuple[int, int]
"""Block and number of an operator."""


def place_in(program: Mapping[str, Any], block: int, operator: int) -> Place:
    """Pairs of block and operator, outermost first, of an operator of the Program."""
    owners = {
        region["block"]: (each["idx"], number)
        for each in program.get("blocks", [])
        for number, found in enumerate(each["ops"])
        for region in found["regions"]
    }
    chain = [(block, operator)]
    while chain[0][0] in owners and len(chain) <= len(owners):
        chain.insert(0, owners[chain[0][0]])
    return tuple(chain)


class OperatorMarks(Mapping[At, tuple[str, str]]):
    """Icon and colour of the operators of a part that have breakpoints, or are at the position.

    Each operator is looked at when it is asked for: a tree shows a few of very many.
    """

    def __init__(self, part: Part, breakpoints: Sequence[Breakpoint], position: At | None) -> None:
        self._part, self._position = part, position
        self._breakpoints = [each for each in breakpoints if each.part in ("", part.name)]

    def __getitem__(self, at: At) -> tuple[str, str]:
        if at == self._position:
            return "position", "accent"
        operator = self._part.operator_at(*at)
        for each in self._breakpoints if operator is not None else ():
            if _covers(each, at, operator or {}):
                on = each.enabled and not each.refused
                return "breakpoint" if on else "breakpoint-off", "bad"
        raise KeyError(at)

    def __iter__(self) -> Iterator[At]:
        for block in self._part.program.get("blocks", []):
            for number in range(len(block["ops"])):
                if (block["idx"], number) in self:
                    yield block["idx"], number

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _covers(each: Breakpoint, at: At, operator: Mapping[str, Any]) -> bool:
    """Whether the operator is what a breakpoint stops at, or a part of that."""
    if each.kind == "line":
        return bool(operator["line"] == each.line and operator["file"] == each.file)
    if each.kind == "layer":
        layer = str(operator.get("layer") or "")
        return layer == each.layer or layer.startswith(f"{each.layer}.")
    return at == each.where[-1] if each.where else bool(operator["type"] == each.operator)
