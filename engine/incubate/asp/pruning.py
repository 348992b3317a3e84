"""Pruning of layers to n zeros in m weights, preserved while they train."""

from __future__ import annotations

import re
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from engine.core import mode as modes
from engine.core.errors import ConditionError, DTypeError, ModeError
from engine.eager.tensor import Tensor
from engine.incubate.asp.masks import create_mask
from engine.nn.layer.layers import Layer
from engine.optimizer.optimizer import Optimizer
from engine.program.graph.program import Program
from engine.program.run.executor import default_main_program
from engine.tensor.tensor_like import AnyTensor

# (weight, m, n, algorithm, name) -> (pruned weight, mask)
Pruning = Callable[[Any, int, int, str, str], tuple[Any, Any]]


class _State:
    """What belongs to a Program, or to the layers that are made while it is the main one."""

    def __init__(self) -> None:
        self.excluded: list[str] = []
        self.masks: dict[str, Any] = {}
        self.mask_tensors: dict[str, Tensor] = {}
        self.owners: dict[str, weakref.ref[Any]] = {}  # the parameters that the stored masks belong to

    def mask_of(self, parameter: Any) -> Tensor | None:
        """The stored mask of this very parameter, not of an older one of its name."""
        name = str(parameter.name)
        owner = self.owners.get(name)
        if owner is None or owner() is not parameter:
            return None
        return self.mask_tensors[name]


_states: weakref.WeakKeyDictionary[Any, _State] = weakref.WeakKeyDictionary()


def _state(program: Any = None) -> _State:
    return _states.setdefault(program or default_main_program(), _State())


def calculate_density(x: AnyTensor) -> float:
    """The share of the numbers in an array that are not 0."""
    array = np.asarray(x)
    return float(np.count_nonzero(array)) / array.size


def set_excluded_layers(param_names: Sequence[str], main_program: Program | None = None) -> None:
    """Leave parameters out whose names contain one of ``param_names``."""
    _state(main_program).excluded.extend(param_names)


def reset_excluded_layers(main_program: Program | None = None) -> None:
    """Forget what ``set_excluded_layers`` said, of all Programs by default."""
    for state in _states.values() if main_program is None else [_state(main_program)]:
        state.excluded = []


def _default_pruning(weight: Any, m: int, n: int, algorithm: str, name: str) -> tuple[Any, Any]:
    short = {2: 0, 4: 1}.get(weight.ndim)
    if short is not None and weight.shape[short] < m:
        warnings.warn(
            f"prune_model: {name} {list(weight.shape)} is not pruned: dimension {short} is smaller than {m}",
            stacklevel=4,
        )
        return weight, np.ones_like(weight)
    mask = create_mask(weight.T, algorithm, n, m).T
    return weight * mask, mask


_supported: dict[str, Pruning] = dict.fromkeys(("fc", "linear", "conv2d"), _default_pruning)


def _snake(name: str) -> str:
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)).lower()


def add_supported_layer(layer: Layer | type[Layer] | str, pruning_func: Pruning | None = None) -> None:
    """Prune the weights of another kind of layer, too.

    Args:
        layer: a Layer, its class, or the name that its parameters begin with.
        pruning_func: gives the pruned weight and its mask for (weight, m, n, algorithm, name), arrays.
    """
    if isinstance(layer, str):
        name = layer
    else:
        name = _snake((layer if isinstance(layer, type) else type(layer)).__name__)
    _supported[name] = pruning_func or _default_pruning


def _pruning(state: _State, name: str) -> Pruning | None:
    """How the parameter called ``name`` is pruned; None where it is not."""
    if any(excluded in name for excluded in state.excluded):
        return None
    if name in _supported:
        return _supported[name]
    layer, dot, kind = name.partition(".")
    if not dot or "w_" not in kind:
        return None
    return _supported.get(layer, _supported.get(layer.rpartition("_")[0]))


def prune_model(
    model: Layer, n: int = 2, m: int = 4, mask_algo: str = "mask_1d", with_mask: bool = True
) -> dict[str, Any]:
    """Set n of m neighbouring weights of linear layers and convolutions to 0; gives the masks by name.

    Differs from Paddle: a Layer is pruned, in eager mode; a Program raises ModeError.

    Args:
        model: the Layer.
        n: how many of
        m: neighbours become 0, along the inputs of a unit.
        mask_algo: 'mask_1d', or 'mask_2d_greedy' and 'mask_2d_best', which hold for rows and columns.
        with_mask: keep the masks for the optimizer, which ``decorate`` must have been called with.

    Raises:
        ConditionError: another algorithm; masks are to be stored, and no optimizer was decorated.
        DTypeError: something else than a Layer.
    """
    create_mask(np.zeros((1, m)), mask_algo, n, m)  # refuses another algorithm before anything changes
    _require_eager("prune_model")
    if not isinstance(model, Layer):
        raise DTypeError(f"prune_model: model should be paddle.nn.Layer: got {type(model)}")
    state = _state()
    for parameter in model.parameters():
        prune = _pruning(state, parameter.name)
        if prune is None:
            continue
        weight = parameter.numpy()
        pruned, mask = prune(weight, m, n, mask_algo, parameter.name)
        own_mask = state.mask_of(parameter)
        if with_mask and own_mask is None:
            raise ConditionError(
                f"prune_model: Cannot find the mask of {parameter.name}, please call asp.decorate() to "
                "decorate your optimizer first!"
            )
        parameter.set_value(np.asarray(pruned, weight.dtype))
        if with_mask and own_mask is not None:
            own_mask.set_value(np.asarray(mask, weight.dtype))
        state.masks[parameter.name] = mask
    return dict(state.masks)


def _require_eager(where: str) -> None:
    if modes.is_static():
        raise ModeError(f"{where}: prunes in eager mode; build the network as a Layer, and leave static mode")


class OptimizerWithSparsityGuarantee:
    """An optimizer that sets pruned weights to 0 again after each step; all else is that of the optimizer."""

    def __init__(self, optimizer: Optimizer) -> None:
        self._optimizer = optimizer

    def __getattr__(self, item: str) -> Any:
        return getattr(self._optimizer, item)

    def _restore(self) -> None:
        state = _state()
        for parameter in self._optimizer._all():
            mask = state.mask_of(parameter)
            if mask is not None:
                parameter.set_value(parameter.numpy() * mask.numpy())

    def step(self) -> None:
        """A step of the optimizer; pruned weights stay 0."""
        _require_eager("step")
        self._optimizer.step()
        self._restore()

    def minimize(
        self,
        loss: AnyTensor,
        startup_program: Program | None = None,
        parameter_list: Iterable[AnyTensor | str] | None = None,
        no_grad_set: Iterable[AnyTensor | str] | None = None,
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """``minimize`` of the optimizer; pruned weights stay 0."""
        _require_eager("minimize")
        done = self._optimizer.minimize(loss, startup_program, parameter_list, no_grad_set)
        self._restore()
        return done

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer, and the masks as ``PARAMETER.asp_mask``."""
        state: dict[str, Any] = self._optimizer.state_dict()
        return state | {f"{name}.asp_mask": mask for name, mask in _state().mask_tensors.items()}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from ``state_dict``. Raises ConditionError where a mask is missing."""
        rest, state = dict(state_dict), _state()
        for name, mask in state.mask_tensors.items():
            if f"{name}.asp_mask" not in rest:
                raise ConditionError(f"set_state_dict: The {name}.asp_mask is not found.")
            mask.set_value(rest.pop(f"{name}.asp_mask"))
            state.masks[name] = mask.numpy()
        self._optimizer.set_state_dict(rest)


def decorate(optimizer: Optimizer) -> OptimizerWithSparsityGuarantee:
    """``optimizer`` as one that keeps pruned weights at 0; call it before ``prune_model``.

    Differs from Paddle: it works in eager mode only; the weights continue to train, there they get no
    gradient after the first step.
    """
    _require_eager("decorate")
    state = _state()
    for parameter in optimizer._all():
        if _pruning(state, parameter.name) is not None and state.mask_of(parameter) is None:
            state.mask_tensors[parameter.name] = Tensor(np.ones_like(parameter.numpy()))
            state.owners[parameter.name] = weakref.ref(parameter)
    return OptimizerWithSparsityGuarantee(optimizer)
