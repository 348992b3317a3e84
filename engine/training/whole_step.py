"""A whole training step operator by operator: forward, backward, and what the update does to each parameter.

Nothing that is trained changes: the update is computed on copies.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import TYPE_CHECKING, Any, Protocol

from engine.core import names
from engine.core.containers import nest
from engine.core.errors import ModeError
from engine.core.operators.operator import Leaf
from engine.core.place import array_module
from engine.core.values.bfloat import adopt
from engine.eager.tensor import Tensor, wrap, write
from engine.optimizer import LBFGS, Optimizer
from engine.training.randomness import random_state, set_random_state

if TYPE_CHECKING:
    from engine.jit.static_function import StaticFunction
    from engine.jit.stepped import SteppedFunction, SteppedRun
    from engine.nn import Layer
    from engine.program.run.stepping.otherwise import Otherwise
    from engine.program.run.stepping.plan import SteppingPlan
    from engine.program.run.stepping.stepping import Stepping

Array = Any


class Scaler(Protocol):
    """What is used of a GradScaler."""

    def scale(self, var: Tensor) -> Tensor:
        """The scaled loss."""

    def step(self, optimizer: Optimizer) -> None:
        """Update with gradients divided by the scale, unless some are not finite."""

    def update(self) -> None:
        """Change the scale."""


@dataclass(frozen=True, eq=False)
class UpdatedParameter:
    """What an update does to one parameter: ``name`` is its path in the network, ``variable`` its name in the
    Program; ``gradient`` is as the backward part gave it, before clipping, decay and the scale of a loss."""

    name: str
    variable: str
    before: Array
    gradient: Array
    after: Array


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a step that has operators; ``begin`` starts it, once the part before it has ended."""

    title: str
    plan: SteppingPlan
    begin: Callable[[], Stepping]


class WholeStep:
    """One training step of ``step``, a Layer or function that gives the loss of ``inputs`` as its first
    result.

    ``parts`` are "forward" and, where anything takes gradients, "backward": they run in this order, any
    number of times. ``updates`` gives the rows of the update after them. Random operators draw from the
    default generator, whose state the caller restores.

    Args:
        scaler: a GradScaler, whose scale the backward part starts with.
        network: names the parameters; by default ``step``.

    Raises ConversionError where ``step`` can't be converted to a Program, ModeError where it trains itself.
    """

    def __init__(
        self,
        step: Layer | Callable[..., object],
        optimizer: Optimizer | None,
        inputs: Sequence[object],
        scaler: Scaler | None = None,
        network: Layer | None = None,
    ) -> None:
        from engine.jit.stepped import SteppedFunction  # few trainings are debugged

        concrete, _ = _static(step).get_concrete_program(*inputs)
        tensors = [leaf for leaf in nest.flatten(list(inputs)) if isinstance(leaf, Tensor)]
        self.function: SteppedFunction = SteppedFunction(concrete, tensors)
        self._optimizer, self._scaler = optimizer, scaler
        named = getattr(step if network is None else network, "named_parameters", None)
        self._names = {} if named is None else {id(p): name for name, p in named()}
        self._run: SteppedRun | None = None
        self.parts: list[Part] = [Part("forward", self.function.forward, self.begin_forward)]
        if self.function.backward is not None:
            self.parts.append(Part("backward", self.function.backward, self.begin_backward))

    def begin_forward(self, changed: Mapping[str, Array] | None = None) -> Stepping:
        """Start the forward part, with other arrays for the Variables that ``changed`` names."""
        self._run = self.function.begin(changed)
        return self._run.forward

    def begin_backward(self) -> Stepping:
        """Start the backward part. Raises ProgramError before the end of the forward part."""
        self._scaling = copy.deepcopy(self._scaler)
        return self.begun.begin_backward(self._start(self.begun))

    @property
    def begun(self) -> SteppedRun:
        """The run that was begun last. Raises ModeError where there is none."""
        if self._run is None:
            raise ModeError("step: it has not begun; call begin_forward()")
        return self._run

    def _start(self, run: SteppedRun) -> Array | None:
        """The gradient of the loss: the scale of a scaler, None for ones."""
        if self._scaling is None:
            return None
        loss = run.outputs[0]
        ones = wrap(adopt(array_module(loss).ones(loss.shape, loss.dtype)))
        scaled = self._scaling.scale(ones)._array
        return scaled.reshape(loss.shape).astype(loss.dtype)

    def computed_otherwise(self) -> list[tuple[str, Otherwise]]:
        """What the plans of a training fuse, or leave to compiled kernels, each with the title of its part.

        Their kernels are those that plans take where this is called.
        """
        from engine.program.run.stepping.otherwise import computed_otherwise

        return [(title, row) for title, plan in self.function.plans() for row in computed_otherwise(plan)]

    @property
    def trained(self) -> list[tuple[str, str]]:
        """Path in the network and Variable of each parameter that ``updates`` has a row for, in its order."""
        made = self.function.training
        if self._optimizer is None or made is None or self.function.backward is None:
            return []
        own = set(map(id, self._optimizer._all()))
        found = [self.function.tensors[n] for n in made.wanted]
        return [(self._names.get(id(p), p.name), p.name) for p in found if id(p) in own]

    # -- update --------------------------------------------------------------------------------------------
    def updates(self) -> list[UpdatedParameter]:
        """What the update does to each parameter with a gradient, computed on copies.

        Raises ProgramError before the end of the backward part.
        """
        run = self.begun
        pairs, before = self._pairs(run), self._values(run)
        if self._optimizer is None or not pairs:
            return []
        memo: dict[int, Any] = {}
        with names.guard():
            optimizer = copy.deepcopy(self._optimizer, memo)
        for parameter in self._optimizer._all():
            own = memo[id(parameter)]
            own.name = parameter.name  # by which a rule may choose
            write(own, before.get(parameter.name, parameter._array))
        random = random_state()  # from which L-BFGS draws
        self._update(optimizer, copy.deepcopy(self._scaling), memo, pairs, {})
        set_random_state(random)
        return [
            UpdatedParameter(
                self._names.get(id(parameter), parameter.name),
                parameter.name,
                before[parameter.name].copy(),  # training goes on in this array
                gradient,
                memo[id(parameter)]._array,
            )
            for parameter, gradient in pairs
        ]

    def keep(self) -> None:
        """Take over what the step does to parameters, buffers and the optimizer's state.

        Raises ProgramError before the end of the backward part.
        """
        run = self.begun
        pairs, buffers = self._pairs(run), dict(run.forward.changed)
        if self._optimizer is not None and pairs:
            self._update(self._optimizer, self._scaler, {}, pairs, buffers)
            if self._scaler is not None:
                self._scaler.update()
            self._optimizer.clear_grad(set_to_zero=False)
        for variable, tensor in zip(self.function.forward.inputs, self.function.tensors, strict=True):
            if variable.name in buffers:
                write(tensor, buffers[variable.name])

    def _values(self, run: SteppedRun) -> dict[str, Array]:
        """What a run began with, by name."""
        return {v.name: a for v, a in zip(self.function.forward.inputs, run.given, strict=True)}

    def _pairs(self, run: SteppedRun) -> list[tuple[Any, Array]]:
        """The optimizer's parameters with their gradients, after the hooks of those."""
        if self._optimizer is None or self.function.backward is None:
            return []
        own = set(map(id, self._optimizer._all()))
        found = []
        for parameter, gradient in run.gradients:
            leaf = parameter._edge
            if id(parameter) in own and isinstance(leaf, Leaf):
                for hook in leaf.hooks or ():
                    replaced = hook(wrap(adopt(gradient)))
                    gradient = gradient if replaced is None else replaced._array
                found.append((parameter, gradient))
        return found

    def _update(
        self,
        optimizer: Optimizer,
        scaler: Scaler | None,
        copies: Mapping[int, Any],
        pairs: Sequence[tuple[Any, Array]],
        buffers: dict[str, Array],
    ) -> None:
        """Let ``optimizer`` update its parameters, which are the network's or, by id of those, ``copies``."""

        def leave(pairs: Sequence[tuple[Any, Array]]) -> None:
            for parameter, gradient in pairs:
                leaf = copies.get(id(parameter), parameter)._edge
                given = gradient if scaler is None else gradient.copy()  # which divides it in place
                leaf.grad, leaf.cleared, leaf.shown = wrap(adopt(given)), None, False

        known, values = [self.begun], self._values(self.begun)

        def closure() -> Tensor:
            if known:  # the first call is about the weights that the step began with
                run = known.pop()
            else:
                values.update({p.name: copies.get(id(p), p)._array for p, _ in pairs})
                run = self.function.begin(values)
                run.forward.finish()
                run.begin_backward().finish()
                leave(self._pairs(run))
            values.update(run.forward.changed)
            buffers.update(run.forward.changed)
            return wrap(adopt(run.outputs[0]))

        leave(pairs)
        if isinstance(optimizer, LBFGS):  # which computes gradients at other weights
            optimizer.step(closure)
        elif scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)


def _static(step: Layer | Callable[..., object]) -> StaticFunction:
    """The converted function; a Layer stays as it is."""
    from engine.jit.static_function import StaticFunction

    forward: Any = getattr(step, "forward", step)
    if isinstance(forward, StaticFunction):
        return forward
    if isinstance(forward, MethodType):
        return StaticFunction(forward.__func__, None, forward.__self__)
    return StaticFunction(forward)
