"""Gradients in a Program as the operators of their rules: for to_static, ``grad`` and sub-blocks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from engine.autodiff.symbolic import operator_gradients
from engine.core.operators.operator import Operator
from engine.program.backward.walk import Contributions, Incoming, RegionRule, Step, depends_on, walk_back
from engine.program.build.builder import current_builder
from engine.program.graph.program import Variable


class Inlined:
    """Emits the operators that gradient rules ask for, into the block that is being built."""

    sums_at_once = True  # a contribution's memory is free as soon as it is added

    def begin(self, path: Sequence[Step]) -> None:
        pass

    def gradients(self, step: Step, incoming: Incoming) -> Contributions:
        builder = current_builder()
        ops = [] if builder is None else builder.block.ops
        before = len(ops)
        found = operator_gradients(step.operator, incoming, [n for n, _ in step.targets])
        for made in ops[before:]:  # they belong to the line whose gradient they compute
            made.take_place(step.operator)
        return [(v, g) for (_, v), g in zip(step.targets, found, strict=True) if g is not None]

    def regions(
        self, rule: RegionRule, step: Step, incoming: Incoming, reached: Set[Variable]
    ) -> Contributions:
        return rule(step.operator, incoming, reached)

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
) -> list[Variable | None]:
    """Append to the block being built the gradients of ``sources``, from ``starts``.

    ``starts`` are Variables and their gradients; one that appears twice begins with the sum. ``ops`` are
    the forward operators, in order. Nothing flows into ``stops``. Returns one gradient a source,
    None for one that is not reached.
    """
    return walk_back(ops, starts, sources, Inlined(), depends_on(ops, sources, stops), stops)
