"""The base of the optimizers: groups, learning rate, clipping, weight decay, and the state they keep."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.core.operators.operator import Leaf
from engine.core.place import array_module
from engine.core.spans import watch
from engine.eager.backward import clear_gradients, gradient_of, leaf_gradient
from engine.eager.tensor import Tensor
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import WeightDecayRegularizer
from engine.ops.elementwise import arithmetic
from engine.ops.training import parameter_updates
from engine.optimizer.groups import (
    Group,
    checked_clip,
    checked_decay,
    group_of,
    listed,
    require_names,
    require_unique,
)
from engine.optimizer.lr import LRScheduler
from engine.optimizer.memory import First, Memory
from engine.tensor.tensor_like import AnyTensor

if TYPE_CHECKING:
    from engine.optimizer.static_step import StaticStep
    from engine.optimizer.together import Together
    from engine.program.graph.program import Program
    from engine.program.graph.variable import Variable
    from engine.program.run.kernels import OneCall

_FLOAT32 = np.dtype(np.float32)


def option(name: str) -> property:
    """The attribute under which Paddle's optimizers have an option of their rule."""
    return property(lambda optimizer: optimizer._options[name])


class Optimizer:
    """Base of all optimizers.

    ``parameters`` is a list of parameters, or of dicts with ``params`` and their own options
    (``learning_rate`` as a factor, ``weight_decay``, ``grad_clip`` and those of the update rule).
    ``weight_decay`` is a number (L2) or a regularizer; a parameter's own regularizer takes precedence. Raises
    ArgumentError or DTypeError for anything else.

    With ``multi_precision``, where an optimizer takes it, a parameter in half precision is updated through a
    float32 copy.
    """

    _rate_shape: tuple[int, ...] = ()  # of the learning rate in a Program

    _rule: Any = None  # the operator that updates one parameter
    _slots: tuple[str, ...] = ()  # the names of the slots of each parameter
    _state: tuple[str, ...] = ()  # the same as the operator calls them
    _alike = True  # the operator's attributes are the same for all parameters of a group and a decay
    _options: Mapping[str, Any] = MappingProxyType({})  # of the update rule; set before this __init__ runs
    _multi_precision = False  # set before this __init__ runs, too
    # While a step is appended to a Program with loss scaling: whether some gradient is not finite.
    _skip_update: Any = None

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        where = type(self).__name__
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (float, int, LRScheduler)):
            raise DTypeError(
                f"{where}: learning_rate is a number or an LRScheduler: got {type(learning_rate).__name__}"
            )
        self._learning_rate = (
            learning_rate if isinstance(learning_rate, LRScheduler) else float(learning_rate)
        )
        self._name = name
        self._grad_clip = checked_clip(where, grad_clip)
        self.regularization = checked_decay(where, weight_decay)
        self._parameter_list = listed(where, parameters)
        self._groups = self._make_groups(self._parameter_list)
        self._require_unique(where, self._groups)
        self._memory = Memory(where, self._slots, self._key)
        self._rates: dict[tuple[Any, ...], tuple[float, Tensor]] = {}

    @cached_property
    def _together(self) -> Together | None:
        """What updates many parameters at once; None for a rule that has no such operator."""
        from engine.ops.training.flat_updates import FLAT
        from engine.optimizer.together import Together

        by_rule = self._rule is not None and type(self)._update is Optimizer._update
        flat = FLAT.get(self._rule.opdef.name) if by_rule else None
        return None if flat is None else Together(flat, self._state)

    def flat_calls(self) -> list[tuple[int, int, OneCall]]:
        """The calls that updated several parameters at once: how many, how many numbers, the kernel."""
        return [] if self._together is None else self._together.calls()

    @cached_property
    def _static(self) -> StaticStep:
        """What it appended to Programs."""
        from engine.optimizer.static_step import StaticStep

        return StaticStep(self)

    # -- groups --------------------------------------------------------------------------------------------
    def _make_groups(self, items: list[Any]) -> list[Group]:
        default = Group(items, self.regularization, self._grad_clip, dict(self._options))
        if not items or not isinstance(items[0], dict):
            return [default]
        where = f"{type(self).__name__}: parameters"
        return [group_of(f"{where}[{n}]", self._group(given), default) for n, given in enumerate(items)]

    def _require_unique(self, where: str, groups: list[Group]) -> None:
        """Raise ArgumentError where a parameter, or a name, appears twice."""
        require_unique(where, groups)
        require_names(where, (parameter for group in groups for parameter in group.params))

    def _group(self, given: Any) -> Any:
        """The dict that describes a group."""
        return given

    def _add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters."""
        default = Group([], self.regularization, self._grad_clip, dict(self._options))
        where = f"{type(self).__name__}: the added group"
        made = [*self._groups, group_of(where, self._group(param_group), default)]
        self._require_unique(type(self).__name__, made)
        self._groups = made
        self._parameter_list = [*self._parameter_list, param_group]

    def _global_learning_rate(self, program: Program | None = None) -> Variable | None:
        """The Variable of the learning rate in a Program (the default one); None before a step is added."""
        if not modes.is_static():
            return None
        from engine.program.run.executor import default_main_program

        return self._static.rates.get(id(program or default_main_program()))

    def _all(self) -> list[Any]:
        return [p for group in self._groups for p in group.params]

    # -- learning rate -------------------------------------------------------------------------------------
    def get_lr(self) -> float:
        """The learning rate of the next step."""
        rate = self._learning_rate
        return float(rate() if isinstance(rate, LRScheduler) else rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate. Raises ModeError where a scheduler sets it."""
        if isinstance(self._learning_rate, LRScheduler):
            raise ModeError(
                f"set_lr: the learning rate follows {type(self._learning_rate).__name__}: got {value}; "
                "use set_lr_scheduler(), or create the optimizer with a number"
            )
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise DTypeError(f"set_lr: the learning rate is a number: got {type(value).__name__}")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let ``scheduler`` set the learning rate from now on."""
        if not isinstance(scheduler, LRScheduler):
            raise DTypeError(f"set_lr_scheduler: takes an LRScheduler: got {type(scheduler).__name__}")
        self._learning_rate = scheduler

    def _rate(self, lr: float, factor: float, parameter: Any) -> Tensor:
        """The learning rate of a parameter as a Tensor [1] on its device, cached until the rate changes."""
        array = parameter._array
        key = (factor, type(array), _FLOAT32 if array.dtype.itemsize < 4 else array.dtype)
        found = self._rates.get(key)
        if found is None or found[0] != lr:
            # On a GPU the number comes with the launch that fills the array: nothing is copied.
            tensor = Tensor(array_module(array).full((1,), lr * factor, dtype=key[2]))
            found = self._rates[key] = (lr, tensor)
        return found[1]

    def _rate_now(self, lr: float, factor: float, parameter: Any) -> Any:
        """The learning rate of a parameter in this step, or in this step of each run of a traced function."""
        training = modes.current().training
        if training is None:
            return self._rate(lr, factor, parameter)
        return training.evaluated_each_run(lambda: self._rate(self.get_lr(), factor, parameter))

    # -- steps ---------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self._require_eager("step")
        training, quiet = modes.current().training, modes.current().with_grad(False)
        with watch.span("Optimization", "Optimization Step"), modes.use(quiet):
            lr = self.get_lr()
            for group in self._groups:
                pairs = [
                    (p, gradient)
                    for p in group.params
                    if p._edge.__class__ is Leaf
                    and (gradient := leaf_gradient(p._edge) if training is None else training.gradient(p))
                    is not None
                ]
                self._update_group(group, pairs, lr)

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> list[Any]:
        """Update parameters with their paired gradients; in static mode append the update.

        Gives the operators that were appended: none in eager mode.
        """
        if params_grads and modes.is_symbolic(params_grads[0][0]) and modes.current().training is None:
            return self._static.apply(params_grads[0][0].block.program, params_grads)
        self._require_eager("apply_gradients")
        given = {id(p): (p, g) for p, g in params_grads if g is not None}
        unknown = given.keys() - {id(p) for p in self._all()}
        if unknown:
            names = sorted(given[key][0].name for key in unknown)
            raise ArgumentError(f"apply_gradients: {names} are not parameters of this optimizer")
        with modes.use(modes.current().with_grad(False)):
            lr = self.get_lr()
            for group in self._groups:
                self._update_group(group, [given[id(p)] for p in group.params if id(p) in given], lr)
        return []

    def _update_group(self, group: Group, pairs: list[tuple[Any, Any]], lr: float) -> None:
        if group.clip is not None:
            pairs = group.clip(pairs)
        if self._together is not None and modes.current().training is None:
            pairs = self._together.update(self, group, pairs, lr)
        for parameter, gradient in pairs:
            decay = parameter.regularizer or group.decay
            master = None
            if self._uses_master(parameter):
                master, gradient = (
                    self._memory.master(parameter),
                    arithmetic.cast(gradient, out_dtype="float32"),
                )
            target = parameter if master is None else master
            if decay is not None:
                gradient = self._decayed(target, gradient, decay)
            state = self._state_of(parameter, target, group)
            rate = self._rate_now(lr, parameter.optimize_attr["learning_rate"], target)
            self._update(target, gradient, rate, state, group.options, decay, parameter)
            if master is not None:
                self._from_master(parameter, master)

    def _from_master(self, parameter: Any, master: Any) -> None:
        """Give a parameter in half precision the numbers of its copy in float32."""
        parameter_updates.assign_into(parameter, arithmetic.cast(master, out_dtype=parameter.dtype.name))

    def _state_of(self, parameter: Any, target: Any, group: Group) -> tuple[Tensor, ...]:
        """The state of a parameter, with its first values where it has none yet."""
        state = self._memory.states.get(parameter)
        if state is None:
            first = self._first(parameter, group.options)
            state = self._memory.create(parameter, first, target._array.dtype)
        return state

    def create_states(self) -> None:
        """Give each parameter the state with which its first step begins, where it has none yet: so a state
        dict of before can be loaded after a step."""
        for group in self._groups:
            for parameter in group.params:
                if not parameter.stop_gradient:
                    uses = self._uses_master(parameter)
                    self._state_of(parameter, self._memory.master(parameter) if uses else parameter, group)

    def _uses_master(self, parameter: Any) -> bool:
        return self._multi_precision and parameter._array.dtype.itemsize < 4

    def _decayed(self, parameter: Any, gradient: Any, decay: Any) -> Any:
        """The gradient with the term of the weight decay."""
        term = self._decay_term(parameter, decay)
        return gradient if term is None else arithmetic.add(gradient, term)

    def _decay_term(self, parameter: Any, decay: Any) -> Any:
        """The term that weight decay adds to the gradient; None where the update rule decays."""
        return decay.term(parameter)

    def _update(
        self,
        target: Any,
        gradient: Any,
        rate: AnyTensor,
        state: Any,
        options: Any,
        decay: Any,
        parameter: Any,
    ) -> None:
        """Update ``target``, which is ``parameter`` or its copy in float32.

        ``decay`` is part of the gradient already, see ``_decayed``.
        """
        if self._rule is None:
            raise ModeError(f"{type(self).__name__}: has no update rule; use SGD, Momentum, Adam or AdamW")
        given: dict[str, Any] = dict(zip(self._state, state, strict=True))
        given["param"], given["grad"], given["learning_rate"] = target, gradient, rate
        given["skip_update"] = self._skip_update
        attributes = self._attributes(options, decay, parameter)
        self._rule(*[given[name] for name in self._rule.opdef.input_names], **attributes)

    def _attributes(self, options: Any, decay: Any, parameter: Any) -> dict[str, Any]:
        """The attributes of the operator for one parameter of a group with ``options``."""
        return dict(options)

    def backward(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameters: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
        callbacks: object = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of parameter and gradient, as ``loss.backward()`` left them; static mode appends them."""
        training = modes.current().training
        if training is not None:
            training.backward_once(loss)
        elif modes.is_symbolic(loss):
            return self._static.backward(cast("Variable", loss), startup_program, parameters, no_grad_set)
        self._require_eager("backward")
        params: list[Any] = self._all() if parameters is None else list(parameters)
        return [(p, g) for p in params if not p.stop_gradient and (g := gradient_of(p)) is not None]

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameters: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """One step with the gradients that ``loss.backward()`` left; returns ([], pairs) as Paddle does.

        In static mode the step becomes part of the Program of ``loss``, to which the gradients are appended;
        returns the operators and the pairs.
        """
        if modes.is_symbolic(loss) and modes.current().training is None:
            return self._static.minimize(cast("Variable", loss), startup_program, parameters, no_grad_set)
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        self.apply_gradients(pairs)
        return [], pairs

    def _require_eager(self, where: str) -> None:
        if modes.is_static() and modes.current().training is None:
            raise ModeError(
                f"{where}: {type(self).__name__} updates parameters in eager mode: this code is building a "
                "Program; call minimize(), or leave static mode"
            )

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or drop them.

        A gradient of zeros takes part in the next ``step``: momentum continues to move a parameter that the
        loss no longer depends on. One that was dropped does not.
        """
        found = [p for group in self._groups for p in group.params if p._edge is not None]
        clear_gradients(found, set_to_zero)

    clear_gradients = clear_grad

    # -- state ---------------------------------------------------------------------------------------------
    def _first(self, parameter: Any, options: dict[str, Any]) -> First:
        """Shape and initial value of the slots of a parameter, in the order of ``_slots``."""
        return {slot: (tuple(parameter.shape), 0.0) for slot in self._slots}

    def _key(self, parameter: Any, slot: str) -> str:
        """The key in the state dict. Paddle counts the optimizers of a process in the last number; here it is
        always 0, so that a state loads whatever was built before.
        """
        return f"{parameter.name}_{slot if self._name is None else f'{self._name}_{slot}'}_0"

    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter by name (``linear_0.w_0_moment1_0``), and ``LR_Scheduler``'s state.

        ``master_weights`` holds float32 copies by parameter name, where there are any. Parameters that were
        never updated have no state yet.
        """
        state = self._memory.state()
        if "_static" in self.__dict__:
            state |= self._static.state()
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from ``state_dict``, bit-equal to a run without interruption.

        Raises ArgumentError where it belongs to other parameters or another optimizer, ShapeError or
        DTypeError for a tensor that does not fit; nothing is changed then. Entries that belong to no
        parameter are ignored with a warning.
        """
        state = dict(state_dict)
        scheduler = state.pop("LR_Scheduler", None)
        rate = self._learning_rate
        if isinstance(rate, LRScheduler) and scheduler is None:
            raise ArgumentError(
                "set_state_dict: the state has no 'LR_Scheduler', but the learning rate follows "
                f"{type(rate).__name__}; load the state of an optimizer with a scheduler"
            )
        wanted = [
            (p, self._first(p, group.options), _FLOAT32 if self._uses_master(p) else p._array.dtype)
            for group in self._groups
            for p in group.params
            if not modes.is_symbolic(p)
        ]
        if "_static" in self.__dict__:
            state = {name: state[name] for name in self._static.set_state(state)}
        put, unknown = self._memory.assign(state, wanted)
        if unknown:
            warnings.warn(f"set_state_dict: {unknown} belong to no parameter and are ignored", stacklevel=2)
        if isinstance(rate, LRScheduler):
            rate.set_state_dict(scheduler)
        put()

    set_dict = set_state_dict
