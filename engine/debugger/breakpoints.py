"""Breakpoints on an operator, on a group of operators (the call of a layer), or on a line of the source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import Any, Literal

from engine.core.errors import ArgumentError
from engine.debugger.conditions import Condition, condition_of
from engine.debugger.points import Place, Point, Site

Kind = Literal["operator", "layer", "line"]


@dataclass(frozen=True)
class Breakpoint:
    """Where to stop: after an operator has computed, so that its results are there.

    Args:
        kind: of what it is: ``operator`` (a type in ``operator``, or one place in ``where``), ``layer`` (the
            first operator of each call of it), ``line`` (the first operator of ``line`` of ``file``, each
            time the line begins).
        part: forward, backward or update; empty for each.
        hits: from which hit on it stops.
        condition: what must hold for a result; None for anything. It is looked for in all operators of the
            layer or line.
    """

    kind: Kind
    part: str = ""
    operator: str = ""
    where: Place = ()
    layer: str = ""
    file: str = ""
    line: int = 0
    hits: int = 1
    condition: Condition | None = None
    enabled: bool = True

    def plain(self) -> dict[str, Any]:
        """As JSON has it; ``of_plain`` reads it."""
        found = {k: v for k, v in asdict(self).items() if k != "condition"}
        condition = None if self.condition is None else self.condition.plain()
        return {**found, "where": [list(pair) for pair in self.where], "condition": condition}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Breakpoint:
        """The breakpoint of what ``plain()`` gave, where parts may be absent. Raises ArgumentError."""
        given = dict(plain)
        condition = given.pop("condition", None)
        try:
            where = tuple((int(block), int(op)) for block, op in given.pop("where", ()))
            made = cls(**given, where=where, condition=condition and condition_of(condition))
        except (TypeError, ValueError) as error:
            if isinstance(error, ArgumentError):
                raise
            raise ArgumentError(
                f"debug: not a breakpoint: {error}; give kind, and operator, layer or line"
            ) from None
        if made.kind not in ("operator", "layer", "line"):
            raise ArgumentError(
                f"debug: no such breakpoint: got {made.kind!r}; choose operator, layer or line"
            )
        return made

    def text(self) -> str:
        """In short: ``net.py:21``, ``layer1.0``, ``conv2d``."""
        if self.kind == "line":
            return f"{PurePath(self.file).name}:{self.line}"
        if self.kind == "layer":
            return self.layer
        return self.operator or f"{self.part}:" + "/".join(str(op) for _, op in self.where)

    def covers(self, site: Site) -> bool:
        """Whether the operator is what it stops at, or a part of that."""
        if self.part and self.part != site.part:
            return False
        if self.kind == "line":
            return site.line == self.line and same_file(site.file, self.file)
        if self.kind == "layer":
            return within(site.layer, self.layer)
        if self.where:
            return site.where == self.where
        return site.operator == self.operator


class Watcher:
    """The breakpoints of a debugger with their hits, resolved to the operators that there are."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self._sites = list(sites)
        self._breakpoints: dict[int, Breakpoint] = {}
        self._hits: dict[int, int] = defaultdict(int)
        self._before: tuple[Site, tuple[int, ...]] | None = None
        self._next = 1

    @property
    def breakpoints(self) -> dict[int, Breakpoint]:
        """All of them by number."""
        return dict(self._breakpoints)

    def add(self, wanted: Breakpoint) -> int:
        """Add one, moved to the next line that has operators, and return its number.

        Raises:
            ArgumentError: there is no such operator, layer or line.
        """
        self._breakpoints[self._next] = self._resolved(wanted)
        self._next += 1
        return self._next - 1

    def change(self, number: int, wanted: Breakpoint) -> None:
        """Put another in its place. Raises ArgumentError as ``add``, and for an unknown number."""
        self._require(number)
        self._breakpoints[number] = self._resolved(wanted)

    def remove(self, number: int) -> None:
        """Remove one. Raises ArgumentError for an unknown number."""
        self._require(number)
        del self._breakpoints[number]
        self._hits.pop(number, None)

    def hits(self, number: int) -> int:
        """How often it was hit since the start."""
        return self._hits[number]

    def begin(self) -> None:
        """The subject starts again: no hits so far."""
        self._hits.clear()
        self._before = None

    def move_to(self, site: Site | None, iterations: tuple[int, ...]) -> None:
        """The operator that computed last, where it was not looked at."""
        self._before = None if site is None else (site, iterations)

    def hit(self, point: Point) -> tuple[int, str, str] | None:
        """The number of the first breakpoint that stops at this point, with the name of the result that its
        condition found and the words for that; None for no stop."""
        site, before = point.site, self._before
        self._before = (site, point.iterations)
        found = None
        for number, each in self._breakpoints.items():
            if not each.enabled or not each.covers(site):
                continue
            value, words = "", ""
            if each.condition is not None:
                seen = each.condition.found(point)
                if seen is None:
                    continue
                value, words = seen
            elif each.kind != "operator" and before is not None and self._goes_on(each, before, point):
                continue
            self._hits[number] += 1
            if self._hits[number] >= each.hits and found is None:
                found = number, value, words
        return found

    def _goes_on(self, each: Breakpoint, before: tuple[Site, tuple[int, ...]], point: Point) -> bool:
        """Whether the operator before was a part of the same line or call as well."""
        site, iterations = before
        return each.covers(site) and site.part == point.site.part and iterations == point.iterations

    def _require(self, number: int) -> None:
        if number not in self._breakpoints:
            raise ArgumentError(f"debug: no breakpoint {number}: there are {sorted(self._breakpoints)}")

    def _resolved(self, wanted: Breakpoint) -> Breakpoint:
        if wanted.hits < 1:
            raise ArgumentError(f"debug: a hit count is from 1 on: got {wanted.hits}; give e.g. 3")
        if wanted.kind == "line":
            return self._at_line(wanted)
        if any(wanted.covers(site) for site in self._sites):
            return wanted
        there = sorted({s.layer if wanted.kind == "layer" else s.operator for s in self._sites} - {""})
        what = "layer" if wanted.kind == "layer" else "operator"
        some = ", ".join(there[:8]) + (", ..." if len(there) > 8 else "")
        raise ArgumentError(f"debug: no such {what}: got {wanted.text()!r}; there are {some or 'none'}")

    def _at_line(self, wanted: Breakpoint) -> Breakpoint:
        lines = {s.line for s in self._sites if s.line and same_file(s.file, wanted.file)}
        if wanted.part:
            lines &= {s.line for s in self._sites if s.part == wanted.part}
        if not lines:
            files = sorted({PurePath(s.file).name for s in self._sites if s.file})
            some = ", ".join(files[:8]) + (", ..." if len(files) > 8 else "")
            raise ArgumentError(
                f"debug: {wanted.text()}: no operator comes from this file: "
                + (f"they come from {some}" if some else "the model has no lines")
            )
        later = sorted(line for line in lines if line >= wanted.line)
        if not later:
            raise ArgumentError(
                f"debug: {wanted.text()}: no operator comes from this line or a later one: "
                f"the last line with operators is {max(lines)}"
            )
        return replace(wanted, line=later[0])


def same_file(file: str, wanted: str) -> bool:
    """Whether ``wanted``, with or without its folders, names ``file``."""
    if not file or not wanted:
        return False
    parts, asked = PurePath(file).parts, PurePath(wanted).parts
    asked = tuple(part for part in asked if part not in (".", ""))
    return bool(asked) and parts[-len(asked) :] == asked


def within(layer: str, path: str) -> bool:
    """Whether a call of a layer is the call ``path``, or a part of it."""
    return bool(path) and (layer == path or layer.startswith(path + "."))
