"""What all optimizers of fluid share: two forms of arguments, the guard's parameters, rates that count."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from engine.core import mode as modes
from engine.core import names
from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.eager.tensor import Tensor
from engine.fluid.clip import OwnClips
from engine.fluid.dygraph import tracer as tracers
from engine.fluid.dygraph.learning_rate_scheduler import LearningRateDecay
from engine.fluid.dygraph.nn.forms import bound
from engine.fluid.values.variable import as_variable
from engine.nn.regularizer import WeightDecayRegularizer
from engine.optimizer.groups import Group, checked_clip, checked_decay, require_names, require_unique
from engine.optimizer.lr import LRScheduler
from engine.optimizer.optimizer import Optimizer

_STEP = "global_step"


class FluidOptimizer(Optimizer):
    """Base of fluid's optimizers; a subclass names an update rule of the engine as its second base.

    In a guard ``minimize`` updates every parameter of the guard that has a gradient, or those in
    ``parameter_list``; ``loss.backward()`` comes before it. In static mode it appends backward and update to
    the Program. ``learning_rate`` is a number, in a guard also a LearningRateDecay, in static mode also a
    Variable that operators compute.

    Arguments are those of 1.7 and 1.8 (``FORM``), or, without ``parameter_list`` and ``grad_clip``, those of
    1.5 and 1.6. Raises ArgumentError for arguments of neither, DTypeError for another learning rate.
    """

    FORM: ClassVar[inspect.Signature]
    _rate_shape = (1,)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        where = type(self).__name__
        if not hasattr(type(self), "FORM"):
            raise ModeError(f"{where}: has no update rule; use SGDOptimizer, AdamOptimizer or another one")
        given = bound(where, self.FORM, None, *_placed(self.FORM, args, kwargs))
        rate = _checked_rate(given.pop("learning_rate"))
        name, parameters = given.pop("name"), given.pop("parameter_list")
        decay, clip = given.pop("regularization"), given.pop("grad_clip")
        if not modes.is_static():
            name = names.generate(name or where)
        super().__init__(learning_rate=0.0, parameters=list(parameters or ()), name=name, **given)
        self._learning_rate = rate
        self.regularization = self._groups[0].decay = checked_decay(where, decay)
        self._grad_clip = self._groups[0].clip = checked_clip(where, clip)
        self._last_rate: float | None = None
        self._to_load: Mapping[str, Any] = {}

    def _require_unique(self, where: str, groups: list[Group]) -> None:
        """Raise ArgumentError where a parameter appears twice; names may, until their state is saved.

        Layers of 1.8 that share a parameter create one each under the same name, and use the first.
        """
        require_unique(where, groups)

    # -- learning rate -------------------------------------------------------------------------------------
    def get_lr(self) -> float:
        """The learning rate of the next step."""
        rate = self._learning_rate
        if isinstance(rate, LearningRateDecay):
            return _number(rate.step())
        if modes.is_symbolic(rate):
            raise ModeError(
                f"{type(self).__name__}.get_lr: operators of the Program compute the learning rate: "
                f"fetch {rate.name!r}"
            )
        return super().get_lr()

    def current_step_lr(self) -> float:
        """The learning rate of the last step; before the first one, that of the first."""
        last = self._last_rate if isinstance(self._learning_rate, LearningRateDecay) else None
        return self.get_lr() if last is None else last

    def set_lr(self, value: Any) -> None:
        """Set the learning rate to a number, or to that in a Variable [1]."""
        super().set_lr(_number(value) if isinstance(value, Tensor) else value)

    def _global_learning_rate(self, program: Any = None) -> Any:
        """The learning rate as a Variable [1]: of the last step, or of the first one before it."""
        if modes.is_static() and modes.current().training is None:
            if modes.is_symbolic(self._learning_rate):
                return self._learning_rate
            found = list(self._static.rates.values())
            return found[-1] if program is None and found else self._static.rates.get(id(program))
        value = self.get_lr() if self._last_rate is None else self._last_rate
        return as_variable(Tensor(np.asarray([value], np.float32)))

    def _rate_of_step(self) -> float:
        rate = self._learning_rate
        value = _number(rate()) if isinstance(rate, LearningRateDecay) else self.get_lr()
        self._last_rate = value
        return value

    # -- steps ---------------------------------------------------------------------------------------------
    def _all(self) -> list[Any]:
        given = super()._all()
        if given or modes.is_static():
            return given
        tracer = tracers.current()
        if tracer is None:
            raise ArgumentError(
                f"{type(self).__name__}: parameter_list argument given to the Optimizer should not be None "
                "in dygraph mode: there is no guard whose parameters it could take; pass model.parameters()"
            )
        return list(tracer.all_parameters())

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of parameter and gradient, as ``loss.backward()`` left them; static mode appends them."""
        return super().backward(loss, startup_program, parameter_list or None, no_grad_set, callbacks)

    def minimize(
        self,
        loss: Any,
        startup_program: Any = None,
        parameter_list: Any = None,
        no_grad_set: Any = None,
        grad_clip: Any = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """One step with the gradients that ``loss.backward()`` left, clipped by ``grad_clip``.

        In static mode backward and step become part of the Program of ``loss``. Returns the operators that
        were appended, and the pairs of parameter and gradient.
        """
        clip = checked_clip(f"{type(self).__name__}.minimize", grad_clip)
        pairs = self.backward(loss, startup_program, parameter_list, no_grad_set)
        if modes.is_symbolic(loss) and modes.current().training is None:
            return self._append(loss.block.program, pairs, startup_program, clip), pairs
        self._step(pairs, clip)
        return [], pairs

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> Any:
        """Update parameters with their paired gradients; in static mode append the update."""
        if params_grads and modes.is_symbolic(params_grads[0][0]) and modes.current().training is None:
            return self._append(params_grads[0][0].block.program, params_grads, None, None)
        self._step([(p, g) for p, g in params_grads if g is not None], None)
        return []

    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self._step(self.backward(None), None)

    def _step(self, pairs: list[tuple[Any, Any]], clip: Any) -> None:
        self._require_eager("minimize")
        group = self._groups[0]
        chosen = Group(group.params, group.decay, clip or group.clip, group.options)
        with modes.use(modes.current().with_grad(False)):
            lr = self._rate_of_step()
            self._load_new(pairs)
            self._update_group(chosen, pairs, lr)

    def _append(self, program: Any, pairs: list[tuple[Any, Any]], startup: Any, clip: Any) -> list[Any]:
        if modes.is_symbolic(self._learning_rate):
            self._static.rates.setdefault(id(program), self._learning_rate)
        group = self._groups[0]
        before = group.clip
        group.clip = clip or before
        if any(getattr(p, "gradient_clip_attr", None) is not None for p, _ in pairs):
            group.clip = OwnClips(group.clip)
        try:
            return self._static.apply(program, pairs, startup)
        finally:
            group.clip = before

    # -- state ---------------------------------------------------------------------------------------------
    def state_dict(self) -> dict[str, Any]:
        """The state of each parameter that was updated, by name; with a LearningRateDecay ``global_step``.

        Raises ArgumentError where two of these parameters have one name.
        """
        require_names(f"{type(self).__name__}.state_dict", self._memory.states)
        state = super().state_dict()
        if isinstance(self._learning_rate, LearningRateDecay):
            state[_STEP] = as_variable(Tensor(np.asarray([self._learning_rate.step_num], np.int64)))
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continue from ``state_dict``; what belongs to parameters without a step yet waits for their first.

        Raises ArgumentError where the rate is a LearningRateDecay and the state has no ``global_step``.
        """
        state = dict(state_dict)
        step = state.pop(_STEP, None)
        if isinstance(self._learning_rate, LearningRateDecay):
            if step is None:
                raise ArgumentError(
                    "set_dict: Global step not in state dict, Dygraph use LearningRateDecay, global_step "
                    f"must in state_dict: got {sorted(state)}; load the state of an optimizer with a decay"
                )
            self._learning_rate.step_num = int(_number(step))
        if modes.is_static():
            super().set_state_dict(state)
            return
        self._to_load = state
        self._load(list(self._memory.states))

    set_dict = set_state_dict

    def load(self, stat_dict: Mapping[str, Any]) -> None:
        """Take the learning rate that ``load_persistables`` found under this optimizer's name."""
        if self._name not in stat_dict:
            raise ArgumentError(
                f"{type(self).__name__}.load: nothing is saved for {self._name!r}: got {sorted(stat_dict)}; "
                "create the optimizers in the same order in a guard of their own, or give them a name"
            )
        self._learning_rate = stat_dict[self._name]

    def _load_new(self, pairs: list[tuple[Any, Any]]) -> None:
        """Give parameters before their first step the state that was loaded for them."""
        if self._to_load:
            self._load([p for p, _ in pairs if p not in self._memory.states])

    def _load(self, parameters: list[Any]) -> None:
        for parameter in parameters:
            first = self._first(parameter, self._groups[0].options)
            keys = {self._key(parameter, slot) for slot in first}
            own = {key: value for key, value in self._to_load.items() if key in keys}
            if own:
                self._memory.assign(own, [(parameter, first, parameter._array.dtype)])[0]()


def _placed(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments for the later form, where they are those without ``parameter_list`` and ``grad_clip``."""
    order = list(signature.parameters)
    place = order.index("parameter_list")
    if len(args) <= place or {"parameter_list", "grad_clip"} & kwargs.keys():
        return args, kwargs
    value, after = args[place], args[place + 1 :]
    plain = isinstance(value, (bool, int, float, str, WeightDecayRegularizer))
    if not plain and not (value is None and after and isinstance(after[0], str)):
        return args, kwargs
    early = [name for name in order if name not in ("parameter_list", "grad_clip")]
    if len(args) > len(early):
        return args, kwargs
    clash = set(early[: len(args)]) & kwargs.keys()
    if clash:
        raise ArgumentError(f"an argument is given twice: {sorted(clash)}")
    return (), {**dict(zip(early, args, strict=False)), **kwargs}


def _checked_rate(rate: Any) -> Any:
    if modes.is_symbolic(rate) or isinstance(rate, (LearningRateDecay, LRScheduler)):
        return rate
    if isinstance(rate, Tensor):
        return _number(rate)
    if isinstance(rate, bool) or not isinstance(rate, (int, float, np.number)):
        kinds = "float or Variable" if modes.is_static() else "float or LearningRateDecay"
        raise DTypeError(f"learning rate should be {kinds}, got {type(rate)} here")
    return float(rate)


def _number(value: Any) -> float:
    return float(value.numpy().item()) if hasattr(value, "numpy") else float(np.asarray(value).item())
