"""The base of the optimizers: groups, learning rate, clipping, weight decay, and the state they keep."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.dtype import float32
from engine.core.errors import ArgumentError, DTypeError, ModeError, ShapeError
from engine.core.operator import Leaf
from engine.core.place import array_module
from engine.eager.backward import clear_gradient, gradient_of
from engine.eager.tensor import Tensor, write
from engine.nn.clip import ClipGradBase
from engine.nn.regularizer import L2Decay, WeightDecayRegularizer
from engine.ops import math
from engine.optimizer.lr import LRScheduler


class Group:
    """Parameters that are updated alike: their weight decay, clip, and options of the update rule."""

    __slots__ = ("clip", "decay", "options", "params")

    def __init__(self, params: list[Any], decay: Any, clip: Any, options: dict[str, Any]) -> None:
        self.params = params
        self.decay = decay
        self.clip = clip
        self.options = options


class Optimizer:
    """Base of SGD, Momentum, Adam and AdamW.

    ``parameters`` is a list of parameters, or of dicts with ``params`` and what is to differ for them
    (``learning_rate`` as a factor, ``weight_decay``, ``grad_clip`` and the update rule's own options).
    ``weight_decay`` is a number (L2) or a regularizer; a parameter's own regularizer goes before it. Raises
    ArgumentError or DTypeError for anything else.
    """

    _slots: tuple[str, ...] = ()  # the names of what is kept for each parameter
    _options: Mapping[str, Any] = MappingProxyType({})  # of the update rule; set before this __init__ runs

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
        self._grad_clip = _checked_clip(where, grad_clip)
        self.regularization = self._checked_decay(weight_decay)
        self._parameter_list = _listed(where, parameters)
        self._groups = self._make_groups(self._parameter_list)
        self._require_unique_names()
        self._accumulators: dict[str, dict[str, Tensor]] = {slot: {} for slot in self._slots}
        self._kept: dict[Any, tuple[Tensor, ...]] = {}
        self._rates: dict[tuple[Any, ...], tuple[float, Tensor]] = {}

    # -- groups --------------------------------------------------------------------------------------------
    def _make_groups(self, items: list[Any]) -> list[Group]:
        if not items or not isinstance(items[0], dict):
            return [Group(items, self.regularization, self._grad_clip, dict(self._options))]
        groups = []
        for number, given in enumerate(items):
            where = f"{type(self).__name__}: parameters[{number}]"
            if not isinstance(given, dict) or "params" not in given:
                raise ArgumentError(f"{where}: every group is a dict with 'params': got {given!r}")
            own = dict(given)
            params = own.pop("params")
            params = [params] if isinstance(params, Tensor) else _listed(where, params)
            factor = own.pop("learning_rate", 1.0)
            decay = (
                self._checked_decay(own.pop("weight_decay")) if "weight_decay" in own else self.regularization
            )
            clip = _checked_clip(where, own.pop("grad_clip", self._grad_clip))
            unknown = own.keys() - self._options.keys()
            if unknown:
                raise ArgumentError(
                    f"{where}: unknown options {sorted(unknown)}; a group takes params, learning_rate, "
                    f"weight_decay, grad_clip and {sorted(self._options)}"
                )
            for parameter in params:
                parameter.optimize_attr["learning_rate"] = factor
            groups.append(Group(params, decay, clip, {**self._options, **own}))
        return groups

    def _checked_decay(self, decay: Any) -> Any:
        """Weight decay as a regularizer or None."""
        if decay is None or isinstance(decay, WeightDecayRegularizer):
            return decay
        if isinstance(decay, (int, float)) and not isinstance(decay, bool):
            return L2Decay(decay)
        raise DTypeError(
            f"{type(self).__name__}: weight_decay is a number or a regularizer: got {type(decay).__name__}; "
            "pass e.g. 1e-4 or regularizer.L1Decay(1e-4)"
        )

    def _require_unique_names(self) -> None:
        seen: dict[str, Any] = {}
        for parameter in self._all():
            if seen.setdefault(parameter.name, parameter) is not parameter:
                raise ArgumentError(
                    f"{type(self).__name__}: two parameters are called {parameter.name!r}, but state is "
                    "kept by name; give each its own name in ParamAttr"
                )
        if len(seen) != sum(len(group.params) for group in self._groups):
            raise ArgumentError(
                f"{type(self).__name__}: a parameter appears twice; list each once, in one group"
            )

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
        """The learning rate of a parameter as a Tensor [1] where it lives, made anew only when it changes."""
        array = parameter._array
        key = (factor, type(array), float32.np if array.dtype.itemsize < 4 else array.dtype)
        found = self._rates.get(key)
        if found is None or found[0] != lr:
            tensor = Tensor(array_module(array).asarray([lr * factor], dtype=key[2]))
            found = self._rates[key] = (lr, tensor)
        return found[1]

    # -- steps ---------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        self._require_eager("step")
        with modes.use(modes.current().with_grad(False)):
            lr = self.get_lr()
            for group in self._groups:
                pairs = [
                    (p, p._edge.grad) for p in group.params
                    if p._edge.__class__ is Leaf and p._edge.grad is not None
                ]  # fmt: skip
                self._update_group(group, pairs, lr)

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> None:
        """Update parameters with the gradients they come paired with."""
        self._require_eager("apply_gradients")
        given = {id(p): (p, g) for p, g in params_grads if g is not None}
        strangers = given.keys() - {id(p) for p in self._all()}
        if strangers:
            names = sorted(given[key][0].name for key in strangers)
            raise ArgumentError(f"apply_gradients: {names} are no parameters of this optimizer")
        with modes.use(modes.current().with_grad(False)):
            lr = self.get_lr()
            for group in self._groups:
                self._update_group(group, [given[id(p)] for p in group.params if id(p) in given], lr)

    def _update_group(self, group: Group, pairs: list[tuple[Any, Any]], lr: float) -> None:
        if group.clip is not None:
            pairs = group.clip(pairs)
        for parameter, gradient in pairs:
            decay = parameter.regularizer or group.decay
            if decay is not None:
                gradient = self._decayed(parameter, gradient, decay)
            kept = self._kept.get(parameter)
            if kept is None:
                kept = self._create(parameter, group.options)
            rate = self._rate(lr, parameter.optimize_attr["learning_rate"], parameter)
            self._update(parameter, gradient, rate, kept, group.options, decay)

    def _decayed(self, parameter: Any, gradient: Any, decay: Any) -> Any:
        """The gradient with the term of the weight decay."""
        return math.add(gradient, decay.term(parameter))

    def _update(
        self, parameter: Any, gradient: Any, rate: Tensor, kept: Any, options: Any, decay: Any
    ) -> None:
        """Update one parameter; ``decay`` is part of the gradient already, see ``_decayed``."""
        raise ModeError(f"{type(self).__name__}: has no update rule; use SGD, Momentum, Adam or AdamW")

    def backward(
        self,
        loss: Any,
        startup_program: Any = None,
        parameters: Any = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Pairs of parameter and gradient, as ``loss.backward()`` left them."""
        self._require_eager("backward")
        params = self._all() if parameters is None else list(parameters)
        return [(p, g) for p in params if not p.stop_gradient and (g := gradient_of(p)) is not None]

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """One step with the gradients that ``loss.backward()`` left; returns ([], pairs) as Paddle does."""
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        self.apply_gradients(pairs)
        return [], pairs

    def _require_eager(self, where: str) -> None:
        if modes.is_static():
            raise ModeError(
                f"{where}: {type(self).__name__} updates parameters in eager mode: this code is building a "
                "Program; call it outside the converted function"
            )

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or drop them."""
        for parameter in self._all():
            if parameter._edge is not None:
                clear_gradient(parameter, set_to_zero)

    clear_gradients = clear_grad

    # -- state ---------------------------------------------------------------------------------------------
    def _first(self, parameter: Any, options: dict[str, Any]) -> dict[str, tuple[tuple[int, ...], float]]:
        """Shape and first value of everything that is kept for a parameter, in the order of ``_slots``."""
        return {slot: (tuple(parameter.shape), 0.0) for slot in self._slots}

    def _key(self, parameter: Any, slot: str) -> str:
        """The key in the state dict. Paddle counts the optimizers of a process in the last number; here it is
        always 0, so that a state loads whatever was built before.
        """
        return f"{parameter.name}_{slot if self._name is None else f'{self._name}_{slot}'}_0"

    def _create(self, parameter: Any, options: dict[str, Any]) -> tuple[Tensor, ...]:
        """What is kept for a parameter, with its first values."""
        xp = array_module(parameter._array)
        made = []
        for slot, (shape, value) in self._first(parameter, options).items():
            tensor = Tensor(xp.full(shape, value, parameter._array.dtype), name=self._key(parameter, slot))
            tensor.persistable = True
            self._accumulators[slot][parameter.name] = tensor
            made.append(tensor)
        kept = self._kept[parameter] = tuple(made)
        return kept

    def state_dict(self) -> dict[str, Any]:
        """What is kept for each parameter by name (``linear_0.w_0_moment1_0``), and ``LR_Scheduler``'s state.

        Parameters that were never updated have nothing to keep yet.
        """
        state: dict[str, Any] = {}
        for kept in self._accumulators.values():
            state.update((tensor.name, tensor) for tensor in kept.values())
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on from ``state_dict``: bit-equal to never having stopped.

        Raises ArgumentError where it belongs to other parameters or another optimizer, ShapeError or
        DTypeError for a tensor that does not fit; nothing is changed then. What belongs to no parameter is
        left out with a warning.
        """
        state = dict(state_dict)
        scheduler = state.pop("LR_Scheduler", None)
        rate = self._learning_rate
        if isinstance(rate, LRScheduler) and scheduler is None:
            raise ArgumentError(
                "set_state_dict: the state has no 'LR_Scheduler', but the learning rate follows "
                f"{type(rate).__name__}; load the state of an optimizer with a scheduler"
            )
        found, strangers = self._assigned(state)
        if strangers:
            warnings.warn(
                f"set_state_dict: {strangers} belong to no parameter and are left out", stacklevel=2
            )
        if isinstance(rate, LRScheduler):
            rate.set_state_dict(scheduler)
        for parameter, options, arrays in found:
            kept = self._kept.get(parameter) or self._create(parameter, options)
            for tensor, array in zip(kept, arrays, strict=True):
                write(tensor, array)

    def _assigned(
        self, state: dict[str, Any]
    ) -> tuple[list[tuple[Any, dict[str, Any], list[Any]]], list[str]]:
        """The arrays of ``state`` for each parameter, checked, and the keys that belong to none."""
        found = []
        known: set[str] = set()
        for group in self._groups:
            for parameter in group.params:
                first = {self._key(parameter, s): v for s, v in self._first(parameter, group.options).items()}
                missing = [key for key in first if key not in state]
                if missing and (len(missing) < len(first) or parameter in self._kept):
                    raise ArgumentError(
                        f"set_state_dict: {missing} of parameter {parameter.name!r} are not in the state; "
                        "load the state of an optimizer of the same class over the same parameters"
                    )
                if first and not missing:
                    known.update(first)
                    dtype = parameter._array.dtype
                    arrays = [_fitting(key, state[key], shape, dtype) for key, (shape, _) in first.items()]
                    found.append((parameter, group.options, arrays))
        strangers = [key for key in state if key not in known]
        if strangers and not known:
            expected = next((self._key(p, s) for p in self._all() for s in self._slots), "nothing")
            raise ArgumentError(
                f"set_state_dict: no key belongs to a parameter of this {type(self).__name__}: got "
                f"{strangers[:3]} ..., expected e.g. {expected}; build the model in a fresh process, or "
                "under utils.unique_name.guard(), so that its parameters get the same names"
            )
        return found, strangers

    set_dict = set_state_dict


def _fitting(key: str, value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The array of a loaded value. Raises ShapeError or DTypeError where the optimizer needs another."""
    array = value._array if isinstance(value, Tensor) else np.asarray(value)
    if array.shape != shape:
        raise ShapeError(
            f"set_state_dict: {key!r} has shape {list(array.shape)}: the optimizer needs {list(shape)}; "
            "load the state of the same model"
        )
    if array.dtype != dtype:
        raise DTypeError(f"set_state_dict: {key!r} is {array.dtype}: the optimizer needs {dtype}; cast it")
    return array


def _checked_clip(where: str, clip: Any) -> Any:
    if clip is not None and not isinstance(clip, ClipGradBase):
        raise DTypeError(
            f"{where}: grad_clip is one of nn.ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm: got "
            f"{type(clip).__name__}"
        )
    return clip


def _listed(where: str, parameters: Any) -> list[Any]:
    if parameters is None:
        raise ArgumentError(f"{where}: got no parameters; pass parameters=model.parameters()")
    if isinstance(parameters, (Tensor, Mapping, set)):
        raise DTypeError(
            f"{where}: parameters is a list of parameters, or of dicts: got {type(parameters).__name__}; "
            "pass model.parameters()"
        )
    listed = list(parameters)
    for number, item in enumerate(listed):
        if not isinstance(item, (Tensor, dict)):
            raise DTypeError(f"{where}: parameters[{number}] is no parameter: got {type(item).__name__}")
    return listed
