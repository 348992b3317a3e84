"""Reads the state files that ``Model.save`` writes, and matches them with a network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any, Protocol, TypedDict

import numpy as np

from engine.core.errors import AbsentStateError, ArgumentError
from engine.framework.state_files import load, save

PARAMETERS, OPTIMIZER = ".pdparams", ".pdopt"


class State(TypedDict):
    """What a training needs to resume; ``optimizer`` is empty where it has no state."""

    model: dict[str, Any]
    optimizer: dict[str, Any]


class Stateful(Protocol):
    """What has a state: an Optimizer, or what wraps one."""

    def state_dict(self) -> dict[str, Any]: ...

    def set_state_dict(self, state_dict: Mapping[str, Any], /) -> object: ...


def of(parameters: Mapping[str, Any], optimizer: Stateful | None) -> State:
    """The state of a network with these parameters and its optimizer, which may be None."""
    return {"model": dict(parameters), "optimizer": {} if optimizer is None else optimizer.state_dict()}


def write(path: str, state: State) -> None:
    """Write the parameters, and the optimizer's state where it has one."""
    save(state["model"], path + PARAMETERS)
    if state["optimizer"]:
        save(state["optimizer"], path + OPTIMIZER)


def read(path: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The parameters and the optimizer's state (None where there is none) at ``path``, or in a checkpoint."""
    if path.endswith(".h5"):
        from engine.files.checkpoint import read_checkpoint

        tree = read_checkpoint(path)
        return tree["model"], tree["optimizer"] or None
    for suffix in (PARAMETERS, OPTIMIZER):
        path = path.removesuffix(suffix)
    if not os.path.isfile(path + PARAMETERS):
        raise AbsentStateError(
            f"Model.load: {path}{PARAMETERS}: there is no such file: Failed to load parameters, please check "
            "path."
        )
    state = load(path + OPTIMIZER) if os.path.isfile(path + OPTIMIZER) else None
    return load(path + PARAMETERS), state


def matched(wanted: Mapping[str, Any], found: Mapping[str, Any], skip_mismatch: bool) -> dict[str, Any]:
    """The entries of ``found`` that fit those of ``wanted`` by name and shape.

    Raises ArgumentError for any that does not; with ``skip_mismatch`` it is skipped, with a warning.
    """
    fitting = {}
    for name, own in wanted.items():
        problem = _problem(name, own, found)
        if problem is None:
            fitting[name] = found[name]
        elif skip_mismatch:
            warnings.warn(f"Skip loading for {name}. {problem}", stacklevel=5)
        else:
            raise ArgumentError(
                f"Model.load: {problem} Load what belongs to this network, or pass skip_mismatch=True"
            )
    return fitting


def restore(
    optimizer: Stateful, state: Mapping[str, Any], wanted: Mapping[str, Any], found: Mapping[str, Any]
) -> None:
    """Give ``optimizer`` a state that was saved with the parameters ``found``, for those of ``wanted``.

    The state of another kind of optimizer is skipped, with a warning: the parameters are of use without it.
    """
    try:
        optimizer.set_state_dict(_renamed(state, wanted, found))
    except ArgumentError as error:
        warnings.warn(f"Model.load: the optimizer's state is skipped: {error}", stacklevel=4)


def _renamed(state: Mapping[str, Any], wanted: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
    """``state`` under the names of the parameters of ``wanted``.

    Keys begin with the parameter's own name (``linear_0.w_0``), which another network of the same process
    does not share; the entries of both state dicts say which parameter is which.
    """
    names = {
        getattr(found[name], "name", own.name): own.name for name, own in wanted.items() if name in found
    }

    def own_key(key: str) -> str:
        fitting = [old for old in names if key == old or key.startswith(f"{old}_")]
        old = max(fitting, key=len, default="")
        return names[old] + key[len(old) :] if old else key

    return {
        own_key(key): _renamed(value, wanted, found) if key == "master_weights" else value
        for key, value in state.items()
    }


def _problem(name: str, own: Any, found: Mapping[str, Any]) -> str | None:
    if name not in found:
        return f"{name} is not found in the providing file."
    shape, wanted = list(np.shape(found[name])), list(own.shape)
    if shape != wanted:
        return f"{name} receives a shape {shape}, but the expected shape is {wanted}."
    return None
