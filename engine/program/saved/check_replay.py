"""Checks of replays in a Program that was read from an untrusted file.

Replayed operators reuse the random keys of the first run, and gradients of loops its iterations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.core.operators import traits
from engine.core.operators.opdef import OpDef
from engine.core.operators.operator import Operator
from engine.core.values.spec import Spec
from engine.ops.control.flow import while_again, while_grad
from engine.program.graph.program import Block, Program
from engine.program.graph.replay_state import ITERATIONS, KEY, iteration_state, runs_again_as
from engine.program.graph.variable import Variable

# Operators of training: they go back through a loop.
BACKWARD = (while_again.opdef, while_grad.opdef)


def may_keep_iterations(opdef: OpDef) -> bool:
    """Whether it is a loop over values, which a gradient may walk back over or run again."""
    return opdef is while_again.opdef or opdef in runs_again_as


def reserved(program: Program) -> set[int]:
    """Variables (by id) that no operator computes: random keys, and the stored iterations of loops."""
    found: set[int] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.saved_state is not None:
                found.add(id(operator.saved_state))
    return found


def key_faults(program: Program) -> Iterator[str]:
    """Faults of random keys: one operator draws each, and every replay of that operator uses it."""
    drawn: dict[int, tuple[str, Operator]] = {}
    second: list[tuple[str, Operator]] = []
    for block in program.blocks:
        for number, operator in enumerate(block.ops):
            where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
            key = operator.saved_state
            again = operator.opdef is while_again.opdef or (operator.opdef.random and operator.replay)
            if again:
                second.append((where, operator))
            elif operator.replayed_state is not None:
                yield f"{where}: takes {operator.replayed_state.name!r}, but runs nothing again"
            if key is None:
                continue
            if not may_keep_iterations(operator.opdef):
                if not operator.opdef.random or again:
                    yield f"{where}: has a random key, but draws nothing"
                elif not _is_own(key, KEY):
                    yield f"{where}: {key.name!r} {key.spec} is not a random key"
            if id(key) in drawn:
                yield f"{where}: draws {key.name!r}, which {drawn[id(key)][0]} draws"
            drawn[id(key)] = where, operator
    for where, operator in second:
        _, first = drawn.get(id(operator.replayed_state), ("", None))
        if operator.replayed_state is None or first is None:
            yield f"{where}: runs again, but nothing draws its random key"
        elif operator.opdef not in traits.loops:
            if not first.opdef.random:
                yield f"{where}: {operator.replayed_state.name!r} is not the random key of one operator"
        elif runs_again_as.get(first.opdef) is not operator.opdef:
            yield f"{where}: {operator.replayed_state.name!r} is not stored by a loop"
        elif not _same(operator.regions[0].arguments[len(operator.inputs[0]) :], iteration_state(first)):
            yield f"{where}: it takes other random keys than those that its first run draws"


def _is_own(variable: Variable | None, spec: Spec) -> bool:
    """Whether it is a Variable of that spec that is neither fed nor persistable."""
    return variable is not None and variable.spec == spec and not (variable.is_data or variable.persistable)


def steps_faults(operator: Operator, training: bool) -> Iterator[str]:
    """Faults of the iterations that a loop stores, which only training needs."""
    steps = operator.saved_state
    if steps is None:
        return
    if not training:
        yield f"stores its iterations in {steps.name!r}; a model that only predicts stores none"
    elif not _is_own(steps, ITERATIONS):
        yield f"{steps.name!r} {steps.spec} can't keep the iterations of the loop"


def walk_back_faults(block: Block, operator: Operator) -> Iterator[str]:
    """Faults of a loop's gradient: it must follow its loop and take that loop's values and random keys."""
    steps, (region,) = operator.inputs[3], operator.regions
    loops = [o for o in _before(block, operator) if may_keep_iterations(o.opdef) and o.saved_state is steps]
    if not loops:
        yield f"steps is {steps.name!r}: no loop before it stores that"
        return
    body, own = loops[0].regions[-1], len(loops[0].inputs[0])
    values, rest = operator.attrs["values"], len(region.arguments) - len(operator.inputs[0])
    if region.block.parent is not body.block.parent:
        yield "its region is not below the values of its loop"
    elif type(values) is not int or not _same(region.arguments[:values], body.arguments[:own]):
        yield "it takes other values than those of its loop"
    elif not _same(region.arguments[values:rest], iteration_state(loops[0])):
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
