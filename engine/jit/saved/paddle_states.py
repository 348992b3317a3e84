"""What ``paddle.save`` writes for Tensors, and what ``paddle.load`` makes of it, as plain values.

A state dict is arrays by structured name, with the names of the parameters under ``NAME_TABLE``. In any other
nest a Tensor is a tuple of its name and array. Protocols 2 and 3 cut arrays over 2^30 bytes into slices.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np

from engine.core.errors import ArgumentError, FormatError
from engine.core.place import here
from engine.eager.tensor import Tensor
from engine.files.paddle.pickle_writer import named_array
from engine.program.graph.program import Program

NAME_TABLE = "StructuredToParameterName@@"
SLICES = "UnpackBigParamInfor@@"


def from_paddle(value: object, return_numpy: bool, keep_name_table: bool, path: str) -> Any:
    """The Tensors of a nest that Paddle saved, or their arrays. Raises FormatError for damaged tables."""
    if isinstance(value, dict):
        _join_slices(value, path)
        if NAME_TABLE in value:
            return _state_dict(value, return_numpy, keep_name_table, path)
    if _contains(value, _is_named_array):
        return _mapped(value, _is_named_array, lambda pair: _tensor(pair[1], pair[0], return_numpy))
    return _mapped(value, _is_array, lambda array: _tensor(array, None, return_numpy))


def _tensor(array: Any, name: str | None, return_numpy: bool) -> Any:
    return array if return_numpy else Tensor(here(array), name=name)


def _state_dict(
    value: dict[Any, Any], return_numpy: bool, keep_name_table: bool, path: str
) -> dict[Any, Any]:
    table = value[NAME_TABLE]
    if not isinstance(table, dict) or not all(isinstance(name, str) for name in table.values()):
        raise FormatError(f"{path}: its table of names {NAME_TABLE} is damaged; save it again")
    for key, name in table.items():
        if isinstance(value.get(key), np.ndarray):
            value[key] = _tensor(value[key], name, return_numpy)
    if not keep_name_table:
        del value[NAME_TABLE]
    return value


def _join_slices(value: dict[Any, Any], path: str) -> None:
    cut = value.pop(SLICES, None)
    if cut is None:
        return
    try:
        for key, facts in cut.items():
            parts = [value.pop(part) for part in facts["slices"]]
            value[key] = np.concatenate(parts).reshape(facts["OriginShape"])
    except (AttributeError, LookupError, TypeError, ValueError) as cause:
        raise FormatError(f"{path}: its table of slices {SLICES} is damaged; save it again") from cause


def _is_named_array(value: Any) -> bool:
    return (
        type(value) is tuple
        and len(value) == 2
        and isinstance(value[0], str)
        and isinstance(value[1], np.ndarray)
    )


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _contains(value: Any, fits: Callable[[Any], bool]) -> bool:
    if fits(value):
        return True
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return any(_contains(part, fits) for part in parts)


def _mapped(value: Any, fits: Callable[[Any], bool], change: Callable[[Any], Any]) -> Any:
    """``value`` with what ``fits`` changed; a list that appears twice is changed once."""
    if fits(value):
        return change(value)
    if isinstance(value, dict):
        for key, part in value.items():
            value[key] = _mapped(part, fits, change)
        return value
    if isinstance(value, list):
        value[:] = [_mapped(part, fits, change) for part in value]
        return value
    return tuple(_mapped(part, fits, change) for part in value) if isinstance(value, tuple) else value


def to_paddle(obj: object) -> Any:
    """``obj`` as the plain values that ``paddle.save`` pickles. Raises ArgumentError for a Program, which it
    does not."""
    if not _is_state_dict(obj):
        return _plain(obj)
    table = {key: value.name for key, value in obj.items() if isinstance(value, Tensor)}
    arrays = {key: value.numpy() if isinstance(value, Tensor) else value for key, value in obj.items()}
    return {**arrays, NAME_TABLE: table}


def _is_state_dict(obj: object) -> TypeGuard[Mapping[Any, Any]]:
    """Paddle's rule: a dict of Tensors, and of dicts without any."""
    return isinstance(obj, Mapping) and all(
        not _contains(value, lambda each: isinstance(each, Tensor))
        if isinstance(value, dict)
        else isinstance(value, Tensor)
        for value in obj.values()
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return named_array(value.name, value.numpy())
    if isinstance(value, Program):
        raise ArgumentError(
            "save: a Program has no pickle; save it with static.save_inference_model(..., format='paddle')"
        )
    if isinstance(value, dict):
        return type(value)((key, _plain(part)) for key, part in value.items())
    if type(value) in (list, tuple):
        return type(value)(_plain(part) for part in value)
    return value
