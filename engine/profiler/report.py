"""Where the time of a recording with details goes: by operator, or by the user's source line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError
from engine.profiler.result import Node, ProfilerResult
from engine.profiler.work import Work

BY = ("operator", "line")
ELSEWHERE = "(loss, optimizer)"


@dataclass
class Row:
    """What the calls of one operator, or those of one source line, took together.

    ``seconds`` is the time of the kernels alone, ``bytes`` what they read and gave, ``flops`` the
    floating-point operations of the calls that are counted, and ``counted`` the seconds of these.
    """

    name: str
    calls: int = 0
    seconds: float = 0.0
    bytes: int = 0
    flops: int = 0
    counted: float = 0.0

    @property
    def gflops(self) -> float | None:
        """Billions of floating-point operations a second; None where none are counted."""
        return self.flops / self.counted / 1e9 if self.flops and self.counted else None

    def add(self, seconds: float, work: Work) -> None:
        """One more call."""
        self.calls += 1
        self.seconds += seconds
        self.bytes += work.bytes
        if work.flops >= 0:
            self.flops += work.flops
            self.counted += seconds

    def plain(self) -> dict[str, Any]:
        """For JSON: the fields, and ``gflops``."""
        return asdict(self) | {"gflops": self.gflops}


def rows_of(result: ProfilerResult, by: str = "operator", own: str = "") -> list[Row]:
    """The rows of a recording, the longest first. The time of a kernel within another one counts once.

    Lines of files in the folder ``own``, whose code drives the training, are one row with those that are not
    known. Raises ArgumentError for another ``by`` than operator and line.
    """
    if by not in BY:
        raise ArgumentError(f"profile: by {by!r} is not one of {', '.join(BY)}")
    found: dict[str, Row] = {}
    for name, place, seconds, work in _calls(result, own):
        key = name if by == "operator" else place
        found.setdefault(key, Row(key)).add(seconds, work)
    return sorted(found.values(), key=lambda row: -row.seconds)


def rows_by_place(result: ProfilerResult, own: str = "") -> dict[str, list[Row]]:
    """Of each operator's name a row for each line that it was called for, the longest first; ``own`` as of
    :func:`rows_of`."""
    found: dict[str, dict[str, Row]] = {}
    for name, place, seconds, work in _calls(result, own):
        found.setdefault(name, {}).setdefault(place, Row(place)).add(seconds, work)
    return {name: sorted(rows.values(), key=lambda row: -row.seconds) for name, rows in found.items()}


def _calls(result: ProfilerResult, own: str) -> list[tuple[str, str, float, Work]]:
    """Operator, line, seconds without those of kernels within it, and work of each call of a kernel."""
    found: list[tuple[str, str, float, Work]] = []

    def visit(node: Node) -> int:
        """The time of the kernels in this node."""
        inside = sum(visit(child) for child in node.children)
        work = node.span.work
        if work is None:
            return inside
        known = work.file and not (own and work.file.startswith(own))
        place = f"{work.file}:{work.line}" if known else ELSEWHERE
        found.append((node.span.name, place, (node.time - inside) / 1e9, work))
        return node.time

    for roots in result.get_data().values():
        for root in roots:
            visit(root)
    return found


def table_of(rows: Sequence[Row], steps: int, seconds: float, by: str = "operator") -> str:
    """Rows as text: of ``steps`` steps that took ``seconds`` in all, the times for one step."""
    kernels = sum(row.seconds for row in rows)
    lines = [[by, "calls", "ms", "share", "MB", "GFLOP/s"]]
    for row in rows:
        rate = row.gflops
        lines.append(
            [
                _short(row.name) if by == "line" else row.name,
                f"{row.calls / steps:g}",
                f"{1e3 * row.seconds / steps:.3f}",
                f"{row.seconds / seconds:.1%}",
                f"{row.bytes / steps / 1e6:.2f}",
                "-" if rate is None else f"{rate:.1f}",
            ]
        )
    rest = seconds - kernels
    lines.append(["(between the kernels)", "", f"{1e3 * rest / steps:.3f}", f"{rest / seconds:.1%}", "", ""])
    lines.append(["a step", "", f"{1e3 * seconds / steps:.3f}", "", "", ""])
    return aligned(lines)


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Rows of cells as text, the first column to the left, the others to the right."""
    widths = [max(len(line[n]) for line in lines if n < len(line)) for n in range(len(lines[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(line, widths, strict=False))
        ).rstrip()
        for line in lines
    )


def _short(name: str) -> str:
    """The last two parts of a path with its line."""
    return "/".join(Path(name).parts[-2:])
