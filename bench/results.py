"""The results of contenders in a row of a bench: stored as JSON, compared, and shown as a text table."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import numpy as np

from bench import isa, quiet
from bench.nets import Row
from bench.peers.protocol import cores
from bench.timing import Series, paired_ratio, table

TORCH = ("torch eager", "torch operator")  # memory is divided by theirs
TOLERANCE = 2e-3  # relative: rounding of float32 after a few steps stays below it


@dataclass
class Result:
    """What one did in a row: seconds and processor seconds a step, one entry a round, or ``skipped``.

    Of several complete ``runs`` the rounds come one run after another. ``peak`` is the most memory in bytes,
    ``first`` the seconds from the start of its process to the end of its first step.
    """

    name: str
    version: str = ""
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    steps: int = 0
    loss: float | None = None
    peak: int | None = None
    skipped: str = ""
    kernels: dict[str, dict[str, int]] | None = None  # "fast" or "numpy" -> operator -> calls in the plans
    first: float | None = None
    runs: int = 1

    @property
    def series(self) -> Series:
        """Its times."""
        return Series(self.name, self.seconds)

    def each_run(self) -> list[Series]:
        """Its times in each run."""
        rounds = len(self.seconds) // self.runs
        return [Series(self.name, self.seconds[n * rounds : (n + 1) * rounds]) for n in range(self.runs)]


def merged(runs: Sequence[Mapping[str, Result]]) -> dict[str, Result]:
    """The results of several complete runs of a row as one each; one that a run lacks is skipped."""
    found = {}
    for name, last in runs[-1].items():
        each = [run[name] for run in runs if name in run]
        why = next((one.skipped for one in each if one.skipped), "")
        peaks = [one.peak for one in each if one.peak is not None]
        firsts = [one.first for one in each if one.first is not None]
        found[name] = Result(
            name,
            last.version,
            [] if why else [value for one in each for value in one.seconds],
            [] if why else [value for one in each for value in one.cpu],
            sum(one.steps for one in each),
            last.loss,
            max(peaks, default=None),
            why,
            last.kernels,
            median(firsts) if firsts else None,
            len(each),
        )
    return found


def conditions(threads: int, rounds: int, seconds: float, wanted: str = "") -> dict[str, Any]:
    """What the figures depend on: date, machine, instruction set (``wanted``: see ``isa.used``), versions of
    Python and NumPy, threads, pinning, load."""
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "threads": threads,
        "cores": list(cores(threads)),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "rounds": rounds,
        "seconds": seconds,
        **isa.used(wanted),
    }


def _processor() -> str:
    """The processor's name, and whether it has the widest vectors."""
    name = isa.cpuinfo().get("model name") or platform.processor() or platform.machine()
    return f"{name} ({isa.AVX512 if isa.own() == isa.AVX512 else f'no {isa.AVX512}'})"


def describe(report: dict[str, Any]) -> str:
    """One line of conditions."""
    pinning = f"pinned to cores {report['cores']}" if report["cores"] else "not pinned"
    runs = report.get("runs", 1)
    vectors = isa.described(report)
    return (
        f"{report['date']}, {report['machine']}, {quiet.described(report)}; Python {report['python']}, "
        f"NumPy {report['numpy']}; {report['threads']} threads each, {pinning}; "
        f"{report['rounds']} turns of together {report['seconds']:g} s"
        + (f", {runs} complete runs" if runs > 1 else "")
        + (f"; {vectors}" if vectors else "")
    )


def as_json(row: Row, reference: str, results: list[Result]) -> dict[str, Any]:
    """A row's figures as they are written."""
    keep = ("version", "seconds", "cpu", "steps", "loss", "peak", "skipped", "kernels", "first", "runs")
    return {
        "title": row.title,
        "kind": row.kind,
        "reference": reference,
        "contenders": {one.name: {key: getattr(one, key) for key in keep} for one in results},
    }


def read_row(row: dict[str, Any]) -> dict[str, Result]:
    """The results that ``as_json`` wrote."""
    return {name: Result(name, **found) for name, found in row["contenders"].items()}


def ratio(one: Result, reference: Result | None) -> float | None:
    """Median over the turns of ``one / reference``, and over the runs; None where one of them was not
    measured."""
    found = ratios(one, reference)
    return median(found) if found else None


def ratios(one: Result, reference: Result | None) -> list[float]:
    """Median over the turns of ``one / reference`` in each complete run; none where one was not measured."""
    if reference is None or not one.seconds or not reference.seconds:
        return []
    pairs = zip(one.each_run(), reference.each_run(), strict=True)
    return [paired_ratio(of, to) for of, to in pairs]


def memory(one: Result, results: Mapping[str, Result]) -> tuple[str, str]:
    """The most memory that one had, in MB, and divided by torch's."""
    torch = next((results[name].peak for name in TORCH if name in results and results[name].peak), None)
    if one.peak is None:
        return "-", "-"
    return f"{one.peak / 1e6:.0f}", "-" if torch is None else f"{one.peak / torch:.2f}"


def same_loss(one: Result, reference: Result | None) -> bool:
    """Whether both did the same work, judged by their losses."""
    if reference is None or one.loss is None or reference.loss is None:
        return True
    return abs(one.loss - reference.loss) <= TOLERANCE * abs(reference.loss)


def row_table(row: dict[str, Any]) -> str:
    """A row's contenders as a table of text, and why others were skipped."""
    results = read_row(row)
    reference = results.get(row["reference"])
    unit, factor = ("ms", 1e3) if row["kind"] == "train" else ("us", 1e6)
    head = [
        f"{unit} a step",
        "min",
        "median",
        f"x {row['reference']}",
        "worst run",
        "x of min",
        "cpu",
        "x cpu",
        "loss",
        "MB",
        "x torch",
        "first step",
    ]
    lines = [head]
    for one in results.values():
        if one.skipped or not one.seconds:
            continue
        x, worst = ratio(one, reference), max(ratios(one, reference), default=None)
        least = cpu = None
        if x is not None and reference is not None:
            least = one.series.best / reference.series.best
            cpu = median(one.cpu) / median(reference.cpu)
        mark = "" if same_loss(one, reference) else " differs"
        lines.append(
            [
                one.name,
                *(f"{value * factor:.3g}" for value in (one.series.best, one.series.typical)),
                *("-" if value is None else f"{value:.2f}" for value in (x, worst, least)),
                f"{median(one.cpu) * factor:.3g}",
                "-" if cpu is None else f"{cpu:.2f}",
                "-" if one.loss is None else f"{one.loss:.5f}{mark}",
                *memory(one, results),
                "-" if one.first is None else f"{one.first:.2f} s",
            ]
        )
    versions = dict.fromkeys(one.version for one in results.values() if one.version)
    skipped = [f"{one.name} is skipped: {one.skipped}" for one in results.values() if one.skipped]
    said = [kernels_line(one) for one in results.values() if one.kernels is not None]
    return "\n".join([table(lines), ", ".join(versions), *said, *skipped])


def against_lines(results: Sequence[Result], before: str) -> list[str]:
    """Of each contender that another checkout's engine takes part with too: the median ratio to that one,
    and whether the losses are equal to the bit."""
    named = {one.name: one for one in results}
    lines = []
    for name, one in named.items():
        other = named.get(name + before)
        x = ratio(one, other)
        if other is not None and x is not None:
            loss = "" if one.loss is None else ", same loss" if one.loss == other.loss else ", ANOTHER LOSS"
            lines.append(f"{name}: {x:.3f} of{before}{loss}")
    return lines


def kernels_line(one: Result) -> str:
    """How many operators of a contender's plans run compiled kernels, and which do not."""
    found = one.kernels or {}
    fast, all_calls = sum(found.get("fast", {}).values()), sum(sum(n.values()) for n in found.values())
    rest = {name: count for whose, calls in found.items() if whose != "fast" for name, count in calls.items()}
    named = ", ".join(f"{count} {name}" for name, count in sorted(rest.items(), key=lambda x: -x[1]))
    return f"{one.name}: {fast} of {all_calls} operators have compiled kernels" + (
        f"; not {named}" * bool(rest)
    )
