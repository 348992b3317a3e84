"""One step of an optimizer as operators of a Program: gradients, clip, weight decay, updates."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError
from engine.core.operators.opdef import OPS
from engine.core.place import is_cupy
from engine.core.values.spec import Spec
from engine.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from engine.ops.elementwise import arithmetic, extremes, power
from engine.ops.linalg import products as linalg
from engine.ops.training import parameter_updates
from engine.optimizer.groups import Group
from engine.optimizer.lr import LRScheduler
from engine.program.backward.append_backward import append_backward
from engine.program.build.annotate import marked, name_scope
from engine.program.build.builder import Builder, current_builder
from engine.program.build.by_slot import append_into
from engine.program.graph.program import OPTIMIZE, Program
from engine.program.graph.variable import Variable
from engine.program.run.executor import default_startup_program
from engine.program.run.scope import Scope, give_value, global_scope, value_of
from engine.tensor.creation import full
from engine.tensor.tensor_like import AnyTensor

if TYPE_CHECKING:
    from engine.optimizer.optimizer import Optimizer

Pairs = list[tuple[Any, Any]]


class Rate:
    """The learning rate of an optimizer as a Variable, which an Executor sets before each run."""

    def __init__(self, optimizer: Optimizer, variable: Variable) -> None:
        self.optimizer = optimizer
        self.name = variable.name
        self.shape, self.dtype = variable.spec.shape, variable.dtype.np
        self._last: float | None = None

    def bring(self, scope: Scope) -> None:
        """Store the rate in ``scope`` where a schedule or ``set_lr`` has changed it."""
        value = self.optimizer.get_lr()
        known = scope.find_var(self.name)
        scheduled = isinstance(self.optimizer._learning_rate, LRScheduler)
        if scheduled or (self._last is not None and value != self._last) or known is None:
            found = None if known is None or known.tensor is None else known.tensor._array
            if (
                found is not None
                and is_cupy(found)
                and (found.shape, found.dtype) == (tuple(self.shape), np.dtype(self.dtype))
            ):
                found.fill(value)  # the number comes with the launch, and a graph finds it where it was
            else:
                (known or scope.var(self.name)).store(np.full(self.shape, value, self.dtype))
        self._last = value


class StaticStep:
    """The Variables that an optimizer appended: its learning rate and the state of each parameter."""

    def __init__(self, optimizer: Optimizer) -> None:
        self.optimizer = optimizer
        self.states: dict[int, tuple[Variable, ...]] = {}
        self.variables: list[Variable] = []
        self.rates: dict[int, Variable] = {}
        self.masters: dict[str, Variable] = {}  # float32 copies by the parameter's name

    def minimize(
        self,
        loss: Variable,
        startup_program: Program | None,
        parameters: Iterable[AnyTensor | str] | None,
        no_grad_set: Iterable[AnyTensor | str] | None,
    ) -> tuple[list[Any], Pairs]:
        """Append the backward and one step on ``loss``; returns the operators and the pairs."""
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        return self.apply(loss.block.program, pairs, startup_program), pairs

    def backward(
        self,
        loss: Variable,
        startup_program: Program | None,
        parameters: Iterable[AnyTensor | str] | None,
        no_grad_set: Iterable[AnyTensor | str] | None,
    ) -> Pairs:
        chosen: Iterable[Any] | None = parameters
        if chosen is None:
            chosen = self.optimizer._all() or None
        return append_backward(loss, chosen, no_grad_set)

    def apply(self, program: Program, pairs: Pairs, startup_program: Program | None = None) -> list[Any]:
        """Append clip, weight decay and the updates of ``pairs``."""
        if not pairs:
            raise ArgumentError(
                f"{type(self.optimizer).__name__}.minimize: the loss depends on no parameter that trains"
            )
        pairs = sorted(pairs, key=lambda pair: pair[0].name)
        builder = current_builder()
        startup = startup_program or (builder and builder.startup) or default_startup_program()
        block = program.global_block()
        first = len(block.ops)
        with modes.use(Builder(program, startup=startup)):
            for group, own in self._grouped(pairs):
                self._update_group(program, startup, group, own)
        return block.ops[first:]

    def _grouped(self, pairs: Pairs) -> list[tuple[Group, Pairs]]:
        groups = self.optimizer._groups
        if len(groups) == 1:
            return [(groups[0], pairs)]
        members = {p.name: group for group in groups for p in group.params}
        return [(g, [pair for pair in pairs if members.get(pair[0].name) is g]) for g in groups]

    def _update_group(self, program: Program, startup: Program, group: Group, pairs: Pairs) -> None:
        optimizer = self.optimizer
        with name_scope("gradient_clip"):
            pairs = pairs if group.clip is None else _clipped(group.clip, pairs)
        decayed = []
        with name_scope("regularization"):
            for parameter, gradient in pairs:
                decay = parameter.regularizer or group.decay
                with _for(parameter, gradient):
                    decayed.append((parameter, self._decayed(parameter, gradient, decay), decay))
        rate = self._rate(program, startup)
        states = [self._keep(program, startup, p, group) for p, _, _ in decayed]
        for (parameter, gradient, decay), own in zip(decayed, states, strict=True):
            with _for(parameter, gradient), name_scope("optimizer"):
                factor = parameter.optimize_attr["learning_rate"]
                own_rate = rate if factor == 1.0 else arithmetic.scale(rate, scale=float(factor))
                target = parameter
                if self._uses_master(parameter):
                    target = self._master(program, startup, parameter)
                    if gradient.dtype is not target.dtype:
                        gradient = arithmetic.cast(gradient, out_dtype="float32")
                optimizer._update(target, gradient, own_rate, own, group.options, decay, parameter)
                if target is not parameter:
                    low = arithmetic.cast(target, out_dtype=parameter.dtype.name)
                    parameter_updates.assign_into(parameter, low)

    def _uses_master(self, parameter: Any) -> bool:
        return bool(self.optimizer._multi_precision) and parameter.dtype.itemsize < 4

    def _master(self, program: Program, startup: Program, parameter: Any) -> Variable:
        """The float32 copy of a parameter, which the startup Program makes of the parameter's first value."""
        found = self.masters.get(parameter.name)
        if found is None:
            name = program.unique_name(f"{parameter.name}_fp32_master")
            dims = parameter.spec.shape
            found = self.masters[parameter.name] = _persistable(program, name, dims, "float32", stop=False)
            block = startup.global_block()
            twin = _twin(startup, found)
            first = block.vars.get(parameter.name)
            if first is None:  # its first value comes from elsewhere
                first = block.create_var(parameter.name, found.spec, persistable=True)
            append_into(block, OPS["cast"], (first,), {"out_dtype": "float32"}, (twin,), None)
            self.variables.append(found)
        return found

    def _decayed(self, parameter: Any, gradient: Any, decay: Any) -> Any:
        if decay is None:
            return gradient
        builder = current_builder()
        assert builder is not None, "operators are being appended"
        with builder.calls.forced("_generated_var"):
            term = self.optimizer._decay_term(parameter, decay)
        if term is None:
            return gradient
        with builder.calls.forced(f"{gradient.name}@DECAYED"):
            result = arithmetic.add_n([gradient, term])
        result.shown_name = gradient.shown_name or gradient.name
        return result

    def _rate(self, program: Program, startup: Program) -> Variable:
        """The learning rate as a persistable Variable."""
        found = self.rates.get(id(program))
        if found is None:
            name = program.unique_name("learning_rate")
            found = self.rates[id(program)] = _persistable(
                program, name, self.optimizer._rate_shape, "float32", stop=True
            )
            _first_value(startup, found, self.optimizer.get_lr())
            program.rates.append(Rate(self.optimizer, found))
        return found

    def _keep(self, program: Program, startup: Program, parameter: Any, group: Group) -> tuple[Variable, ...]:
        found = self.states.get(id(parameter))
        if found is None:
            made = []
            first = self.optimizer._first(parameter, group.options)
            for slot, (dims, value) in first.items():
                name = self.optimizer._key(parameter, slot)
                name = program.unique_name(name.removesuffix("_0"))
                dtype = "float32" if self._uses_master(parameter) else parameter.dtype
                own = _persistable(program, name, dims, dtype, stop=False)
                _first_value(
                    startup,
                    own,
                    value,
                    device="cpu" if "pow_acc" in slot and "beta2_pow_acc" in first else "",
                )
                made.append(own)
            found = self.states[id(parameter)] = tuple(made)
            self.variables += made
        return found

    # -- state ---------------------------------------------------------------------------------------------
    def state(self) -> dict[str, Any]:
        """The state by name, from the global scope; empty before the startup program ran."""
        scope = global_scope()
        return {v.name: value_of(v) for v in self.variables if scope.find_var(v.name) is not None}

    def set_state(self, state: dict[str, Any]) -> list[str]:
        """Give the state these values; returns the names that belong to none of it."""
        known = {v.name: v for v in self.variables}
        for name, value in state.items():
            if name in known:
                give_value(known[name], np.asarray(value))
        return [name for name in state if name not in known]


def _for(parameter: Any, gradient: Any) -> Any:
    """Mark operators that are appended within the block as the update of ``parameter``."""
    name = gradient.shown_name or gradient.name
    return marked(op_role=OPTIMIZE, op_role_var=[parameter.name, name])


def _persistable(program: Program, name: str, dims: Any, dtype: Any, stop: bool) -> Variable:
    return program.global_block().create_var(name, Spec(dims, dtype), persistable=True, stop_gradient=stop)


def _twin(startup: Program, variable: Variable) -> Variable:
    """The Variable of the startup Program; one, where two Programs with the same names share that Program."""
    block = startup.global_block()
    found = block.vars.get(variable.name)
    if found is not None and found.spec == variable.spec:
        return found
    return block.create_var(variable.name, variable.spec, persistable=True)


def _first_value(startup: Program, variable: Variable, value: float, device: str = "") -> None:
    block, twin = startup.global_block(), _twin(startup, variable)
    opdef = OPS["fill_constant"]
    attrs = {"shape": list(variable.spec.shape), "value": value, "dtype": variable.dtype.name}
    operator = append_into(block, opdef, (None,) * len(opdef.inputs), attrs, (twin,), {"bare": True})
    if device:
        operator.note("attrs", {"op_device": device})


def _clipped(clip: Any, pairs: Pairs) -> Pairs:
    """The pairs with clipped gradients; the global norm is computed by the operators that Paddle uses."""
    if type(clip) in (ClipGradByValue, ClipGradByNorm):  # one by one
        return [pair for each in pairs for pair in _clipped_alone(clip, *each)]
    if type(clip) is not ClipGradByGlobalNorm:
        with marked(op_role=OPTIMIZE):
            return list(clip(pairs))
    chosen = [(p, g) for p, g in pairs if getattr(p, "need_clip", True)]
    squares = []
    for parameter, gradient in chosen:
        with _for(parameter, gradient):
            squares.append(linalg.squared_l2_norm(gradient))
    if not squares:
        return pairs
    with _for(*chosen[-1]):
        norm = power.sqrt(arithmetic.add_n(squares))
        limit = full([1], float(clip.clip_norm), norm.dtype)
        factor = arithmetic.divide(limit, extremes.maximum(limit, norm))
    clipped = {}
    for parameter, gradient in chosen:
        with _for(parameter, gradient):
            made = arithmetic.multiply(gradient, factor)
            made.shown_name = gradient.shown_name or gradient.name
            clipped[parameter.name] = made
    return [(p, clipped.get(p.name, g)) for p, g in pairs]


def _clipped_alone(clip: Any, parameter: Any, gradient: Any) -> Pairs:
    """The pair with its clipped gradient, named in the operators' marks as Paddle does."""
    block = gradient.block
    before = len(block.ops)
    with _for(parameter, gradient):
        ((_, made),) = clip([(parameter, gradient)])
    for operator in block.ops[before:]:
        attrs = (operator.notes or {}).get("attrs", {})
        operator.note("attrs", {**attrs, "op_role_var": [parameter.name, made.shown_name or made.name]})
    return [(parameter, made)]
