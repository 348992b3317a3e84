"""What profile prints of the passes and of the plan that a training's steps run by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.cli.output import say

if TYPE_CHECKING:
    from engine.profiler.planned import Planned
    from engine.program.run.explain import Explained
    from engine.program.run.pass_trace import AfterPass, Shown


def show_passes(found: Planned) -> None:
    """The Program as built, and after each pass that changed it, with what it took away and made."""
    for number, each in enumerate(found.passes):
        say(f"{each.name}: {_did(each, number)} ({len(each.lines)} operators)")
        if number == 0 or each.gone or each.made or each.moved or each.changed:
            for mark, line in each.difference:
                say(f"{mark or ' '} {_line(line)}")


def _did(step: AfterPass, number: int) -> str:
    return step.did() if number else "no pass has run"


def show_plans(found: Planned) -> None:
    """What really runs: each operator of the plans, how it runs, and what is held at the fullest moment."""
    for part in found.parts:
        as_graph = {"": "", "graph": ", as a CUDA graph"}.get(part.graph, f", one by one ({part.graph})")
        say(f"{part.title}: {len(part.rows)} operators{as_graph}")
        for row in part.rows:
            say(f"  {_line(row)}  -> {row.describe()}")
        for line in part.report.text().splitlines():
            say(line)
    for update in found.updates:
        say(f"update: {update.text()}")
    if found.alone:
        say(f"update: {found.alone} parameters one by one")


def plain_planned(found: Planned, passes: bool, plan: bool) -> dict[str, Any]:
    """For JSON: ``passes`` and ``plans`` with ``updates``, as far as they were asked for."""
    made: dict[str, Any] = {}
    if passes:
        made["passes"] = [asdict(each) | {"did": _did(each, n)} for n, each in enumerate(found.passes)]
    if plan:
        made["plans"] = [asdict(part) for part in found.parts]
        made["updates"] = [asdict(update) for update in found.updates]
        made["updated_alone"] = found.alone
    return made


def _line(line: Shown | Explained) -> str:
    where = _places(line.places)
    return f"{'    ' * line.depth}{line.text}" + (f"  # {where}" if where else "")


def _places(places: Iterable[tuple[str, int]]) -> str:
    """The last two parts of each path, with the line; not those of the code that drives the training."""
    own = str(Path(__file__).parents[2])
    known = [(file, line) for file, line in places if not file.startswith(own)]
    return ", ".join(f"{'/'.join(Path(file).parts[-2:])}:{line}" for file, line in known)
