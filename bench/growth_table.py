"""What ``bench.growth`` measures as tables: times of every size, exponents of time against work, cliffs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bench.results import Result, ratio, read_row
from bench.timing import table

# What grows, and how far; what stays meanwhile.
AXES: dict[str, tuple[int, ...]] = {
    "batch": (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024),
    "width": (16, 32, 64, 128, 256, 512, 1024),
    "depth": (2, 4, 8, 16, 32, 64),
}
STAY = {
    "batch": {"width": 128, "depth": 4},
    "width": {"batch": 64, "depth": 4},
    "depth": {"batch": 64, "width": 64},
}
CLIFF = 1.5  # times the line of its neighbours, from which on a size is one
MARK = "!"
UPPER = 3  # sizes at the end over which the second exponent is taken


def work(axis: str, size: int) -> float:
    """Floating-point operations of a step: three products for each weight and sample."""
    sizes = STAY[axis] | {axis: size}
    widths = (sizes["width"],) * sizes["depth"] + (10,)
    return 6.0 * sizes["batch"] * sum(a * b for a, b in pairwise(widths))


def exponent(works: Sequence[float], seconds: Sequence[float]) -> float:
    """The slope of log(seconds) over log(work) by least squares.

    Raises ValueError for fewer than two places, or only one work.
    """
    xs, ys = [math.log(w) for w in works], [math.log(s) for s in seconds]
    if len(xs) != len(ys) or len(set(xs)) < 2:
        raise ValueError(f"exponent: {len(xs)} works, {len(ys)} times; give at least two different works")
    x_mean, y_mean = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    spread = math.fsum((x - x_mean) ** 2 for x in xs)
    return math.fsum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True)) / spread


def curves(axis: str, points: Mapping[str, Any]) -> dict[str, list[tuple[int, Result]]]:
    """Each contender's sizes that were measured, with what it did there."""
    found: dict[str, list[tuple[int, Result]]] = {}
    for size, row in points.items():
        for name, one in read_row(row).items():
            if one.seconds:
                found.setdefault(name, []).append((int(size), one))
    return found


def exponents(axis: str, measured: Sequence[tuple[int, Result]]) -> tuple[float, float] | None:
    """Over all sizes, and over the last ``UPPER``; None where there are fewer than two."""
    if len(measured) < 2:
        return None
    works = [work(axis, size) for size, _ in measured]
    seconds = [one.series.best for _, one in measured]
    return exponent(works, seconds), exponent(works[-UPPER:], seconds[-UPPER:])


def cliffs(axis: str, measured: Sequence[tuple[int, Result]]) -> dict[int, float]:
    """The sizes that take more than ``CLIFF`` times as long as the line through their neighbours (in
    logarithms of work and time) says, and how many times. After the last size, which has one neighbour, the
    line is that of time in proportion to work."""
    found = {}
    points = [(math.log(work(axis, size)), math.log(one.series.best)) for size, one in measured]
    for n in range(1, len(points)):
        (x0, y0), (x, y) = points[n - 1], points[n]
        slope = 1.0
        if n + 1 < len(points):
            x1, y1 = points[n + 1]
            slope = (y1 - y0) / (x1 - x0)
        times = math.exp(y - (y0 + slope * (x - x0)))
        if times > CLIFF:
            found[measured[n][0]] = times
    return found


def cells(axis: str, points: Mapping[str, Any]) -> list[list[str]]:
    """A head, and a row for each contender: ms of every size with its ratio, and both exponents."""
    sizes = [int(size) for size in points]
    names = {row["reference"] for row in points.values()}
    reference = {size: read_row(row).get(row["reference"]) for size, row in points.items()}
    rows = [[axis, *map(str, sizes), "exponent", f"of the last {UPPER}"]]
    for name, measured in curves(axis, points).items():
        times, steep = dict(measured), cliffs(axis, measured)
        row = [name]
        for size in sizes:
            one = times.get(size)
            x = None if one is None else ratio(one, reference[str(size)])
            best = "-" if one is None else f"{one.series.best * 1e3:.3g}"
            cell = best if x is None or name in names else f"{best} ({x:.2f})"
            row.append(f"{cell} {MARK}" if size in steep else cell)
        both = exponents(axis, measured)
        rows.append([*row, *(["-", "-"] if both is None else [f"{value:.2f}" for value in both])])
    return rows


def growth_table(axis: str, points: Mapping[str, Any]) -> str:
    """One axis as a table of text: ms a step (ratio to the reference), and its cliffs."""
    return "\n".join([table(cells(axis, points)), *cliff_lines(axis, points)])


def cliff_lines(axis: str, points: Mapping[str, Any]) -> list[str]:
    """A line about each cliff of an axis."""
    return [
        f"{MARK} {name}: {axis} {size} takes {times:.2f} times as long as its neighbours' line"
        for name, measured in curves(axis, points).items()
        for size, times in cliffs(axis, measured).items()
    ]


def growth_page(report: Mapping[str, Any], markdown: Callable[[list[list[str]]], str]) -> str:
    """All axes as tables of a page."""
    parts = []
    for axis, points in report["axes"].items():
        stay = " and ".join(f"{name} {size}" for name, size in STAY[axis].items())
        parts.append(f"Growing {axis}, with {stay}:\n\n{markdown(cells(axis, points))}")
        said = cliff_lines(axis, points)
        parts.append("\n".join(f"- {line}" for line in said) if said else "No cliff.")
    return "\n\n".join(parts)
