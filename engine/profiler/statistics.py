"""The tables of ``Profiler.summary()``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from engine.core.errors import ArgumentError
from engine.profiler.result import Node, ProfilerResult


class SortedKeys(Enum):
    """By what the rows of operators are sorted, the largest first."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


class SummaryView(Enum):
    """One of the tables. There is nothing to show of DistributedView, KernelView, MemoryView and
    MemoryManipulationView: the engine has no kernels of a device apart from operators, and memory is not
    recorded."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


_UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
_STEP, _LOADING, _USERS = "ProfileStep", "Dataloader", ("PythonUserDefined", "UserDefined")
_PHASES = (_LOADING, "Forward", "Backward", "Optimization")


@dataclass
class _Times:
    """The durations of one thing, in nanoseconds."""

    name: str
    values: list[int]

    @property
    def total(self) -> int:
        return sum(self.values)

    def key(self, by: SortedKeys) -> float:
        # A span ends when the result is there, on a GPU too: one time stands for both.
        what = by.name[3:]
        return {
            "Total": self.total,
            "Avg": self.total / len(self.values),
            "Max": max(self.values),
            "Min": min(self.values),
        }[what]


class _Writer:
    """Tables of one recording, in one unit."""

    def __init__(self, result: ProfilerResult, unit: str) -> None:
        if unit not in _UNITS:
            raise ArgumentError(f"Profiler.summary: time_unit {unit!r} is not one of {', '.join(_UNITS)}")
        self.unit = unit
        self.scale = _UNITS[unit]
        self.threads = result.get_data()
        self.nodes = [node for roots in self.threads.values() for root in roots for node in root.walk()]
        begin, end = result.time_range()
        steps = merged((n.span.start, n.span.end) for n in self._of(_STEP))
        self.whole = steps or end - begin
        self.extra = result.get_extra_info()

    def _of(self, *kinds: str) -> list[Node]:
        return [node for node in self.nodes if node.span.kind in kinds]

    def _outermost(self, kind: str) -> list[Node]:
        """Nodes of a kind that lie within no other of it."""
        found: list[Node] = []

        def visit(node: Node) -> None:
            if node.span.kind == kind:
                found.append(node)
            else:
                for child in node.children:
                    visit(child)

        for roots in self.threads.values():
            for root in roots:
                visit(root)
        return found

    # -- cells ---------------------------------------------------------------------------------------------
    def _amount(self, time: float) -> str:
        return f"{time / self.scale:.2f}"

    def _ratio(self, time: float, whole: float) -> str:
        return f"{100 * time / whole if whole else 0:.2f}"

    def _times(self, times: _Times, whole: float) -> str:
        values = times.values
        parts = (times.total, times.total / len(values), max(values), min(values))
        return " / ".join([*(self._amount(each) for each in parts), self._ratio(times.total, whole)])

    # -- tables --------------------------------------------------------------------------------------------
    def device(self) -> str:
        rows = [(name, value) for name, value in self.extra.items()]
        notes = [
            "CPU(Process): the time of this process on all cores over the time that passed and the cores."
        ]
        return _table("Device Summary", "", [("Device", "Utilization (%)"), *rows], notes)

    def overview(self) -> str:
        rows: list[Sequence[str]] = [("Event Type", "Calls", "CPU Time", "Ratio (%)")]
        kinds: dict[str, list[Node]] = {}
        for node in self.nodes:
            kinds.setdefault(node.span.kind, []).append(node)
        kinds |= {kind: self._outermost(kind) for kind in ("Forward",) if kind in kinds}
        found = [(k, len(n), merged((x.span.start, x.span.end) for x in n)) for k, n in kinds.items()]
        found.sort(key=lambda row: (row[0] != _STEP, -row[2]))
        for kind, calls, time in found:
            shown = kind if kind == _STEP else f"  {kind}"
            rows.append((shown, str(calls), self._amount(time), self._ratio(time, self.whole)))
        notes = ["Times that overlap count once; those of different types may lie within each other."]
        return _table("Overview Summary", self.unit, rows, notes)

    def model(self) -> str:
        steps = self._of(_STEP)
        if not steps:
            return ""
        rows: list[Sequence[str]] = [("Name", "Calls", _TIMES)]
        rows.append((_STEP, str(len(steps)), self._times(_Times("", [n.time for n in steps]), self.whole)))
        others = self.whole
        for kind in _PHASES:
            values = [node.time for node in self._outermost(kind)]
            if values:
                rows.append((f"  {kind}", str(len(values)), self._times(_Times("", values), self.whole)))
                others -= sum(values)
        rows.append(
            ("  Others", "-", f"{self._amount(others)} / - / - / - / {self._ratio(others, self.whole)}")
        )
        return _table("Model Summary", self.unit, rows)

    def operators(self, by: SortedKeys, detail: bool, apart: bool) -> str:
        groups = (
            [(f"Thread: {thread}", roots) for thread, roots in self.threads.items()]
            if apart
            else [("Thread: All threads merged", [r for roots in self.threads.values() for r in roots])]
        )
        rows: list[Sequence[str]] = [("Name", "Calls", _TIMES)]
        for title, roots in groups:
            nodes = [n for root in roots for n in root.walk() if n.span.kind == "Operator"]
            if not nodes:
                continue
            rows.append((title,))
            whole = sum(node.time for node in nodes)
            for times in _grouped(nodes, by):
                rows.append((times.name, str(len(times.values)), self._times(times, whole)))
                if not detail:
                    continue
                inner = [
                    below
                    for node in nodes
                    if node.span.name == times.name
                    for below in node.walk()
                    if below is not node
                ]
                for each in _grouped([n for n in inner if n.span.kind == "OperatorInner"], by):
                    rows.append((f"  {each.name}", str(len(each.values)), self._times(each, times.total)))
        return "" if len(rows) == 1 else _table("Operator Summary", self.unit, rows)

    def users(self, by: SortedKeys, apart: bool) -> str:
        nodes = self._of(*_USERS)
        if not nodes:
            return ""
        rows: list[Sequence[str]] = [("Name", "Calls", _TIMES)]
        threads = sorted({n.span.thread for n in nodes}) if apart else [None]
        for thread in threads:
            rows.append(("Thread: All threads merged" if thread is None else f"Thread: {thread}",))
            for times in _grouped([n for n in nodes if thread in (None, n.span.thread)], by):
                rows.append((times.name, str(len(times.values)), self._times(times, self.whole)))
        return _table("UserDefined Summary", self.unit, rows)


_TIMES = "CPU Total / Avg / Max / Min / Ratio(%)"


def build_table(
    result: ProfilerResult,
    sorted_by: SortedKeys = SortedKeys.CPUTotal,
    op_detail: bool = True,
    thread_sep: bool = False,
    time_unit: str = "ms",
    views: Sequence[SummaryView] | None = None,
) -> str:
    """The tables of the chosen views, all of them by default. Raises ArgumentError for an unknown unit."""
    writer = _Writer(result, time_unit)
    made: dict[SummaryView, Callable[[], str]] = {
        SummaryView.DeviceView: writer.device,
        SummaryView.OverView: writer.overview,
        SummaryView.ModelView: writer.model,
        SummaryView.OperatorView: lambda: writer.operators(sorted_by, op_detail, thread_sep),
        SummaryView.UDFView: lambda: writer.users(sorted_by, thread_sep),
    }
    texts = [make() for view, make in made.items() if views is None or view in views]
    return "\n\n".join(text for text in texts if text)


def merged(intervals: Iterable[tuple[int, int]]) -> int:
    """The time that the intervals cover together."""
    total, reached = 0, 0
    for start, end in sorted(intervals):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _grouped(nodes: Iterable[Node], by: SortedKeys) -> list[_Times]:
    """The times by name, the largest first."""
    found: dict[str, _Times] = {}
    for node in nodes:
        found.setdefault(node.span.name, _Times(node.span.name, [])).values.append(node.time)
    return sorted(found.values(), key=lambda times: times.key(by), reverse=True)


def _table(title: str, unit: str, rows: Sequence[Sequence[str]], notes: Sequence[str] = ()) -> str:
    """Columns as wide as their cells, in Paddle's layout; a row of one cell stands across the table."""
    cells = [row for row in rows if len(row) > 1]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))]
    rule = "  ".join("-" * width for width in widths)
    lines = [title.center(len(rule), "-")]
    if unit:
        lines.append(f"Time unit: {unit}")
    lines += [rule, _line(cells[0], widths), rule]
    lines += [row[0].center(len(rule), "-") if len(row) == 1 else _line(row, widths) for row in rows[1:]]
    lines.append(rule)
    return "\n".join([*lines, *(["Note:", *notes] if notes else [])])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
