"""NumPy called by converted code: it computes with arrays, and a Tensor of a Program has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.jit.convert import backend
from engine.jit.convert.runtime.state import refuse, user_place

CONTAINERS = (list, tuple)


def is_numpys(function: object) -> bool:
    """Whether the callable belongs to NumPy."""
    if isinstance(function, np.ufunc):
        return True
    module = getattr(function, "__module__", None)
    return isinstance(module, str) and (module == "numpy" or module.startswith("numpy."))


def call_numpy(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The function's result. Raises ConversionError where only the running Program knows an argument."""
    for value in (*args, *kwargs.values()):
        if _undecided(value):
            name = getattr(function, "__name__", str(function))
            refuse(
                user_place(),
                f"`numpy.{name}` is called with a value that is known only when the Program runs",
                "NumPy computes at once, while the Program is built",
                f"use paddle.{name}, or what does the same, or compute it outside of the converted function",
            )
    return function(*args, **kwargs)


def _undecided(value: Any) -> bool:
    if isinstance(value, CONTAINERS):
        return any(_undecided(item) for item in value)
    return backend.get().is_undecided(value)
