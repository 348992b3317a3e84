"""FirstBad: looks for the operator at which a batch stops being finite."""

from __future__ import annotations

from collections.abc import Mapping

from engine.debugger.conditions import NotFinite, first_not_finite, has_nan
from engine.debugger.points import Array, Point
from engine.debugger.stop import Reason


class FirstBad:
    """Looks at each operator: the first with finite inputs and a result that is not finite.

    A batch may have infinity on purpose. So where a NaN comes of infinities that no operator made of finite
    values, ``at_end`` names the operator that made the first NaN, or in a search that begins within a batch
    the first one that reads a NaN from before.
    """

    def __init__(self, condition: NotFinite, initial: Mapping[str, Array], position: int = 0) -> None:
        """``position``: the number of operators that computed before, of a batch that began with
        ``initial``."""
        self.infinite = False  # whether there was a result with infinity that is not a fault
        self._condition = condition
        self._position = position
        self._late: tuple[int, str, str] | None = None
        # Whether a NaN from before the search, or set by the user, is a fault: none of an ignored operator.
        self._from_before = position > 0 and not condition.ignore
        for name, array in () if position else initial.items():
            if has_nan(array):
                self._late = 0, name, f"{name}: has NaN before the first operator"
                break

    def look(self, point: Point) -> tuple[Reason, str, str] | None:
        """Why to stop at this point; None to go on."""
        self._position += 1
        value = first_not_finite(point.outputs)
        if value is None or self._condition.ignores(point.site):
            return None
        found = self._condition.found(point)
        if found is not None:
            value, words = found
            return "not finite", words, value
        self.infinite = True
        given = first_not_finite(point.inputs)
        if self._late is None and given is not None and any(has_nan(array) for _, array in point.outputs):
            known = next((name for name, array in point.inputs if has_nan(array)), "")
            if known and self._from_before:
                self._late = self._position, value, f"its input {known} has NaN from before the search"
            elif not known:
                words = f"the first NaN; its input {given} has infinity already"
                self._late = self._position, value, words
        return None

    def at_end(self) -> tuple[int, str, str] | None:
        """Where NaN began though no operator made it of finite values: number of the operator, value, words;
        None for a batch without NaN."""
        return self._late
