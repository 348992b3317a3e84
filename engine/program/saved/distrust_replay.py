"""Checks of replays in a Program that was read from an untrusted file.

Replayed operators reuse the random keys of the first run, and gradients of loops its iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.ops.control.flow import while_loop
from engine.program.graph.liveness import drawn_in
from engine.program.graph.program import Block, Program
from engine.program.graph.variable import Variable

_KEY = Spec((2,), "int64")
_STEPS = Spec((), "int64")


def reserved(program: Program) -> set[int]:
    """Variables (by id) that no operator computes: random keys, and the kept iterations of loops."""
    found: set[int] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.kept is not None:
                found.add(id(operator.kept))
    return found


def key_faults(program: Program) -> Iterator[str]:
    """Faults of random keys: one operator draws each, and every replay of that operator uses it."""
    drawn: dict[int, str] = {}
    replayed: list[tuple[str, Operator]] = []
    for block in program.blocks:
        for number, operator in enumerate(block.ops):
            where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
            key = operator.kept
            if operator.opdef is while_loop.opdef:
                continue  # keeps its iterations
            if key is not None and not operator.opdef.random:
                yield f"{where}: has a random key, but draws nothing"
            elif key is not None and not _is_own(key, _KEY):
                yield f"{where}: {key.name!r} {key.spec} is not a random key"
            elif operator.replay and operator.opdef.random:
                replayed.append((where, operator))
            elif key is not None and id(key) in drawn:
                yield f"{where}: draws {key.name!r}, which {drawn[id(key)]} draws"
            elif key is not None:
                drawn[id(key)] = where
    for where, operator in replayed:
        if operator.kept is None or id(operator.kept) not in drawn:
            yield f"{where}: runs again, but nothing draws its random key"


def _is_own(variable: Variable | None, spec: Spec) -> bool:
    """Whether it is a Variable of that spec that is neither fed nor persistable."""
    return variable is not None and variable.spec == spec and not (variable.is_data or variable.persistable)


def steps_faults(operator: Operator, training: bool) -> Iterator[str]:
    """Faults of the iterations that a loop keeps, which only training needs."""
    steps = operator.kept
    if steps is None:
        return
    if not training:
        yield f"keeps its iterations in {steps.name!r}; a model that only predicts keeps none"
    elif not _is_own(steps, _STEPS):
        yield f"{steps.name!r} {steps.spec} can't keep the iterations of the loop"


def walk_back_faults(block: Block, operator: Operator) -> Iterator[str]:
    """Faults of a loop's gradient: it must follow its loop and take that loop's values and random keys."""
    steps, (region,) = operator.inputs[3], operator.regions
    loops = [o for o in _before(block, operator) if o.opdef is while_loop.opdef and o.kept is steps]
    if not loops:
        yield f"steps is {steps.name!r}: no loop before it keeps that"
        return
    body = loops[0].regions[1]
    values, rest = operator.attrs["values"], len(region.arguments) - len(operator.inputs[0])
    if region.block.parent is not body.block.parent:
        yield "its region is not below the values of its loop"
    elif type(values) is not int or not _same(region.arguments[:values], body.arguments):
        yield "it takes other values than those of its loop"
    elif not _same(region.arguments[values:rest], drawn_in(body.block)):
        yield "it takes other random keys than those that its loop draws"
    elif not all(v.block is region.block and v.is_data for v in region.arguments[rest:]):
        yield "the gradients that it takes are not its own"


def _same(some: Sequence[Variable], others: Sequence[Variable]) -> bool:
    return [id(v) for v in some] == [id(v) for v in others]


def _before(block: Block, operator: Operator) -> Iterator[Operator]:
    for each in block.ops:
        if each is operator:
            return
        yield each
