"""Plan: operators of a Program as one flat function, compiled once for each (version, specs, results).

Stages make it, one after the other: ``choose`` the operators, ``fuse`` them, ``place`` their results,
``write`` the function. Each has a module in ``engine/program/run/stages`` and hands a ``Draft`` on.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from engine.core.operators.operator import Operator
from engine.core.spans import watch
from engine.core.values.spec import Spec
from engine.program.graph.program import Program, Variable
from engine.program.run.inspected import Inspected
from engine.program.run.stages.choose import choose
from engine.program.run.stages.fuse import fuse
from engine.program.run.stages.place import place

Array = Any


class Plan(Inspected):
    """A compiled sequence of operators: takes arrays for ``inputs``, in order, returns those of ``outputs``.

    The results belong to the caller: one that may share its array with an argument is copied; two of them may
    share one. Only constants are retained between calls. ``takes_weights`` is False where the weights are
    part of the plan. ``passes`` is the level of passes, by default the one in force: above 0 attention and
    elementwise operators are fused. One that ``consumes`` its arguments empties the list of them, and lets
    go of each after its last reader.
    """

    takes_weights = True

    def __init__(
        self,
        program: Program,
        ops: Sequence[Operator],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        feeds: Mapping[str, Spec],
        xp: ModuleType = np,
        passes: int | None = None,
        consumes: bool = False,
    ) -> None:
        from engine.program.run.stages.write import write  # with the first plan, not with the engine

        draft = choose(program, ops, inputs, outputs, feeds, xp, consumes)
        draft = fuse(draft, passes)
        draft = place(draft)
        self._describe(draft)
        self._take(write(draft))
        if xp is not np:
            from engine.program.run.cuda_graph.replay import Replay  # with the first plan on a GPU

            self._function = self.replay = Replay(self, program, self._lines, self._function)
        track(self)

    def __call__(self, values: Sequence[Array]) -> tuple[Array, ...]:
        if self._kernels.due:
            self._kernels.before_run()
        try:
            return self._function(values)
        except Exception as error:
            raise self.explained(error) from error.__cause__

    def settle(self, tensor_of: Callable[[Variable], Any]) -> None:
        """Let parameters that the last call updated one by one move into an arena, where they may.

        ``tensor_of`` gives the Tensor whose array a call gets for a Variable.
        """
        for update in self.updates:
            if update.missed:
                update.settle(tensor_of)

    def follow_recording(self) -> None:
        """Call kernels as operators give them now: timed ones while a profiler records."""
        self._kernels.follow()


_plans: weakref.WeakSet[Plan] = weakref.WeakSet()


def track(plan: Plan) -> None:
    """Let the plan follow recordings as long as it lives."""
    _plans.add(plan)


def _follow_recording(_: bool) -> None:
    for plan in list(_plans):
        plan.follow_recording()


watch.changing.append(_follow_recording)
