"""FLAGS_check_nan_inf: looks for nan and infinity in the result of every eager operator."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

from engine.core.errors import NotFiniteError
from engine.core.frames import line_of, outside
from engine.core.operators.opdef import OpDef
from engine.core.place import array_module
from engine.core.values.bfloat import is_bfloat16, widen
from engine.core.values.dtype import bfloat16, from_numpy
from engine.eager.mode import Watcher, unwatch, watch
from engine.eager.tensor import Tensor

_watching: list[Watcher] = []


def check_values(on: bool, level: int = 0, looked_at: Callable[[str], bool] | None = None) -> None:
    """Turn the check of every eager operator's results on or off.

    At ``level`` 0 a result with nan or infinity raises NotFiniteError; above, it gives a RuntimeWarning.
    ``looked_at`` decides by an operator's name whether its results are checked; by default all are.
    """

    def check(
        opdef: OpDef, inputs: tuple[Any, ...], attrs: dict[str, Any], results: list[Tensor | None]
    ) -> None:
        if looked_at is not None and not looked_at(opdef.name):
            return
        for array in [each._array for each in results if each is not None]:
            if array.dtype.kind in "fc" or is_bfloat16(array):
                _look(opdef, array, level)

    while _watching:
        unwatch(_watching.pop())
    if on:
        _watching.append(check)
        watch(check)


def _look(opdef: OpDef, array: Any, level: int) -> None:
    xp, dtype = array_module(array), from_numpy(array.dtype)
    if dtype is bfloat16:
        array = widen(xp, array)
    if bool(xp.isfinite(array).all()):
        return
    nan, infinite = int(xp.isnan(array).sum()), int(xp.isinf(array).sum())
    frame = outside(sys._getframe(1))
    message = (
        f"{opdef.name}: its result holds {nan} nan and {infinite} infinite values of {array.size}: shape "
        f"{list(array.shape)}, {dtype.name} ({frame.f_code.co_filename}:"
        f"{line_of(frame.f_code, frame.f_lasti)}); look at its inputs, or set FLAGS_check_nan_inf to 0"
    )
    if level == 0:
        raise NotFiniteError(message)
    warnings.warn(message, RuntimeWarning, stacklevel=2)
