"""FLAGS_check_nan_inf: looks for nan and infinity in the result of every eager operator."""

from __future__ import annotations

import sys
import warnings
from typing import Any

from engine.core.errors import NotFiniteError
from engine.core.frames import line_of, outside
from engine.core.opdef import OpDef
from engine.core.place import array_module
from engine.eager import mode


def check_values(on: bool, level: int = 0) -> None:
    """Turn the check of every eager operator's results on or off.

    At ``level`` 0 a result with nan or infinity raises NotFiniteError; above, it gives a RuntimeWarning.
    """

    def check(opdef: OpDef, results: list[Any]) -> None:
        for array in results:
            if array is not None and array.dtype.kind in "fc":
                _look(opdef, array, level)

    for each in (mode.RECORDING, mode.NOT_RECORDING):
        each.fast = not on
        each.check = check if on else None


def _look(opdef: OpDef, array: Any, level: int) -> None:
    xp = array_module(array)
    if bool(xp.isfinite(array).all()):
        return
    nan, infinite = int(xp.isnan(array).sum()), int(xp.isinf(array).sum())
    frame = outside(sys._getframe(1))
    message = (
        f"{opdef.name}: its result holds {nan} nan and {infinite} infinite values of {array.size}: shape "
        f"{list(array.shape)}, {array.dtype} ({frame.f_code.co_filename}:"
        f"{line_of(frame.f_code, frame.f_lasti)}); look at its inputs, or set FLAGS_check_nan_inf to 0"
    )
    if level == 0:
        raise NotFiniteError(message)
    warnings.warn(message, RuntimeWarning, stacklevel=2)
