"""Makes every case on both sides, and reports the modes in which a layer differs."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.differential.comparing import EQUAL, REFUSED, Outcome
from tests.differential.layers.comparing import compare
from tests.differential.layers.deviations import DEVIATIONS, Deviation, reason_of
from tests.differential.layers.worker import MODES
from tests.differential.runs import of_both

HERE = Path(__file__).parent
FINE = (EQUAL, REFUSED)


def cases(only: str = "") -> list[dict[str, Any]]:
    """All cases in the order of their files, as the worker reads them."""
    found = []
    for path in sorted((HERE / "cases").glob("*.py")):
        module = importlib.import_module(f"tests.differential.layers.cases.{path.stem}")
        initial = getattr(module, "INITIAL", ())
        found += [
            {"name": f"{path.stem}:{name}", "make": make, "call": call, "initial": name in initial}
            for name, (make, call) in module.CASES.items()
        ]
    return [case for case in found if only in case["name"]]


@dataclass
class Sweep:
    """How many layers are equal in all modes, and what differs: the case, the mode, the outcome."""

    counts: Counter[str] = field(default_factory=Counter)
    differ: list[tuple[dict[str, Any], str, Outcome]] = field(default_factory=list)
    unused: set[Deviation] = field(default_factory=set)
    known: Counter[str] = field(default_factory=Counter)

    def lines(self) -> Iterator[str]:
        yield ", ".join(f"{number} {what}" for what, number in self.counts.items())
        for reason, number in self.known.most_common():
            yield f"  {number:5d}  {reason}"
        for case, mode, outcome in self.differ:
            yield f"{case['name']} {mode}: {outcome.category}: {outcome.detail}"


def sweep(paddle: str, folder: Path, only: str = "") -> Sweep:
    """Make the cases whose name contains ``only`` on both sides, and compare them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = cases(only)
    path = folder / "cases.jsonl"
    path.write_text("".join(f"{json.dumps(case)}\n" for case in made), encoding="utf-8")
    report = Sweep()
    used = set()
    for case, theirs, ours in zip(made, *of_both(paddle, path, folder, HERE / "worker.py"), strict=True):
        found = [
            (mode, outcome, reason_of(case["name"], mode, outcome))
            for mode, outcome in _differences(theirs, ours)
        ]
        reasons = {reason for *_, reason in found if reason is not None}
        rest = [(case, mode, outcome) for mode, outcome, reason in found if reason is None]
        report.counts["layers"] += 1
        report.counts["equal in all modes"] += not found
        report.counts["known to differ"] += bool(found) and not rest
        report.counts["that differ"] += bool(rest)
        report.known.update(each.reason for each in reasons)
        report.differ += rest
        used |= reasons
    report.unused = set() if only else set(DEVIATIONS) - used
    return report


def _differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[tuple[str, Outcome]]:
    if "ended" in theirs or "ended" in ours:
        if "ended" in ours:
            yield "layer", Outcome("the engine's process ended", ours["ended"])
        else:
            yield "layer", Outcome("Paddle's process ended", theirs["ended"])
        return
    for mode in ("layer", *MODES):
        outcome = compare(mode, theirs[mode], ours[mode])
        if outcome.category not in FINE:
            yield mode, outcome
