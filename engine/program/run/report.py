"""The peak memory of a plan, by operators and lines of the user's code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.operators.operator import Operator
from engine.program.graph.program import Variable, variables_of

if TYPE_CHECKING:
    from engine.program.run.inspected import Inspected


@dataclass(frozen=True)
class Owner:
    """A value that is held at the peak: the operator that computed it, the user's file and line ("" and
    0 where they are not known), and its bytes."""

    operator: str
    file: str
    line: int
    bytes: int


@dataclass(frozen=True)
class Report:
    """The memory of one call of a plan.

    ``peak`` are the bytes of all results that are held at once, ``during`` names the operator that runs
    then, and ``owners`` has the values, the largest first. ``given`` are the bytes of the arguments
    (weights included), which belong to the caller, and ``unknown`` how many results have a size
    that only a run shows.
    """

    peak: int
    during: str
    owners: tuple[Owner, ...]
    given: int
    unknown: int

    def text(self, most: int = 20) -> str:
        """The report as a table of the ``most`` largest values."""
        lines = [
            f"peak {_mb(self.peak)} MB in {self.during or 'no operator'}, "
            f"{len(self.owners)} values; arguments {_mb(self.given)} MB"
        ]
        for each in self.owners[:most]:
            where = "/".join(Path(each.file).parts[-2:])
            lines.append(
                f"{_mb(each.bytes):>10}  {each.operator}" + (f"  {where}:{each.line}" if where else "")
            )
        if len(self.owners) > most:
            rest = self.owners[most:]
            lines.append(f"{_mb(sum(each.bytes for each in rest)):>10}  {len(rest)} others")
        return "\n".join(lines)


def report_of(plan: Inspected) -> Report:
    """The report of a plan, from the shapes that it was compiled for; nothing runs."""
    ops = plan.ops
    sizes, unknown = _sizes(plan, ops)
    root = dict(plan.live.base)
    known = plan.constants
    for operator in ops:
        for result, target in zip(operator.outputs, plan.reused.get(id(operator), ()), strict=False):
            if target is not None:
                root[id(result)] = root.get(id(target), id(target))
    given = {id(v) for v in plan.inputs}

    def home(variable: Variable) -> int:
        found = id(variable)
        while root.get(found, found) != found:
            found = root[found]
        return found

    stays = {home(v) for v in plan.outputs}
    ends: dict[int, int] = {}
    makers: dict[int, Operator] = {}
    last = plan.live.last
    for operator in ops:
        for variable in variables_of(operator.outputs):
            makers.setdefault(id(variable), operator)
            ends[home(variable)] = max(ends.get(home(variable), -1), last[id(variable)])
    held: dict[int, int] = {}
    peak, during, fullest = 0, "", dict(held)
    for position, operator in enumerate(ops):
        for variable in variables_of(operator.outputs):
            place = home(variable)
            if place not in given and place not in known and not variable.persistable:
                held[place] = sizes.get(place, 0)
        now = sum(held.values())
        if now > peak:
            peak, during, fullest = now, operator.type, dict(held)
        for place in [p for p in held if ends[p] <= position and p not in stays]:
            del held[place]
    owners = [_owner(makers[place], size) for place, size in fullest.items() if size]
    arguments = sum(max(plan.spec_of(v).size, 0) * plan.spec_of(v).dtype.itemsize for v in plan.inputs)
    return Report(peak, during, tuple(sorted(owners, key=lambda o: -o.bytes)), arguments, unknown)


def _sizes(plan: Inspected, ops: Sequence[Operator]) -> tuple[dict[int, int], int]:
    """Bytes of all results by id, and how many have no known size."""
    sizes: dict[int, int] = {}
    unknown = 0
    for operator in ops:
        for variable in variables_of(operator.outputs):
            spec = plan.spec_of(variable)
            if spec.known:
                sizes[id(variable)] = spec.size * spec.dtype.itemsize
            else:
                unknown += 1
    return sizes, unknown


def _owner(operator: Operator, size: int) -> Owner:
    file, line = operator.position or ("", 0)
    return Owner(operator.type, file, line, size)


def _mb(size: int) -> str:
    return f"{size / 1e6:.2f}"
