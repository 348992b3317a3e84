"""Static training on several processes: gradients are reduced, first values are those of rank 0."""

from __future__ import annotations

import weakref

from engine.core import mode as modes
from engine.distributed import exchange
from engine.distributed.collectives import host
from engine.distributed.groups import Group, group_of
from engine.eager.tensor import write
from engine.ops.control import collectives
from engine.ops.training import parameter_updates
from engine.program.build.builder import Builder
from engine.program.graph.liveness import arguments
from engine.program.graph.program import Program
from engine.program.graph.program import writes as written_by
from engine.program.passes.all_reduce_gradients import all_reduce_gradients
from engine.program.passes.sync_batch_norms import sync_batch_norms
from engine.program.run.scope import Scope, value_of


class FirstValues:
    """Gives the state of a Program the values of rank 0, before its first run in each scope."""

    def __init__(self, program: Program, group: Group) -> None:
        self._group = group
        touched = {v.name: v for o in program.global_block().ops for v in (*arguments(o), *written_by(o))}
        self._variables = [v for _, v in sorted(touched.items()) if v.persistable]
        self._given: weakref.WeakSet[Scope] = weakref.WeakSet()

    def bring(self, scope: Scope) -> None:
        """Every process calls it. Raises ProgramError for a Variable without a value."""
        if scope in self._given:
            return
        tensors = [value_of(variable, scope) for variable in self._variables]
        for tensor in tensors:
            got = exchange.broadcast(self._group, host(tensor, "broadcast"), 0)
            if self._group.rank != 0:
                write(tensor, got)
        self._given.add(scope)


def parallel(
    program: Program,
    mean: bool = True,
    fuse: bool = True,
    sync_batch_norm: bool = False,
    group: Group | None = None,
) -> Program:
    """A copy of ``program`` that trains on all processes of ``group``; itself where there is one.

    ``mean`` says that gradients are averaged, not added up; ``fuse`` that they travel in one message;
    ``sync_batch_norm`` that batch norms count over all processes.
    """
    group = group_of(group, "data parallel")
    if group.nranks == 1:
        return program
    made = program.clone()
    _change(made, mean, fuse, sync_batch_norm, group)
    made.rates.append(FirstValues(made, group))
    return made


def parallelize(
    main: Program,
    startup: Program,
    mean: bool = True,
    fuse: bool = True,
    sync_batch_norm: bool = False,
    group: Group | None = None,
) -> None:
    """Change ``main``, whose loss was minimized, to train on all processes of ``group``: see ``parallel``.

    ``startup`` ends with the values of rank 0 in all of them. With one process nothing changes.
    """
    group = group_of(group, "data parallel")
    if group.nranks == 1:
        return
    _change(main, mean, fuse, sync_batch_norm, group)
    given = [v for v in startup.global_block().vars.values() if v.persistable]
    with modes.use(Builder(startup)):
        for variable in given:
            parameter_updates.assign_into(variable, collectives.c_broadcast(variable, ring_id=group.id))


def _change(program: Program, mean: bool, fuse: bool, sync_batch_norm: bool, group: Group) -> None:
    if sync_batch_norm:
        sync_batch_norms(program, group.id)
    all_reduce_gradients(program, group.id, mean, fuse)
