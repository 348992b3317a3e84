"""What a step of a training costs: of each operator, and summed up into calls of Layers.

An operator of a plan may compute several of the Program. Their time is not divided by guess: it stays at the
innermost call of a Layer that all of them are a part of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from engine.core.layer_calls import common_call
from engine.profiler.report import aligned
from engine.program.graph.program import Program, Variable, variables_of
from engine.program.passes.clone import role
from engine.program.saved.serialize import to_plain
from resources.operator_keys import (
    BACKWARD,
    FORWARD,
    LOSS,
    OPTIMIZER,
    PHASES,
    UPDATE,
    OperatorKey,
    network_call,
    numbered,
    within_network,
)

if TYPE_CHECKING:
    from engine.core.operators.operator import Operator
    from engine.profiler.recorder import Span
    from engine.profiler.result import ProfilerResult


@dataclass
class Cost:
    """What one operator, or several that one kernel computes, takes in one step.

    ``layer`` is the call of a Layer that all of it is a part of: empty for the network itself, ``LOSS`` and
    ``OPTIMIZER`` outside of it. ``name`` is that in a profile. ``parts`` are the operators that it computes
    of the Program as it was traced, ``planned`` those of the Program after the passes, with its backward.
    ``fused`` is how many it computes.
    ``seconds`` is the time of the kernels, ``bytes`` what they read and gave, ``flops`` their floating-point
    operations (-1 where they are not counted).
    """

    phase: str
    layer: str
    name: str
    parts: tuple[OperatorKey, ...] = ()
    planned: tuple[OperatorKey, ...] = ()
    fused: int = 1
    file: str = ""
    line: int = 0
    calls: float = 0.0
    seconds: float = 0.0
    bytes: float = 0.0
    flops: float = -1.0

    @property
    def gflops(self) -> float | None:
        """Billions of floating-point operations a second; None where none are counted."""
        return self.flops / self.seconds / 1e9 if self.flops > 0 and self.seconds else None

    def plain(self) -> dict[str, Any]:
        """For JSON and for other processes."""
        return asdict(self) | {
            "parts": [list(key) for key in self.parts],
            "planned": [list(key) for key in self.planned],
            "gflops": self.gflops,
        }


@dataclass
class LayerCosts:
    """The sums of the costs in a call of a Layer, with those of the calls in it.

    ``seconds`` has the time by phase. ``flops`` are of the operators that are counted, ``counted`` the
    seconds of these.
    """

    layer: str
    calls: float
    seconds: dict[str, float]
    bytes: float
    flops: float
    counted: float
    fused: int = 0

    @property
    def total(self) -> float:
        """Seconds of all phases."""
        return sum(self.seconds.values())

    @property
    def gflops(self) -> float | None:
        """Billions of floating-point operations a second of the operators that are counted."""
        return self.flops / self.counted / 1e9 if self.flops and self.counted else None

    def add(self, cost: Cost) -> None:
        """One more operator."""
        self.calls += cost.calls
        self.seconds[cost.phase] += cost.seconds
        self.bytes += cost.bytes
        if cost.flops >= 0:
            self.flops += cost.flops
            self.counted += cost.seconds

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "total": self.total, "gflops": self.gflops}


def costs_of(
    result: ProfilerResult, steps: int, root: str = "", program: Program | None = None
) -> list[Cost]:
    """The costs of a recording of ``steps`` steps, in the order of the first step.

    ``root`` is the call of the network in a step. ``program`` is that of a static step before the passes.
    """
    names = _Names(root)
    if program is not None:
        names.add(program)
    found: dict[Any, Cost] = {}
    orders: dict[Any, int] = {}
    for phase, span, seconds in _calls(result):
        if phase is None:  # another step begins
            orders.clear()
            continue
        work = span.work
        assert work is not None, "calls have"
        operator = work.operator
        if operator is not None:
            phase = _phase(operator, phase)
            key: Any = (phase, id(operator))
        else:
            same = (phase, work.layer, span.name)
            key = (*same, orders.setdefault(same, 0))
            orders[same] += 1
        cost = found.get(key)
        if cost is None:
            if operator is not None:
                cost = _cost_of(operator, phase, span.name, names)
            else:
                layer = _layer(work.layer, root, phase)
                parts = (OperatorKey(phase, layer, span.name, key[-1]),) if phase == FORWARD else ()
                cost = Cost(phase, layer, span.name, parts)
            cost.file, cost.line = work.file, work.line
            found[key] = cost
        cost.calls += 1 / steps
        cost.seconds += seconds / steps
        cost.bytes += work.bytes / steps
        if work.flops >= 0:
            cost.flops = max(cost.flops, 0.0) + work.flops / steps
    return list(found.values())


def by_layer(costs: Iterable[Cost]) -> list[LayerCosts]:
    """The sums of all calls of Layers, outer ones first, in the order in which they begin.

    The first one is the network itself, with the empty path; the loss and the optimizer come last.
    """
    found: dict[str, LayerCosts] = {"": _nothing("")}
    late: dict[str, LayerCosts] = {}
    below: dict[str, dict[str, None]] = {"": {}}
    for cost in costs:
        if cost.layer in (LOSS, OPTIMIZER):
            late.setdefault(cost.layer, _nothing(cost.layer)).add(cost)
            continue
        path = ""
        found[""].add(cost)
        for name in _around(cost.layer):
            below.setdefault(path, {})[name] = None
            path = name
            found.setdefault(name, _nothing(name)).add(cost)
        if cost.fused > 1:
            found[path].fused = max(found[path].fused, cost.fused)
    ordered: list[LayerCosts] = []
    waiting = [""]
    while waiting:
        path = waiting.pop()
        ordered.append(found[path])
        waiting += reversed(below.get(path, {}))
    return ordered + [late[name] for name in (LOSS, OPTIMIZER) if name in late]


def table_of(rows: Sequence[LayerCosts], seconds: float, peak: float) -> str:
    """Rows as text: times of one step, which took ``seconds`` while it was recorded; ``peak`` in GFLOP/s."""
    lines = [["layer", "calls", *PHASES, "ms", "share", "MB", "GFLOP/s", "of peak"]]
    for row in rows:
        rate = row.gflops
        depth = row.layer.count(".") + 1 if row.layer and row.layer not in (LOSS, OPTIMIZER) else 0
        name = row.layer.rpartition(".")[2] if depth else row.layer or "network"
        lines.append(
            [
                f"{'  ' * depth}{name}" + (f"  (fused: {row.fused} operators)" if row.fused else ""),
                f"{row.calls:g}",
                *[f"{1e3 * row.seconds[phase]:.3f}" if row.seconds[phase] else "" for phase in PHASES],
                f"{1e3 * row.total:.3f}",
                f"{row.total / seconds:.1%}",
                f"{row.bytes / 1e6:.2f}",
                "-" if rate is None else f"{rate:.1f}",
                "-" if rate is None or not peak else f"{rate / peak:.0%}",
            ]
        )
    outer = sum(row.total for row in rows if row.layer in ("", LOSS, OPTIMIZER))
    rest = seconds - outer
    lines.append(["(between the kernels)", "", "", "", "", f"{1e3 * rest:.3f}", f"{rest / seconds:.1%}"])
    lines.append(["a step", "", "", "", "", f"{1e3 * seconds:.3f}"])
    return aligned(lines)


def _layer(path: str, root: str, phase: str) -> str:
    return OPTIMIZER if phase == UPDATE else network_call(path, root)


def _nothing(layer: str) -> LayerCosts:
    return LayerCosts(layer, 0.0, dict.fromkeys(PHASES, 0.0), 0.0, 0.0, 0.0)


def _around(layer: str) -> Iterator[str]:
    """The paths of the calls around and at ``layer``, the outermost first."""
    parts = layer.split(".") if layer else []
    for count in range(len(parts)):
        yield ".".join(parts[: count + 1])


def _calls(result: ProfilerResult) -> Iterator[tuple[str | None, Span, float]]:
    """Phase, span and seconds, without those of kernels within it, of each call of a kernel; (None, span, 0)
    where a step begins."""
    for roots in result.get_data().values():
        # Trees are as deep as Layers call Layers, which Python's stack bears.
        for root in roots:
            yield from _within(root, FORWARD)


_PHASES = {"Backward": BACKWARD, "Optimization": UPDATE}


def _within(node: Any, phase: str) -> Iterator[tuple[str | None, Span, float]]:
    span = node.span
    if span.kind == "ProfileStep":
        yield None, span, 0.0
    phase = _PHASES.get(span.kind, phase)
    if span.work is not None:
        yield phase, span, (node.time - sum(_kernels(child) for child in node.children)) / 1e9
    for child in node.children:
        yield from _within(child, phase)


def _kernels(node: Any) -> int:
    """The time of the kernels in a node."""
    if node.span.work is not None:
        found: int = node.time
        return found
    return sum(_kernels(child) for child in node.children)


def _phase(operator: Operator, around: str) -> str:
    """The phase of an operator of a plan: its own role, else that of the span around it."""
    parts = (operator.notes or {}).get("parts")
    if parts:
        return _phase(parts[-1], around)
    own = role(operator)
    return UPDATE if own & 2 else BACKWARD if own & 1 else around


class _Names:
    """The keys of operators by the names of their results, in all Programs that a recording is about."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._known: dict[int, dict[str, OperatorKey]] = {}
        self._before: dict[str, OperatorKey] = {}
        self._programs: list[Program] = []  # keeps ids unique

    def add(self, program: Program) -> None:
        """The Program before the passes: the results of its operators have the same names after them."""
        self._before = self._keys(program)

    def _keys(self, program: Program) -> dict[str, OperatorKey]:
        found: dict[str, OperatorKey] = {}
        for _, _, key, operator in numbered(within_network(to_plain(program), self.root)):
            for names in operator["outputs"].values():
                for name in names:
                    found.setdefault(name, key)
        return found

    def of(self, operator: Operator) -> tuple[list[OperatorKey], list[OperatorKey]]:
        """The keys of an operator of a plan, or of those that it combines: before the passes, and after."""
        made = [v for each in _parts(operator) for v in variables_of(each.outputs)]
        replaced = [n for each in _parts(operator) for n in (each.notes or {}).get("replaced", ())]
        before = [self._before[n] for n in (*replaced, *(v.name for v in made)) if n in self._before]
        after = [key for v in made if (key := self._key(v)) is not None]
        return list(dict.fromkeys(before)), list(dict.fromkeys(after))

    def _key(self, variable: Variable) -> OperatorKey | None:
        program = variable.block.program
        if id(program) not in self._known:
            self._programs.append(program)
            self._known[id(program)] = self._keys(program)
        return self._known[id(program)].get(variable.name)


def _parts(operator: Operator) -> list[Operator]:
    inner = (operator.notes or {}).get("parts")
    return [operator] if inner is None else [each for part in inner for each in _parts(part)]


def _cost_of(operator: Operator, phase: str, name: str, names: _Names) -> Cost:
    before, after = names.of(operator)
    before = [key for key in before if key.phase == phase]
    layers = [key.layer for key in before or after]
    if layers:
        layer = layers[0] if len(set(layers)) == 1 else common_call(layers)
    else:
        layer = _layer(operator.layer, names.root, phase)
    fused = max(len(before), len(after), 1)
    return Cost(phase, layer, name, tuple(before), tuple(after), fused)
