"""Learning-rate decays as plain values, and made again from them, by the names of fluid's own classes."""

from __future__ import annotations

import warnings
from typing import Any

from engine.core.errors import ArgumentError, FormatError
from engine.fluid.dygraph import decays, epoch_decays, learning_rate_scheduler
from engine.fluid.dygraph.learning_rate_scheduler import LearningRateDecay

_INNER, _FORMULA, _DICT = "__decay__", "__formula__", "__dict__"
_PLAIN = (bool, int, float, str, type(None))


def is_decay(rate: Any) -> bool:
    """Whether ``rate`` is a learning rate that changes with the steps."""
    return isinstance(rate, LearningRateDecay)


def described(decay: Any) -> dict[str, Any]:
    """The class and the attributes of ``decay``. Raises ArgumentError for an attribute that is not plain."""
    state = {name: _plain(decay, name, value) for name, value in vars(decay).items()}
    return {_INNER: type(decay).__name__, "state": state}


def _plain(decay: Any, name: str, value: Any) -> Any:
    if is_decay(value):
        return described(value)
    if isinstance(value, dict):
        return {_DICT: {str(key): _plain(decay, name, each) for key, each in value.items()}}
    if callable(value) and getattr(value, "__module__", "") == decays.__name__:
        return {_FORMULA: value.__name__}
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(decay, name, each) for each in value)
    if isinstance(value, _PLAIN):
        return value
    if hasattr(value, "item") and getattr(value, "size", 0) == 1:
        return value.item()
    raise ArgumentError(
        f"save_persistables: {type(decay).__name__}.{name} is {type(value).__name__}, which can't be saved; "
        "keep numbers, strings and lists of them in a decay"
    )


def made(name: str, tree: Any, path: str) -> Any:
    """The decay that ``described`` gave ``tree`` for; None, with a warning, for a class that fluid lacks.

    Raises FormatError, naming ``path``, for a malformed tree.
    """
    kind = tree.get(_INNER) if isinstance(tree, dict) else None
    state = tree.get("state") if isinstance(tree, dict) else None
    if not isinstance(kind, str) or not isinstance(state, dict):
        raise FormatError(f"{path}: the decay of {name!r} is malformed; save it again")
    found = {**vars(learning_rate_scheduler), **vars(epoch_decays)}.get(kind)
    if not (isinstance(found, type) and issubclass(found, LearningRateDecay)):
        warnings.warn(
            f"load_persistables: {path}: the decay of {name!r} is of the class {kind!r}, which fluid does "
            "not have; make it again in the script and set its step_num",
            stacklevel=4,
        )
        return None
    decay = found.__new__(found)
    vars(decay).update({key: _restored(name, value, path) for key, value in state.items()})
    return decay


def _restored(name: str, value: Any, path: str) -> Any:
    if isinstance(value, dict):
        if isinstance(value.get(_DICT), dict):
            return {key: _restored(name, each, path) for key, each in value[_DICT].items()}
        return _formula(name, value[_FORMULA], path) if _FORMULA in value else made(name, value, path)
    if isinstance(value, (list, tuple)):
        return type(value)(_restored(name, each, path) for each in value)
    return value


def _formula(name: str, wanted: Any, path: str) -> Any:
    if wanted not in decays.__all__:
        raise FormatError(f"{path}: the decay of {name!r} has an unknown formula: {wanted!r}; save it again")
    return getattr(decays, wanted)
