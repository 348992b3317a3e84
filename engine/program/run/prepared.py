"""Compilation for an Executor, once for each kind of call: the Program after the passes, then a plan for
shapes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from engine.core.containers.identity import IdentitySet
from engine.core.errors import ArgumentError, ProgramError
from engine.core.operators.operator import Operator
from engine.core.values.dtype import from_numpy
from engine.core.values.spec import Spec
from engine.ops.control.gradient import gradient
from engine.program.graph import lengths
from engine.program.graph.liveness import arguments, needed, stored_by
from engine.program.graph.program import Program, Variable, reads, writes
from engine.program.passes.pipeline import level, optimize
from engine.program.run.lod_tensor import Source, fed_rows
from engine.program.run.plan import Plan


class Prepared:
    """One kind of call of ``run``, apart from the shapes that are fed: the Program after the passes, and its
    Variables instead of names."""

    __slots__ = ("fed", "fetched", "program", "sources")

    def __init__(self, program: Program, fed: list[Variable], fetched: list[Variable]) -> None:
        self.program = program
        self.fed = fed
        self.fetched = fetched
        self.sources: list[Source] | None = None  # of a Program on sequences: where results have lengths from


class Compiled:
    """A plan, where the values that stay between runs come from and go to, and which fetches are copied."""

    __slots__ = ("copied", "noted", "plan", "read", "stored")

    def __init__(self, plan: Plan, read: list[Variable], stored: list[Variable]) -> None:
        self.plan = plan
        self.read = read
        self.stored = stored
        self.copied = _twice(plan)
        self.noted = [v.tensor for v in read if v.tensor is not None and v in plan.live.written]


def prepare(program: Program, feeds: Mapping[str, Any], wanted: Sequence[str]) -> Prepared:
    """The Program for these feeds and names of fetches. Raises ProgramError for Variables that nothing
    computes, ArgumentError for a feed of a computed one."""
    block = program.global_block()
    fetched = [program.latest(block.var(name)) for name in wanted]
    computed = {id(v) for o in block.ops for v in writes(o)}
    for variable in fetched:
        if not (id(variable) in computed or variable.persistable or variable.is_data):
            raise ProgramError(
                f"Executor.run: nothing computes {variable.name!r} {variable.spec}, so it can't be fetched; "
                "it is in the Program for its text only"
            )
    data = {v.name: v for v in block.vars.values() if v.is_data}
    fed: list[Variable] = []
    for name in feeds:
        target = data.get(name, block.vars.get(name))
        if target is None:
            warnings.warn(
                f"Executor.run: feed has {name!r}, which is not a Variable of the Program; it is not used",
                stacklevel=4,  # run and the cache are in between
            )
            continue
        if id(target) in computed and not target.is_data:
            raise ArgumentError(
                f"Executor.run: feed has {name!r}, which the Program computes; it takes {sorted(data)}"
            )
        fed.append(target)
    if not lengths.is_on_sequences(program):
        return _optimized(program, fed, fetched)
    sources: list[Source] = []
    for variable in list(fetched):
        found, strict = lengths.source(variable), lengths.source(variable, loose=False) is not None
        if isinstance(found, Operator):
            levels = lengths.lengths_of(found)
            sources.append((range(len(fetched), len(fetched) + len(levels)), strict))
            fetched += levels
        else:
            sources.append(([] if found is None else found.name, strict))
    prepared = _optimized(program, fed, fetched)
    prepared.sources = sources
    return prepared


def _optimized(program: Program, fed: list[Variable], fetched: list[Variable]) -> Prepared:
    """The Program after the passes; itself where they gain nothing: gradient operators read values that a
    fusion would omit, and a startup Program runs once."""
    passes, ops = level.get(), program.global_block().ops
    outputs = [v.name for v in (*fetched, *stored_by(ops))]
    trains = any(o.opdef is gradient.opdef for o in ops)
    if not passes or not outputs or trains or all(next(reads(o), None) is None for o in ops):
        return Prepared(program, fed, fetched)
    made = optimize(program, passes, outputs)
    block = made.global_block()
    return Prepared(made, [block.vars.get(v.name, v) for v in fed], [block.var(v.name) for v in fetched])


class Needs(NamedTuple):
    """The persistable Variables that a call reads, and those that it leaves values in."""

    read: list[Variable]
    stored: list[Variable]


def needs_of(prepared: Prepared) -> Needs:
    """What a call reads and stores. Raises ArgumentError for a feed that is missing."""
    ops = prepared.program.global_block().ops
    made = IdentitySet(prepared.fed)
    stored = [v for v in stored_by(ops) if v not in made]
    outputs = [*prepared.fetched, *stored]
    read: IdentitySet[Variable] = IdentitySet()
    for operator in needed(ops, outputs):
        read.update(v for v in arguments(operator) if v not in made)
        made.update(v for v in writes(operator) if not (v.persistable and v in read))
    read.update(v for v in prepared.fetched if v not in made)
    missing = [v.name for v in read if v.is_data and not v.persistable]
    if uneven := fed_rows(missing):
        raise ArgumentError(
            f"Executor.run: (InvalidArgument) the Program needs the lengths of the sequences in {uneven}, "
            "and feed has none; feed fluid.create_lod_tensor(rows, [[2, 3]], place)"
        )
    if missing:
        raise ArgumentError(
            f"Executor.run: the Program needs {missing}, which feed does not give; add them to feed"
        )
    return Needs([v for v in read if v.persistable], stored)


def compile_plan(prepared: Prepared, arrays: Sequence[Any], xp: ModuleType) -> Compiled:
    """The plan for feeds of these shapes. Raises ArgumentError for one that is missing."""
    persistable, stored = needs_of(prepared)
    outputs = [*prepared.fetched, *stored]
    program = prepared.program
    ops = program.global_block().ops
    feeds = {v.name: Spec(a.shape, from_numpy(a.dtype)) for v, a in zip(prepared.fed, arrays, strict=True)}
    plan = Plan(program, ops, [*prepared.fed, *persistable], outputs, feeds, xp)
    return Compiled(plan, persistable, stored)


def _twice(plan: Plan) -> set[int]:
    """The places of outputs whose memory a later output has too: one that is both fetched and stored, say.

    The plan itself copies outputs that have the memory of an input.
    """
    memories = [plan.live.owner(v) for v in plan.outputs]
    given = {id(v) for v in plan.inputs}
    return {n for n, each in enumerate(memories) if each in memories[n + 1 :] and each not in given}
