"""Switches of gradient recording: no_grad, enable_grad, set_grad_enabled, is_grad_enabled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from engine.core import mode as modes


class _Switch:
    """A context manager and decorator that records, or not, within its block; usable again and nested.

    It holds no state of its own, so that several threads may use one object.
    """

    grad = False

    def __enter__(self) -> None:
        modes.enter(self, modes.current().with_grad(self.grad))

    def __exit__(self, *_: object) -> None:
        modes.leave(self)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return _decorated(function, self._again)

    def _again(self) -> _Switch:
        return type(self)()


def _decorated(function: Callable[..., Any], switch: Callable[[], Any]) -> Callable[..., Any]:
    """``function`` with each call, or each turn of a generator, run under a new switch."""
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def generator(*args: Any, **kwargs: Any) -> Any:
            iterator = function(*args, **kwargs)
            resume, given = iterator.send, None
            try:
                while True:
                    try:
                        with switch():
                            value = resume(given)
                    except StopIteration as stop:
                        return stop.value
                    try:
                        given = yield value
                        resume = iterator.send
                    except GeneratorExit:
                        raise
                    except BaseException as error:  # the generator may want to handle what is thrown into it
                        resume, given = iterator.throw, error
            finally:
                with switch():
                    iterator.close()

        return generator

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with switch():
            return function(*args, **kwargs)

    return wrapped


class _NoGrad(_Switch):
    grad = False


class _EnableGrad(_Switch):
    grad = True


def no_grad(function: Callable[..., Any] | None = None) -> Any:
    """Record nothing: ``with no_grad():``, ``@no_grad()`` or ``@no_grad``."""
    return _NoGrad() if function is None else _NoGrad()(function)


def enable_grad(function: Callable[..., Any] | None = None) -> Any:
    """Record again inside a ``no_grad`` block."""
    return _EnableGrad() if function is None else _EnableGrad()(function)


class set_grad_enabled:
    """Record or not from here on (as a call), within a block, or in a function (as a decorator).

    Differs from Paddle: decorating a function leaves the mode outside of it as it was.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = bool(mode)
        self._before = modes.variable.get()
        modes.variable.set(modes.current().with_grad(self._mode))

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        modes.variable.set(self._before)
        return _decorated(function, _EnableGrad if self._mode else _NoGrad)

    def __enter__(self) -> None:
        modes.open_after(self, self._before)

    def __exit__(self, *_: object) -> None:
        modes.leave(self)


def is_grad_enabled() -> bool:
    return modes.current().grad
