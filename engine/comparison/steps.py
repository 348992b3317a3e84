"""The operators of a Program one by one, with what each reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.program.graph.program import Program, Variable, reads, writes
from engine.program.run.plan import Plan


@dataclass(frozen=True)
class Step:
    """One operator that ran: what it read, with None for values that are not known, and what it wrote."""

    operator: Operator
    iterations: tuple[int, ...]
    inputs: list[tuple[str, Any]]
    outputs: list[tuple[str, Any]]


def steps(
    program: Program,
    ops: Sequence[Operator],
    inputs: Sequence[Variable],
    values: Sequence[Any],
    feeds: Mapping[str, Spec],
    xp: ModuleType = np,
) -> Iterator[Step]:
    """Run ``ops`` on the ``values`` of ``inputs`` and give each operator."""
    wanted = list({id(v): v for operator in ops for v in writes(operator)}.values())
    plan = Plan(program, ops, inputs, wanted, feeds, xp, passes=0)
    known = {id(v): value for v, value in zip(inputs, values, strict=True)}
    found = dict(zip(map(id, wanted), plan(list(values)), strict=True))
    for operator in ops:
        read = [(v.name, known.get(id(v))) for v in reads(operator)]
        written = [(v.name, found[id(v)]) for v in writes(operator)]
        known.update({id(v): found[id(v)] for v in writes(operator)})
        yield Step(operator, (), read, written)
