"""The results of contenders in a row of a bench: stored as JSON, compared, and shown as a text table."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from bench.nets import Row
from bench.peers.protocol import cores
from bench.timing import Series, paired_ratio, table

TOLERANCE = 2e-3  # relative: rounding of float32 after a few steps stays below it


@dataclass
class Result:
    """What one did in a row: seconds and processor seconds a step, one entry a round, or ``skipped``."""

    name: str
    version: str = ""
    seconds: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    steps: int = 0
    loss: float | None = None
    peak: int | None = None
    skipped: str = ""
    kernels: dict[str, dict[str, int]] | None = None  # "fast" or "numpy" -> operator -> calls in the plans

    @property
    def series(self) -> Series:
        """Its times."""
        return Series(self.name, self.seconds)


def conditions(threads: int, rounds: int, seconds: float) -> dict[str, Any]:
    """What the figures depend on: date, machine, versions of Python and NumPy, threads, pinning, load."""
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
    }


def _processor() -> str:
    """The processor's name, and its widest vectors where the system says."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    vectors = "AVX-512" if "avx512f" in said.get("flags", "").split() else "no AVX-512"
    return f"{said.get('model name', platform.machine())} ({vectors})"


def describe(report: dict[str, Any]) -> str:
    """One line of conditions."""
    pinning = f"pinned to cores {report['cores']}" if report["cores"] else "not pinned"
    load = "unknown" if report["load"] is None else report["load"]
    return (
        f"{report['date']}, {report['machine']}, load before {load}; Python {report['python']}, "
        f"NumPy {report['numpy']}; {report['threads']} threads each, {pinning}; "
        f"{report['rounds']} turns of together {report['seconds']:g} s"
    )


def as_json(row: Row, reference: str, results: list[Result]) -> dict[str, Any]:
    """A row's figures as they are written."""
    keep = ("version", "seconds", "cpu", "steps", "loss", "peak", "skipped", "kernels")
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
    """Median over the turns of ``one / reference``; None where one of them was not measured."""
    if reference is None or not one.seconds or not reference.seconds:
        return None
    return paired_ratio(one.series, reference.series)


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
        "x of min",
        "cpu",
        "x cpu",
        "loss",
        "MB",
    ]
    lines = [head]
    for one in results.values():
        if one.skipped or not one.seconds:
            continue
        x = ratio(one, reference)
        least = cpu = None
        if x is not None and reference is not None:
            least = one.series.best / reference.series.best
            cpu = median(one.cpu) / median(reference.cpu)
        mark = "" if same_loss(one, reference) else " differs"
        lines.append(
            [
                one.name,
                *(f"{value * factor:.3g}" for value in (one.series.best, one.series.typical)),
                *("-" if value is None else f"{value:.2f}" for value in (x, least)),
                f"{median(one.cpu) * factor:.3g}",
                "-" if cpu is None else f"{cpu:.2f}",
                "-" if one.loss is None else f"{one.loss:.5f}{mark}",
                "-" if one.peak is None else f"{one.peak / 1e6:.0f}",
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
