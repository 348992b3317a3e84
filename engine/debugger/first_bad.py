"""FirstBad: looks for the operator at which a batch stops being finite."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.debugger.conditions import NotFinite, first_not_finite
from engine.debugger.points import Array, Point
from engine.debugger.stop import Reason
from engine.debugger.views import arrays_of, is_finite, numbers


class FirstBad:
    """Looks at each operator: the first with finite inputs and a result that is not finite.

    A batch may have infinity on purpose, as masks of attention have. So an operator without inputs may make
    it; and where a NaN comes of infinities that no operator made of finite values, ``at_end`` names the
    operator that made the first NaN.
    """

    def __init__(self, condition: NotFinite, initial: Mapping[str, Array]) -> None:
        self._condition = condition
        self._position = 0
        self._late: tuple[int, str, str] | None = None
        for name, array in initial.items():
            if has_nan(array):
                self._late = 0, name, f"{name}: has NaN before the first operator"
                break

    def look(self, point: Point) -> tuple[Reason, str, str] | None:
        """Why to stop at this point; None to go on."""
        self._position += 1
        value = first_not_finite(point.outputs)
        if value is None or self._condition.ignores(point.site):
            return None
        given = first_not_finite(point.inputs)
        makes_nan = any(has_nan(array) for _, array in point.outputs)
        if given is None:
            if not makes_nan and not any(True for _, a in point.inputs for _ in arrays_of(a)):
                return None
            what = "NaN" if makes_nan else "infinity"
            return "not finite", f"the inputs are finite, the result has {what}", value
        if makes_nan and self._late is None and not any(has_nan(array) for _, array in point.inputs):
            self._late = self._position, value, f"the first NaN; its input {given} has infinity already"
        return None

    def at_end(self) -> tuple[int, str, str] | None:
        """Where NaN began though no operator made it of finite values: number of the operator, value, words;
        None for a batch without NaN."""
        return self._late


def has_nan(value: Array) -> bool:
    """Whether an element is NaN."""
    return any(not is_finite(array) and bool(np.isnan(numbers(array)).any()) for array in arrays_of(value))
