"""A traced function operator by operator: its forward, then the gradients of its first result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import ModeError
from engine.core.place import array_module
from engine.eager.tensor import Tensor
from engine.jit.run_program import Training
from engine.program.graph.program import Program
from engine.program.run.plan import Plan
from engine.program.run.stepping.plan import SteppingPlan
from engine.program.run.stepping.stepping import Stepping

if TYPE_CHECKING:
    from engine.jit.concrete_program import ConcreteProgram

Array = Any


class SteppedFunction:
    """The Program of a traced function without fusions, for these inputs, as stepping plans.

    Attributes:
        program: the Program of both plans: the operators of the forward part, then those of the backward.
        forward: the plan of the forward part.
        backward: that of the gradients of the first result; None where nothing takes gradients.
        tensors: the inputs, parameters and buffers, in the order of ``forward.inputs``.

    Raises ModeError for a function that calls ``backward()`` or ``step()`` itself.
    """

    def __init__(self, concrete: ConcreteProgram, inputs: Sequence[Tensor]) -> None:
        if concrete.trains_itself:
            raise ModeError(
                "stepping: the function calls backward() or step() itself; take one that returns the loss"
            )
        self._concrete, self._inputs = concrete, inputs
        runner = concrete.runner_without_fusions()
        self.tensors: list[Tensor] = [*inputs, *(v.tensor for v in runner.bound)]
        self.count = len(runner.outputs)
        arrays = [t._array for t in self.tensors]
        wanted = tuple(n for n, t in enumerate(self.tensors) if t._edge is not None)
        self.training: Training[SteppingPlan] | None = None
        self.backward: SteppingPlan | None = None
        if wanted:
            self.training = made = runner.training_plans(SteppingPlan, wanted, arrays, roots=(0,))
            self.program: Program = made.program
            self.forward, self.backward = made.forward, made.backward if made.fed else None
        else:
            self.program = runner.program
            self.forward = runner.plan_by(SteppingPlan, arrays, runner.outputs)

    @property
    def forward_count(self) -> int:
        """How many operators of the outermost Block are the forward part."""
        if self.training is not None:
            return self.training.forward_count
        return len(self.program.global_block().ops)

    def arrays(self) -> dict[str, Array]:
        """What a run begins with, by name: the inputs, parameters and buffers as they are now."""
        return {v.name: t._array for v, t in zip(self.forward.inputs, self.tensors, strict=True)}

    def plans(self) -> list[tuple[str, Plan]]:
        """New plans that run the function for these inputs, after the passes, each with its part's title.

        They say what is computed otherwise: see :mod:`engine.program.run.stepping.otherwise`.
        """
        runner = self._concrete.runner
        tensors = [*self._inputs, *(v.tensor for v in runner.bound)]
        arrays = [t._array for t in tensors]
        wanted = tuple(n for n, t in enumerate(tensors) if t._edge is not None)
        if self.backward is None:
            return [("forward", runner.plan_by(partial(Plan, passes=runner.passes), arrays, runner.outputs))]
        made = runner.training_plans(partial(Plan, passes=runner.passes), wanted, arrays, roots=(0,))
        return [("forward", made.forward), ("backward", made.backward)]

    def begin(self, changed: Mapping[str, Array] | None = None) -> SteppedRun:
        """Start a run, with other arrays for the Variables that ``changed`` names."""
        values = self.arrays() | dict(changed or {})
        return SteppedRun(self, [values[v.name] for v in self.forward.inputs])


class SteppedRun:
    """One run: ``forward``, and once that has ended ``begin_backward()``; ``given`` is what it began with."""

    def __init__(self, function: SteppedFunction, given: Sequence[Array]) -> None:
        self._function = function
        self.given = given
        self.forward: Stepping = function.forward.begin(given)
        self.backward: Stepping | None = None

    @property
    def outputs(self) -> tuple[Array, ...]:
        """The function's results. Raises ProgramError before the end of the forward part."""
        return self.forward.results[: self._function.count]

    def begin_backward(self, start: Array | None = None) -> Stepping:
        """Start the backward part with the gradient of the first result, by default ones.

        Raises ProgramError before the end of the forward part, ModeError where nothing takes gradients.
        """
        results, made = self.forward.results, self._function.training
        if made is None or self._function.backward is None:
            raise ModeError("stepping: the first result depends on nothing that takes gradients")
        loss = results[0]
        if start is None:
            start = array_module(loss).ones(loss.shape, loss.dtype)
        saved = results[self._function.count : len(results) - len(made.keys)]
        self.backward = made.backward.begin([*saved, *[self.given[n] for n in made.given], start])
        return self.backward

    @property
    def gradients(self) -> list[tuple[Tensor, Array]]:
        """The inputs and parameters that take gradients, with those.

        Raises ProgramError before the end of the backward part, ModeError before its begin.
        """
        made = self._function.training
        if made is None or self.backward is None:
            raise ModeError("stepping: the backward part has not begun; call begin_backward()")
        pairs = zip(made.wanted, self.backward.results, strict=True)
        tensors = self._function.tensors
        return [(tensors[n], np.asarray(g) if isinstance(g, np.generic) else g) for n, g in pairs]
