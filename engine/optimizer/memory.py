"""The state of an optimizer: slots for each parameter, float32 copies of parameters in half precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.place import array_module
from engine.core.values.bfloat import converted
from engine.core.values.dtype import float32
from engine.eager.tensor import Tensor, write

# Shape and first value of every slot of a parameter, in order.
First: TypeAlias = dict[str, tuple[tuple[int, ...], float]]
MASTERS = "master_weights"


class Memory:
    """Tensors by parameter. ``key(parameter, slot)`` is a slot's name in the state dict."""

    def __init__(self, where: str, slots: Iterable[str], key: Callable[[Any, str], str]) -> None:
        self.where = where
        self.key = key
        self.slots: dict[str, dict[str, Tensor]] = {slot: {} for slot in slots}
        self.states: dict[Any, tuple[Tensor, ...]] = {}
        self.masters: dict[Any, Tensor] = {}

    def create(self, parameter: Tensor, first: First, dtype: np.dtype[Any]) -> tuple[Tensor, ...]:
        """Make the slots of a parameter with their initial values."""
        xp = array_module(parameter._array)
        made = []
        for slot, (shape, value) in first.items():
            tensor = _state_tensor(xp.full(shape, value, dtype), self.key(parameter, slot))
            self.slots[slot][parameter.name] = tensor
            made.append(tensor)
        states = self.states[parameter] = tuple(made)
        return states

    def master(self, parameter: Tensor) -> Tensor:
        """The copy in float32 that is updated in the parameter's place."""
        found = self.masters.get(parameter)
        if found is None:
            array = converted(array_module(parameter._array), parameter._array, float32)
            found = self.masters[parameter] = _state_tensor(array, f"{parameter.name}_fp32_master_0")
        return found

    def state(self) -> dict[str, Any]:
        """The whole state by name: the live Tensors, not copies."""
        state: dict[str, Any] = {}
        for slot in self.slots.values():
            state.update((tensor.name, tensor) for tensor in slot.values())
        if self.masters:
            state[MASTERS] = {parameter.name: tensor for parameter, tensor in self.masters.items()}
        return state

    def assign(
        self, state: Mapping[str, Any], wanted: list[tuple[Any, First, Any]]
    ) -> tuple[Callable[[], None], list[str]]:
        """Check ``state``; returns a function that assigns it, and the keys that belong to no parameter.

        ``wanted`` holds each parameter with its slots and their dtype. Raises ArgumentError, ShapeError or
        DTypeError where the state does not fit, before anything is changed.
        """
        given = dict(state)
        masters = given.pop(MASTERS, {})
        found: list[tuple[Any, First, Any, list[Any]]] = []
        known: set[str] = set()
        for parameter, slots, dtype in wanted:
            first = {self.key(parameter, slot): value for slot, value in slots.items()}
            missing = [key for key in first if key not in given]
            if missing and (len(missing) < len(first) or parameter in self.states):
                raise ArgumentError(
                    f"set_state_dict: {missing} of parameter {parameter.name!r} are not in the state; load "
                    "the state of an optimizer of the same class over the same parameters"
                )
            if first and not missing:
                known.update(first)
                arrays = [_fitting(key, given[key], shape, dtype) for key, (shape, _) in first.items()]
                found.append((parameter, slots, dtype, arrays))
        unknown = [key for key in given if key not in known]
        if unknown and not known:
            expected = next((self.key(p, s) for p, slots, _ in wanted for s in slots), "nothing")
            raise ArgumentError(
                f"set_state_dict: no key belongs to a parameter of this {self.where}: got {unknown[:3]} "
                f"..., expected e.g. {expected}; build the model in a fresh process, or under "
                "utils.unique_name.guard(), so that its parameters get the same names"
            )
        copies = [
            (p, _fitting(f"{MASTERS}[{p.name!r}]", masters[p.name], p._array.shape, np.dtype(np.float32)))
            for p, _, _ in wanted
            if p.name in masters
        ]

        def put() -> None:
            for parameter, slots, dtype, arrays in found:
                states = self.states.get(parameter) or self.create(parameter, slots, dtype)
                for tensor, array in zip(states, arrays, strict=True):
                    write(tensor, array)
            for parameter, array in copies:
                write(self.master(parameter), array)

        return put, unknown


def _state_tensor(array: Any, name: str) -> Tensor:
    tensor = Tensor(array, name=name)
    tensor.persistable = True
    return tensor


def _fitting(key: str, value: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The array of a loaded value. Raises ShapeError or DTypeError where it does not fit."""
    array = value._array if isinstance(value, Tensor) else np.asarray(value)
    if array.shape != tuple(shape):
        raise ShapeError(
            f"set_state_dict: {key!r} has shape {list(array.shape)}: the optimizer needs {list(shape)}; "
            "load the state of the same model"
        )
    if array.dtype != dtype:
        raise DTypeError(f"set_state_dict: {key!r} is {array.dtype}: the optimizer needs {dtype}; cast it")
    return array
