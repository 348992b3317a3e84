"""Arrays of one element that convert to a Python number, as the NumPy of fluid's time had them.

Values of fluid have one dimension at least, and its scripts write ``float(loss.numpy())`` for a loss of shape
[1]. NumPy 2.4 converts arrays without dimensions only.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class OneElement(np.ndarray[Any, Any]):
    """An array whose ``float()``, ``int()`` and ``complex()`` give its only element."""

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def _number(self) -> Any:
        # np.repeat, for one, gives this class with more elements; the error of NumPy is right for those.
        return self.item() if self.size == 1 else np.asarray(self)

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False, /
    ) -> np.ndarray[Any, Any] | Any:
        plain = np.asarray(array)
        return plain[()] if return_scalar else convertible(plain)

    def __repr__(self) -> str:
        return repr(np.asarray(self))


def convertible(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``array``, as a view that converts to a number where it has one element in one dimension or more."""
    return array.view(OneElement) if array.size == 1 and array.ndim else array


def all_convertible(values: list[Any]) -> list[Any]:
    """What an Executor fetched, the arrays among it ``convertible``."""
    return [convertible(value) if isinstance(value, np.ndarray) else value for value in values]
