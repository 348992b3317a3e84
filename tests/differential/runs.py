"""Runs described calls on both sides, each in a process that is started again after a call that ended it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.differential.comparing import EQUAL, REFUSED, THERE, Outcome, compare
from tests.differential.deviations import reason_of

ROOT = Path(__file__).resolve().parents[2]
WORKER = Path(__file__).with_name("worker.py")
SETTINGS = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "GLOG_minloglevel": "3",
    "CUDA_VISIBLE_DEVICES": "",
}
FINE = (EQUAL, REFUSED)


@dataclass
class Report:
    """What came of the calls of one seed: counts, and the calls that differ."""

    seed: int
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    differ: list[tuple[dict[str, Any], str, Outcome]] = field(default_factory=list)

    def count(self, mode: str, what: str) -> None:
        self.counts.setdefault(mode, Counter())[what] += 1

    def lines(self) -> Iterator[str]:
        for mode, counts in self.counts.items():
            yield f"seed {self.seed}, {mode}: {sum(counts.values())} calls"
            for what, number in counts.most_common():
                yield f"  {number:5d}  {what}"


def results(
    python: str,
    which: str,
    calls: Path,
    folder: Path,
    environment: dict[str, str],
    worker: Path = WORKER,
) -> list[Any]:
    """What each call gives with one implementation; ``ended`` says that it ended the process."""
    path = folder / f"{which}.jsonl"
    path.unlink(missing_ok=True)
    count = len(calls.read_text(encoding="utf-8").splitlines())
    found: dict[int, Any] = {}
    start = 0
    while start < count:
        with open(folder / f"{which}.log", "ab") as log:
            done = subprocess.run(
                [python, str(worker), which, str(calls), str(path), str(start)],
                env={**os.environ, **SETTINGS, **environment},
                cwd=ROOT,
                stdout=log,
                stderr=log,
                check=False,
            )
        begun = -1
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            entry = json.loads(line)
            begun = entry.get("begun", begun)
            if "number" in entry:
                found[entry["number"]] = entry
        if done.returncode == 0 and count - 1 in found:
            break
        if begun < start:
            raise RuntimeError(f"{which} does not start: see {folder / f'{which}.log'}")
        # A call may also end the process as if all were well.
        found[begun] = {"ended": "crashed" if done.returncode <= 0 else "took too long"}
        start = begun + 1
    return [found[number] for number in range(count)]


def of_both(paddle: str, calls: Path, folder: Path, worker: Path = WORKER) -> tuple[list[Any], list[Any]]:
    """What each call gives with Paddle and with the engine, which run at the same time."""
    with ThreadPoolExecutor(2) as pool:
        theirs = pool.submit(results, paddle, "paddle", calls, folder, {}, worker)
        here = {"PYTHONPATH": str(ROOT)}
        ours = pool.submit(results, sys.executable, "engine", calls, folder, here, worker)
        return theirs.result(), ours.result()


def run(seed: int, calls: list[dict[str, Any]], paddle: str, folder: Path) -> Report:
    """Make the calls on both sides and compare them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [call for call in calls if "skipped" not in call]
    path = folder / "calls.jsonl"
    path.write_text("".join(f"{json.dumps(call)}\n" for call in made), encoding="utf-8")
    both = zip(made, *of_both(paddle, path, folder), strict=True)
    report = Report(seed)
    for call in calls:
        if "skipped" in call:
            for mode in ("eager", "static"):
                report.count(mode, f"skipped: {call['skipped']}")
    for call, there, here in both:
        for mode in ("eager", "static"):
            _compared(report, call, mode, there, here)
    return report


def _comparable(there: Any, here: Any, mode: str) -> Any:
    """The engine's result; without gradients in a Program where Paddle has none to compare with eagerly."""
    if (
        mode == "static"
        and "gradients" not in there[mode]
        and not isinstance(there["eager"].get("gradients"), list)
    ):
        return {key: value for key, value in here[mode].items() if key != "gradients"}
    return here[mode]


def _compared(report: Report, call: dict[str, Any], mode: str, there: Any, here: Any) -> None:
    if "ended" in here:
        outcome = Outcome("the engine's process ended", here["ended"])
    elif "ended" in there:
        report.count(mode, f"skipped: Paddle {there['ended']}")
        return
    else:
        outcome = compare(call, there[mode], _comparable(there, here, mode))
    if outcome.category in FINE:
        report.count(mode, outcome.category)
        return
    reason = reason_of(call, mode, outcome)
    if reason:
        report.count(mode, f"known: {reason}" if outcome.category != THERE else f"skipped: {reason}")
        return
    report.count(mode, f"differs: {outcome.category}")
    report.differ.append((call, mode, outcome))
