"""``DataFeeder``: rows of a reader as the arrays that an Executor is fed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError
from engine.program.run.executor import default_main_program

__all__ = ["DataFeeder"]


class DataFeeder:
    """Gathers each field of the rows in an array of the Variable's dtype, by the names in ``feed_list``."""

    def __init__(self, feed_list: Sequence[Any], place: Any = None, program: Any = None) -> None:
        block = (program or default_main_program()).global_block()
        self._variables = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        self.place = place

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, Any]:
        """The fields of all rows by name. Raises ArgumentError for a row of another number of fields."""
        rows = list(iterable)
        for row in rows:
            if len(row) != len(self._variables):
                raise ArgumentError(
                    f"DataFeeder.feed: a row has {len(row)} fields: feed_list has {len(self._variables)}; "
                    "give one field for each"
                )
        found = {}
        for variable, column in zip(self._variables, zip(*rows, strict=True), strict=True):
            array = np.array(column, dtype=variable.spec.dtype.np)
            shape = variable.spec.shape
            found[variable.name] = array if array.ndim == len(shape) else array.reshape(shape)
        return found
