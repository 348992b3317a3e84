"""``fluid.wrapped_decorator``: decorators that keep names and signatures."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

__all__ = ["signature_safe_contextmanager", "wrap_decorator"]


def wrap_decorator(decorator_func: Callable[..., Any]) -> Callable[..., Any]:
    """``decorator_func``, whose results look like what they wrap."""

    @functools.wraps(decorator_func)
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return functools.wraps(function)(decorator_func(function))

    return decorate


signature_safe_contextmanager = contextlib.contextmanager
