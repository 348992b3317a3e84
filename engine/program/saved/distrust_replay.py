"""Says what is wrong with what runs operators again to go back through them: random keys
that are drawn once and used twice, and loops walked back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.core.operator import Operator
from engine.core.spec import Spec
from engine.program.graph.program import Block, Program, variables_of
from engine.program.graph.variable import Variable

_KEY = Spec((2,), "int64")
_STEPS = Spec((), "int64")


def reserved(program: Program) -> set[int]:
    """Variables (by id) that no operator computes: random keys, and what loops keep of every iteration."""
    found: set[int] = set()
    for block in program.blocks:
        for operator in block.ops:
            if operator.key is not None:
                found.add(id(operator.key))
            if operator.opdef.name == "while" and operator.attrs["steps"]:
                found.add(id(_steps_of(operator)))
    return found


def _steps_of(operator: Operator) -> Variable | None:
    block = next(variables_of(operator.outputs)).block
    return block.vars.get(operator.attrs["steps"])


def key_faults(program: Program) -> Iterator[str]:
    """Every random key is drawn by one operator, and whoever runs that again has it."""
    drawn: dict[int, str] = {}
    replayed: list[tuple[str, Operator]] = []
    for block in program.blocks:
        for number, operator in enumerate(block.ops):
            where = f"block {block.idx}, operator {number} ({operator.opdef.name})"
            key = operator.key
            if key is not None and not operator.opdef.random:
                yield f"{where}: has a random key, but draws nothing"
            elif key is not None and not _is_own(key, _KEY):
                yield f"{where}: {key.name!r} {key.spec} is no random key"
            elif operator.replay and operator.opdef.random:
                replayed.append((where, operator))
            elif key is not None and id(key) in drawn:
                yield f"{where}: draws {key.name!r}, which {drawn[id(key)]} draws"
            elif key is not None:
                drawn[id(key)] = where
    for where, operator in replayed:
        if operator.key is None or id(operator.key) not in drawn:
            yield f"{where}: runs again, but nothing draws its random key"
    for block in program.blocks:
        for variable in block.vars.values():
            if variable.block is not block and id(variable) not in drawn:
                yield f"block {block.idx}: {variable.name!r} belongs to block {variable.block.idx}"


def _is_own(variable: Variable | None, spec: Spec) -> bool:
    """Whether it is a Variable of that spec whose value is made while the Program runs."""
    return variable is not None and variable.spec == spec and not (variable.is_data or variable.persistable)


def steps_faults(operator: Operator, training: bool) -> Iterator[str]:
    """What a loop keeps of every iteration, which only training needs."""
    steps = operator.attrs["steps"]
    if not isinstance(steps, str) or (steps and not training):
        yield f"steps is {steps!r}; a model that only predicts keeps none"
    elif steps and not _is_own(_steps_of(operator), _STEPS):
        yield f"steps is {steps!r}, which can't keep what the loop goes through"


def walk_back_faults(block: Block, operator: Operator, body: Block) -> Iterator[str]:
    """A loop's gradient belongs to a loop before it, and names what it needs."""
    attrs = operator.attrs
    loop = next((o for o in _before(block, operator) if _is_walked(o, operator, body)), None)
    if loop is None:
        yield f"steps is {attrs['steps']!r}: no loop before it keeps these values"
        return
    outputs, starts = list(variables_of(operator.outputs)), operator.inputs[0]
    sums, count = attrs["sums"], len(starts)
    lists = {"grad_names": attrs["grad_names"], "carried": attrs["carried"]}
    lists |= {key: sums.get(key) if isinstance(sums, dict) else None for key in ("grads", "captured", "keys")}
    if not all(isinstance(v, list) and all(isinstance(n, str) for n in v) for v in lists.values()):
        yield "its names are no lists of names"
        return
    lengths = {key: len(value) for key, value in lists.items()}
    wanted = {"grad_names": count, "grads": count, "carried": len(outputs), "captured": len(outputs) - count}
    if any(lengths[key] != number for key, number in wanted.items()):
        yield f"it names {lengths} for {count} gradients and {len(outputs)} results"
        return
    found = {key: [body.find(name) for name in names] for key, names in lists.items()}
    absent = [n for key, names in lists.items() for n, v in zip(names, found[key], strict=True) if v is None]
    if absent:
        yield f"it names {absent[:3]}, which are not there"
        return
    if any(v is not None and v.block is not body for v in found["grad_names"]):
        yield "grad_names are not its own"
    if any(v is not None and v.spec != _KEY and v.spec != _STEPS for v in found["keys"]):
        yield "keys are no random keys"
    made = [*found["grads"], *found["captured"]]
    for output, carried, gradient in zip(outputs, found["carried"], made, strict=True):
        if not (_alike(output, carried) and _alike(output, gradient)):
            yield f"its result {output.name!r} {output.spec} can't be the gradient of what it names"
    for placeholder, start in zip(found["grad_names"], starts, strict=True):
        if not _alike(placeholder, start):
            yield f"{start.name!r} {start.spec} can't be the gradient of the last iteration"


def _alike(a: Any, b: Any) -> bool:
    pairs = zip(a.spec.shape, b.spec.shape, strict=False)
    same = a.dtype is b.dtype and a.spec.ndim == b.spec.ndim
    return same and all(m == n or -1 in (m, n) for m, n in pairs)


def _before(block: Block, operator: Operator) -> Iterator[Operator]:
    for each in block.ops:
        if each is operator:
            return
        yield each


def _is_walked(loop: Operator, operator: Operator, body: Block) -> bool:
    if loop.opdef.name != "while" or not operator.attrs["steps"]:
        return False
    index, blocks = loop.attrs["body_block"], body.program.blocks
    return (
        loop.attrs["steps"] == operator.attrs["steps"]
        and loop.attrs["loop_names"] == operator.attrs["loop_names"]
        and type(index) is int
        and 0 <= index < len(blocks)
        and blocks[index].parent_idx == body.parent_idx
    )
