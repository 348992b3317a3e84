"""A Program as one operator on the tape, with plans for its forward and its backward part.

Parameters and buffers are read from (and effects written to) the eager Tensors that the Program
shares storage with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from engine.autodiff.tape import frees
from engine.core import mode as modes
from engine.core.containers.lru import LRU
from engine.core.errors import GradientError, ModeError
from engine.core.operators import traits
from engine.core.operators.opdef import op
from engine.core.operators.operator import Operator, at_line
from engine.core.place import array_module, current_place
from engine.core.values.bfloat import adopt
from engine.core.values.spec import Spec
from engine.eager.mode import connect, versions_of
from engine.eager.tensor import Tensor, counter_of, wrap
from engine.program.graph.liveness import Liveness, arguments, needed, results, with_sub_blocks, written
from engine.program.graph.program import Program, Variable, variables_of
from engine.program.passes.inference import copy_program
from engine.program.passes.pipeline import level, optimize
from engine.program.run.inspected import Inspected
from engine.program.run.plan import Plan
from engine.program.run.stages.choose import module_for

AnyPlan = TypeVar("AnyPlan", bound=Inspected, covariant=True)


class PlanMaker(Protocol[AnyPlan]):
    """Makes a plan of operators of a Program."""

    def __call__(
        self,
        program: Program,
        ops: Sequence[Operator],
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        feeds: Mapping[str, Spec],
        xp: ModuleType,
        *,
        consumes: bool = False,
    ) -> AnyPlan: ...


class Activation:
    """The values that a forward run keeps for its backward: saved arrays, inputs, drawn random keys.

    ``shapes`` are those of its outputs, because inference does not know all of them after a loop.
    """

    __slots__ = ("keys", "saved", "shapes", "tensors")

    def __init__(
        self, saved: Sequence[Any], tensors: Sequence[Tensor], keys: Sequence[Any], shapes: Sequence[Any]
    ) -> None:
        self.saved: Sequence[Any] | None = saved
        self.tensors = tensors
        self.keys = keys
        self.shapes = shapes


def _never(*_: Any, **__: Any) -> Any:
    raise ModeError(
        "run_program: only a ProgramRunner puts it on the tape; call the converted function instead"
    )


# The bare ``list`` makes xs a list of inputs in OpDef.
def _kernel(
    xp: Any,
    xs: list,  # type: ignore[type-arg]
    *,
    runner: Any = None,
    run: Any = None,
    activation: Any = None,
) -> Any:
    """A whole Program as one operator."""
    return _never()


RUN_PROGRAM = op("run_program", infer=_never, outputs=("outs",), output_list="outs", effect=True)(_kernel)
traits.opaque(traits.complex_gradient(RUN_PROGRAM))
RUN_PROGRAM.grad(xs=lambda g_outs, xs, runner, run, activation: runner.backward(run, activation, g_outs))


@dataclass(frozen=True, eq=False)
class Training(Generic[AnyPlan]):
    """The two plans of a training run for one set of shapes and wanted gradients.

    ``program`` computes ``gradients`` from ``inputs``, the incoming gradients ``fed``, and the random
    ``keys`` that the forward part draws; its first ``forward_count`` operators are the forward part.

    ``given`` and ``wanted`` are positions among inputs + bound: those whose value the backward needs, and
    those whose gradient it computes; ``overwritten`` are the given ones that the forward part replaces.
    ``fed_grads`` are the positions of the outputs whose gradient it takes, ``zeros`` their specs; ``shared``
    are those of the outputs whose array it reads.
    """

    program: Program
    forward: AnyPlan
    backward: AnyPlan
    given: list[int]
    overwritten: frozenset[int]
    wanted: list[int]
    fed_grads: list[int]
    zeros: list[Spec]
    shared: list[int]
    inputs: list[Variable]
    fed: list[Variable]
    keys: list[Variable]
    gradients: list[Variable]
    forward_count: int


class ProgramRunner:
    """Runs a Program that stands for a function of Tensors, after the passes of a level.

    ``keys`` are Variables of random keys, and of iterations with theirs, that the caller passes instead of
    drawing them. ``passes`` is the level, by default the one in force. ``frozen``: the weights stay, so plans
    without gradients are made for them (``engine/program/run/frozen``) where the Program changes nothing.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Variable],
        outputs: Sequence[Variable],
        keys: Sequence[Variable] = (),
        passes: int | None = None,
        frozen: bool = False,
    ) -> None:
        self.passes = level.get() if passes is None else passes
        if outputs and self.passes:
            program = optimize(program, self.passes, [v.name for v in outputs])
        block = program.global_block()
        self.program = program
        self.keys, self.inputs, self.outputs = (
            tuple([block.var(v.name) for v in group]) for group in (keys, inputs, outputs)
        )
        self.forward_ops = tuple(block.ops)
        self.bound = tuple(program.bound())
        replaced = Liveness.of(program).written
        self._writes = tuple([n for n, v in enumerate(self.bound) if v in replaced])
        self._inference: LRU[Any, Plan] = LRU("plans")
        self._freezes = frozen and _freezable(program, self.forward_ops)
        self._training: LRU[Any, Training[Plan]] = LRU("plans")
        self._gradients: LRU[Training[Plan], ProgramRunner] = LRU("plans")

    def __call__(self, tensors: Sequence[Tensor], keys: Sequence[Any] = ()) -> list[Tensor]:
        """The outputs for input Tensors in order; recorded on the tape where gradients are wanted."""
        bound = [v.tensor for v in self.bound]
        everything = [*tensors, *bound]
        arrays = [t._array for t in everything]
        device = arrays[0].__class__ if arrays else current_place().kind
        key: tuple[Any, ...] = (device, *[(a.shape, a.dtype) for a in arrays[: len(tensors)]])
        if modes.current().grad:
            wanted = tuple([n for n, t in enumerate(everything) if t._edge is not None])
            if wanted:
                return self._run_recorded(key, wanted, everything, [*arrays, *keys])
        plan = self._inference.get(key)
        if plan is None:
            plan = self._inference.ensure(key, partial(self._plan, arrays, self.outputs))
        if plan.takes_weights:
            results = plan([*arrays, *keys] if keys else arrays)
            if plan.updates:
                del arrays  # which hold the memory that may move
                plan.settle(lambda variable: variable.tensor)
        else:
            results = plan(arrays[: len(tensors)])
        self.note_writes()
        return [wrapped(r) for r in results]

    def frozen_plan(self, arrays: Sequence[Any]) -> Plan | None:
        """The plan for inputs of these shapes that takes them alone; None where runs need more."""
        weights = [v.tensor._array for v in self.bound if v.tensor is not None]
        if not self._freezes or module_for([*arrays, *weights]) is not np:
            return None
        key = (np.ndarray, *[(a.shape, a.dtype) for a in arrays])
        plan = self._inference.get(key)
        if plan is None:
            plan = self._inference.ensure(key, partial(self._plan, arrays, self.outputs))
        return None if plan.takes_weights else plan

    def forget(self) -> None:
        """Drop the plans that were made for shapes that were run."""
        self._inference.clear()

    def _plan(self, arrays: Sequence[Any], outputs: Sequence[Variable]) -> Plan:
        if self._freezes and module_for(arrays) is np:
            from engine.program.run.frozen.plan import FrozenPlan

            feeds = self._feeds(arrays)
            return FrozenPlan(self.program, self.forward_ops, self.inputs, outputs, feeds)
        return self.plan_by(partial(Plan, passes=self.passes), arrays, outputs)

    def plan_by(
        self, make: PlanMaker[AnyPlan], arrays: Sequence[Any], outputs: Sequence[Variable]
    ) -> AnyPlan:
        """A plan of the forward part for arrays of these shapes."""
        inputs = (*self.inputs, *self.bound, *self.keys)
        return make(self.program, self.forward_ops, inputs, outputs, self._feeds(arrays), module_for(arrays))

    def _feeds(self, arrays: Sequence[Any]) -> dict[str, Spec]:
        return {v.name: Spec(a.shape, a.dtype.name) for v, a in zip(self.inputs, arrays, strict=False)}

    def note_writes(self) -> None:
        """Increment the version counters of buffers whose values the run replaced."""
        for n in self._writes:
            counter_of(self.bound[n].tensor).count += 1

    def _run_recorded(
        self, key: Any, wanted: tuple[int, ...], everything: list[Tensor], arrays: list[Any]
    ) -> list[Tensor]:
        run, outputs, activation = self.forward_run(key, wanted, everything, arrays)
        if run.wanted:
            node = Operator(RUN_PROGRAM.opdef, None, {"runner": self, "run": run, "activation": activation})
            node.edges = ([everything[n]._edge for n in run.wanted],)
            node.inputs = ([everything[n] for n in run.wanted],)
            node.versions = versions_of(node.inputs)
            node.shapes = tuple([o._array.shape for o in outputs])
            # An output that the backward reads as well may not be changed in place before it.
            node.counters = tuple([(counter_of(outputs[n]), 0) for n in run.shared])
            connect([outputs[n] if n in run.fed_grads else None for n in range(len(outputs))], node)
        return outputs

    def forward_run(
        self, key: tuple[object, ...], wanted: tuple[int, ...], everything: list[Tensor], arrays: list[Any]
    ) -> tuple[Training[Plan], list[Tensor], Activation]:
        """The outputs of a run that keeps what the gradients at ``wanted`` need."""
        run = self._training.get((key, wanted))
        if run is None:
            run = self._training.ensure((key, wanted), partial(self._compile_training, wanted, arrays))
        given = [arrays[n].copy() if n in run.overwritten else arrays[n] for n in run.given]
        results = run.forward(arrays)
        self.note_writes()
        count, saved_values = len(self.outputs), len(results) - len(run.keys) + len(self.keys)
        keys = (*arrays[len(everything) :], *results[saved_values:])
        activation = Activation(
            (*results[count:saved_values], *given),
            everything[: len(self.inputs)],
            keys,
            [r.shape for r in results[:count]],
        )
        return run, [wrapped(r) for r in results[:count]], activation

    def _compile_training(self, wanted: tuple[int, ...], arrays: Sequence[Any]) -> Training[Plan]:
        return self.training_plans(partial(Plan, passes=self.passes), wanted, arrays)

    def training_plans(
        self,
        make: PlanMaker[AnyPlan],
        wanted: tuple[int, ...],
        arrays: Sequence[Any],
        roots: Sequence[int] | None = None,
    ) -> Training[AnyPlan]:
        """A copy of the Program with the backward operators, and plans of both parts for these shapes.

        The gradients are those of all outputs, or of those at ``roots``.
        """
        from engine.jit.differentiated import differentiate  # with the first step, not with the engine

        whole = differentiate(self, wanted, roots)
        program, everything, outputs, drawn = whole.program, whole.everything, whole.outputs, whole.drawn
        forward_ops, backward_ops, gradients = whole.forward_ops, whole.backward_ops, whole.gradients
        fed, fed_grads = whole.fed, whole.fed_grads
        given, saved_values = saved(forward_ops, backward_ops, everything, gradients)
        feeds = {
            v.name: Spec(a.shape, a.dtype.name)
            for v, a in zip(everything[: len(self.inputs)], arrays, strict=False)
        }
        xp = module_for(arrays[: len(self.inputs) + len(self.bound)])
        forward = make(program, forward_ops, everything, (*outputs, *saved_values, *drawn), feeds, xp)
        shapes = {v.name: forward.specs.get(id(v), v.spec) for v in (*saved_values, *given)}
        shapes |= {
            g.name: forward.specs.get(id(outputs[n]), g.spec) for g, n in zip(fed, fed_grads, strict=True)
        }
        taken = (*saved_values, *given, *fed)
        backward = make(program, backward_ops, taken, gradients, shapes, xp, consumes=True)
        place = {id(v): n for n, v in enumerate(everything)}
        zeros = [forward.specs.get(id(outputs[n]), outputs[n].spec) for n in fed_grads]
        live = Liveness(forward_ops)
        read = live.owners(saved_values)
        shared = [n for n, v in enumerate(outputs) if live.owner(v) in read]
        return Training(
            program,
            forward,
            backward,
            [place[id(v)] for v in given],
            frozenset(place[id(v)] for v in overwritten(forward_ops, given)),
            whole.made,
            fed_grads,
            zeros,
            shared,
            everything[: len(self.inputs)],
            fed,
            [*everything[len(self.inputs) + len(self.bound) :], *drawn],
            gradients,
            len(forward_ops),
        )

    def backward(
        self, run: Training[Plan], activation: Activation, grads: Sequence[Tensor | None]
    ) -> list[Tensor]:
        """Gradients of the wanted inputs and parameters, from those of the outputs (None: zero).

        For second derivatives they are computed by a Program on the tape: it replays the forward part with
        the random keys of the first run and without effects. Raises GradientError for an operator without a
        second derivative.
        """
        if modes.current().grad:
            return self._recorded_backward(run, activation, grads)
        model = next(g._array for g in grads if g is not None)
        xp = array_module(model)
        fed = []
        for n, spec in zip(run.fed_grads, run.zeros, strict=True):
            gradient = grads[n]
            if gradient is None:
                fed.append(xp.zeros(activation.shapes[n], spec.dtype.np))
            else:
                fed.append(gradient._array)
        saved = activation.saved
        if saved is None:
            raise GradientError(
                "run_program: an earlier backward ended with an error after it let go of values; call the "
                "function again"
            )
        if frees.get():
            activation.saved = None  # the plan lets go of each value after its last reader
        values = [*saved, *fed]
        del saved, fed
        return [wrapped(a) for a in run.backward(values)]

    def _recorded_backward(
        self, run: Training[Plan], activation: Activation, grads: Sequence[Tensor | None]
    ) -> list[Tensor]:
        runner = self._gradients.ensure(run, partial(_gradient_runner, run, self.passes))
        model = next(g for g in grads if g is not None)
        xp = array_module(model._array)
        fed: list[Tensor] = []
        for n, spec in zip(run.fed_grads, run.zeros, strict=True):
            gradient = grads[n]
            if gradient is None:
                gradient = wrap(adopt(xp.zeros(activation.shapes[n], spec.dtype.np)))
            fed.append(gradient)
        return runner([*activation.tensors, *fed], activation.keys)

    def plans(self) -> list[tuple[str, Plan]]:
        """The plans that were made so far, each with the part that it runs: forward or backward."""
        trained = [
            (part, plan)
            for run in self._training.values()
            for part, plan in (("forward", run.forward), ("backward", run.backward))
        ]
        return [*[("forward", plan) for plan in self._inference.values()], *trained]


def _freezable(program: Program, ops: Sequence[Operator]) -> bool:
    from engine.program.run.frozen.plan import freezable  # only predictors need it

    return freezable(program, ops)


def _gradient_runner(run: Training[Plan], passes: int) -> ProgramRunner:
    """The whole training Program as a function of inputs, incoming gradients and random keys."""
    forward = run.program.global_block().ops[: run.forward_count]
    if run.overwritten:
        raise GradientError(
            "to_static: a second derivative needs a value that the forward part replaced; call the function "
            "eagerly, or grad(create_graph=False)"
        )
    for operator in with_sub_blocks(forward):
        limited = operator.opdef in traits.order
        if limited and not all(v.stop_gradient for v in variables_of(operator.inputs)):
            raise at_line(
                GradientError(
                    f"{operator.type}: has gradients of order {traits.order[operator.opdef]} only; call "
                    "grad(create_graph=False)"
                ),
                operator,
            )
    # Effects took place and numbers were drawn when the forward part ran.
    inputs = (*run.inputs, *run.fed, *run.keys)
    program, copied = copy_program(run.program, inputs, run.gradients, replay=True)
    for variable in (*run.inputs, *run.fed):
        copied[variable].stop_gradient = not variable.dtype.is_inexact
    block = program.global_block()
    fed, keys = ([block.var(v.name) for v in group] for group in ((*run.inputs, *run.fed), run.keys))
    return ProgramRunner(program, fed, [copied[v] for v in run.gradients], keys, passes)


def overwritten(forward: Sequence[Operator], given: Sequence[Variable]) -> list[Variable]:
    """The Variables of ``given`` that the forward part replaces.

    Raises GradientError for one that is read later: its backward would need both values.
    """
    replaced = written(forward)
    found = [v for v in given if v in replaced]
    for variable in found:
        changed = False
        for operator in forward:
            if variable in written([operator]):
                changed = True
            elif changed and any(v is variable for v in arguments(operator)):
                raise at_line(
                    GradientError(
                        f"{operator.type}: reads {variable.name!r} after it was changed in place, and a "
                        "gradient needs it: clone() the value before the change, or detach() it"
                    ),
                    operator,
                )
    return found


def saved(
    forward: Sequence[Operator],
    backward: Sequence[Operator],
    everything: Sequence[Variable],
    gradients: Sequence[Variable],
) -> tuple[list[Variable], list[Variable]]:
    """The values that the backward part needs of the forward part: arguments, and computed values."""
    place = {id(v) for v in everything}
    available = {id(v) for o in forward for v in results(o)} | place
    wanted = [v for o in needed(backward, gradients) for v in arguments(o)] + list(gradients)
    saved = {id(v): v for v in wanted if id(v) in available}.values()
    return [v for v in saved if id(v) in place], [v for v in saved if id(v) not in place]


def wrapped(result: Any) -> Tensor:
    """A result of a plan as a Tensor; NumPy's kernels return scalars for results without dimensions."""
    return wrap(np.asarray(result) if isinstance(result, np.generic) else adopt(result))
