"""How observers look at values: at once, or each time that the Program which is being built runs."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.eager.tensor import wrap
from engine.ops.control import py_func as ops


def look(take: Callable[..., None], *values: Any) -> None:
    """Call the method ``take`` with ``values`` as NumPy arrays.

    In a function that is converted (``to_static``) they are known only when its Program runs: then ``take``
    is called at each run, as long as the object that it belongs to is there.
    """
    if not any(modes.is_symbolic(each) for each in values):
        take(*(each.numpy() for each in values))
        return
    reference = weakref.WeakMethod(take)

    def called(*arrays: Any) -> None:
        method = reference()
        if method is not None:
            method(*(wrap(each).numpy() for each in arrays))

    ops.py_func(list(values), forward_callable_id=ops.register(called), specs=[])
