"""Gradients in a Program as the operators of their rules: for to_static, ``grad`` and sub-blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from typing import Any

from engine.autodiff.symbolic import operator_gradients
from engine.core.operators.operator import Operator
from engine.program.backward.walk import Contributions, Incoming, RegionRule, Step, depends_on, walk_back
from engine.program.build.builder import current_builder
from engine.program.graph.liveness import with_sub_blocks
from engine.program.graph.program import Variable

Noting = Callable[[Operator, Incoming, list[tuple[Variable, Variable]]], None]
"""Takes note of an operator of the way back, the gradients of its outputs, and those of its inputs."""


class Inlined:
    """Emits the operators that gradient rules ask for, into the block that is being built.

    ``note`` is called for each operator that gradients flow back through.
    """

    sums_at_once = True  # a contribution's memory is free as soon as it is added

    def __init__(self, note: Noting | None = None) -> None:
        self._note = note

    def begin(self, path: Sequence[Step]) -> None:
        pass

    def gradients(self, step: Step, incoming: Incoming) -> Contributions:
        builder = current_builder()
        ops = [] if builder is None else builder.block.ops
        before = len(ops)
        found = operator_gradients(step.operator, incoming, [n for n, _ in step.targets])
        for emitted in ops[before:]:  # they belong to the line whose gradient they compute
            emitted.take_place(step.operator)
        made = [(v, g) for (_, v), g in zip(step.targets, found, strict=True) if g is not None]
        if self._note is not None:
            self._note(step.operator, incoming, made)
        return made

    def regions(
        self, rule: RegionRule, step: Step, incoming: Incoming, reached: Set[Variable]
    ) -> Contributions:
        builder = current_builder()
        ops = [] if builder is None else builder.block.ops
        before = len(ops)
        made = list(rule(step.operator, incoming, reached))
        for emitted in with_sub_blocks(ops[before:]):
            if not emitted.layer and step.operator.layer:  # what no operator within the regions has asked for
                emitted.take_place(step.operator)
        if self._note is not None:
            self._note(step.operator, incoming, made)
        return made

    def total(self, variable: Variable, parts: Sequence[Variable]) -> Any:
        result: Any = parts[0]
        for part in parts[1:]:
            result = result + part
        return result


def inline_gradients(
    ops: Sequence[Operator],
    starts: Iterable[tuple[Variable, Variable]],
    sources: Sequence[Variable],
    stops: Set[Variable] = frozenset(),
    note: Noting | None = None,
) -> list[Variable | None]:
    """Append to the block being built the gradients of ``sources``, from ``starts``.

    ``starts`` are Variables and their gradients; one that appears twice begins with the sum. ``ops`` are
    the forward operators, in order. Nothing flows into ``stops``. ``note`` sees each operator on the way.
    Returns one gradient a source, None for one that is not reached.
    """
    return walk_back(ops, starts, sources, Inlined(note), depends_on(ops, sources, stops), stops)
