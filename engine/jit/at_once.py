"""Forward and backward of a converted function as one plan, for callers that want both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from engine.core import mode as modes
from engine.core.containers.lru import LRU
from engine.core.operators.operator import Leaf
from engine.core.values.spec import Spec
from engine.eager.backward import leaver
from engine.eager.tensor import Tensor
from engine.jit.differentiated import differentiate
from engine.jit.run_program import ProgramRunner, overwritten, saved, wrapped
from engine.program.run.concrete import concrete_specs
from engine.program.run.plan import Plan
from engine.program.run.stages.choose import module_for


@dataclass(frozen=True, eq=False)
class _Compiled:
    """The plan of forward and backward for one set of shapes: takes everything and the gradient to start
    from, gives the outputs and the gradients of the positions ``made``. No plan: it can't be one."""

    plan: Plan | None
    start: Any
    made: list[int]


class AtOnce:
    """Runs the Program of ``runner`` together with the gradients of its first output.

    Its operators are those of the two plans of ``runner``, so results are bitwise identical; but it retains
    nothing for a later backward.
    """

    def __init__(self, runner: ProgramRunner) -> None:
        self._runner = runner
        self._plans: LRU[Any, _Compiled] = LRU("plans")

    def __call__(self, tensors: Sequence[Tensor]) -> list[Tensor] | None:
        """The outputs; the gradients of the first one are added to the leaves, as its ``backward()`` would.

        One plan does both, so nothing is stored in between. None, and nothing is done, where that would be
        seen: hooks, a gradient that flows on into a graph, a first output without gradient, a value that the
        forward part replaces and a gradient needs.
        """
        everything = [*tensors, *[v.tensor for v in self._runner.bound]]
        wanted = tuple([n for n, t in enumerate(everything) if t._edge is not None])
        leaves = [everything[n]._edge for n in wanted]
        if self._runner.keys or not leaves or not modes.current().grad:
            return None
        if any(leaf.__class__ is not Leaf or leaf.hooks or leaf.watcher is not None for leaf in leaves):
            return None
        arrays = [t._array for t in everything]
        device = arrays[0].__class__
        key = (device, tuple([(a.shape, a.dtype) for a in arrays[: len(tensors)]]), wanted)
        run = self._plans.ensure(key, partial(self._compile, wanted, arrays))
        if run.plan is None:
            return None
        found = run.plan([*arrays, run.start])
        self._runner.note_writes()
        count = len(self._runner.outputs)
        leave = leaver()
        for n, gradient in zip(run.made, found[count:], strict=True):
            leave(everything[n]._edge, wrapped(gradient), True)
        return [wrapped(r) for r in found[:count]]

    def plans(self) -> list[Plan]:
        """The plans that were made so far."""
        return [run.plan for run in self._plans.values() if run.plan is not None]

    def _compile(self, wanted: tuple[int, ...], arrays: list[Any]) -> _Compiled:
        whole = differentiate(self._runner, wanted, (0,))
        feeds = {
            v.name: Spec(a.shape, a.dtype.name)
            for v, a in zip(whole.everything[: len(self._runner.inputs)], arrays, strict=False)
        }
        root = concrete_specs(whole.program, whole.forward_ops, feeds).get(id(whole.outputs[0]))
        given, _ = saved(whole.forward_ops, whole.backward_ops, whole.everything, whole.gradients)
        if not whole.fed or root is None or not root.known or overwritten(whole.forward_ops, given):
            return _Compiled(None, None, [])
        feeds[whole.fed[0].name] = root
        xp = module_for(arrays)
        plan = Plan(
            whole.program,
            (*whole.forward_ops, *whole.backward_ops),
            [*whole.everything, *whole.fed],
            [*whole.outputs, *whole.gradients],
            feeds,
            xp,
            self._runner.passes,
        )
        return _Compiled(plan, xp.ones(root.shape, root.dtype.np), whole.made)
