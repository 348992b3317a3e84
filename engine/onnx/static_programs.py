"""A static Program that a user built, as the Program of a function: its inputs, its outputs, its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core.errors import ArgumentError
from engine.jit.input_spec import InputSpec
from engine.program.graph.liveness import arguments, needed, reads_inside, results, sub_blocks
from engine.program.graph.program import Program, Variable
from engine.program.passes.clone import clone
from engine.program.passes.prune import pruned
from engine.program.run.scope import value_of

WHERE = "onnx.export"


def function_of(
    program: Program,
    inputs: Sequence[Any] | InputSpec | Variable | None = None,
    outputs: Sequence[Any] | Variable | None = None,
) -> Program:
    """The operators of a Program that lead to ``outputs``, in inference mode, with the weights of the global
    scope.

    Args:
        inputs: Variables, InputSpecs or names; by default the data that the outputs need.
        outputs: Variables or names; by default what the last operators of the forward part compute.

    Raises ArgumentError for a name that the Program does not have, outputs that need other data, or a Program
    without results; ProgramError where a parameter has no value.
    """
    forward = clone(program, for_test=True)
    fetches = _leaves(forward) if outputs is None else _named(forward, outputs, "output_spec")
    if not fetches:
        raise ArgumentError(f"{WHERE}: the Program computes nothing; name the results in output_spec")
    feeds = _needed_data(forward, fetches) if inputs is None else _named(forward, inputs, "input_spec")
    made = pruned(program, feeds, fetches, WHERE)
    for variable in made.global_block().vars.values():
        if variable.persistable:
            made.bind(variable, value_of(variable))
    return made


def _leaves(program: Program) -> list[Variable]:
    """The results of the operators of which no result is read, in order."""
    ops = program.global_block().ops
    read = {id(v) for o in ops for v in _reads(o)}
    last = [o for o in ops if not any(id(v) in read for v in results(o))]
    return [v for o in last for v in results(o) if not v.persistable]


def _needed_data(program: Program, fetches: list[Variable]) -> list[Variable]:
    block = program.global_block()
    read = {v.name for o in needed(block.ops, fetches) for v in _reads(o)} | {v.name for v in fetches}
    return [v for v in block.vars.values() if v.is_data and v.name in read]


def _reads(operator: Any) -> list[Variable]:
    inside = [v for block in sub_blocks(operator) for v in reads_inside(block)]
    return [*arguments(operator), *inside]


def _named(program: Program, values: Any, what: str) -> list[Variable]:
    known = program.global_block().vars
    chosen = values if isinstance(values, list | tuple) else [values]
    names: list[Any] = [getattr(each, "name", each) for each in chosen]
    absent = [name for name in names if name not in known]
    if absent:
        raise ArgumentError(
            f"{WHERE}: {what} names {absent}, which the Program does not have; it has {sorted(known)[:9]}"
        )
    return [known[name] for name in names]
