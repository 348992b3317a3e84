"""Switches of gradient recording: no_grad, enable_grad, set_grad_enabled, is_grad_enabled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar, cast, overload

from engine.core import mode as modes

Function = TypeVar("Function", bound=Callable[..., Any])


class _Switch:
    """A context manager and decorator that turns recording on or off; reusable and reentrant.

    It holds no state, so that several threads may use one object.
    """

    grad = False

    def __enter__(self) -> None:
        modes.enter(self, modes.current().with_grad(self.grad))

    def __exit__(self, *_: object) -> None:
        modes.leave(self)

    def __call__(self, function: Function) -> Function:
        return _decorated(function, type(self))


class _NoGrad(_Switch):
    grad = False


class _EnableGrad(_Switch):
    grad = True


def _decorated(function: Function, switch: Callable[[], AbstractContextManager[None]]) -> Function:
    """``function`` with every call, or every step of a generator, run under a new switch."""
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
                    except BaseException as error:  # the generator may handle the exception
                        resume, given = iterator.throw, error
            finally:
                with switch():
                    iterator.close()

        return cast("Function", generator)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with switch():
            return function(*args, **kwargs)

    return cast("Function", wrapped)


@overload
def no_grad(function: None = None) -> _NoGrad: ...
@overload
def no_grad(function: Function) -> Function: ...
def no_grad(function: Function | None = None) -> _NoGrad | Function:
    """Turn recording off: ``with no_grad():``, ``@no_grad()`` or ``@no_grad``."""
    return _NoGrad() if function is None else _NoGrad()(function)


@overload
def enable_grad(function: None = None) -> _EnableGrad: ...
@overload
def enable_grad(function: Function) -> Function: ...
def enable_grad(function: Function | None = None) -> _EnableGrad | Function:
    """Turn recording on again inside a ``no_grad`` block."""
    return _EnableGrad() if function is None else _EnableGrad()(function)


class set_grad_enabled:
    """Turn recording on or off: as a call, for a ``with`` block, or for a function as its decorator.

    Differs from Paddle: decorating a function leaves the mode outside of it unchanged.
    """

    def __init__(self, mode: bool) -> None:
        self._mode = bool(mode)
        self._before = modes.variable.get()
        modes.variable.set(modes.current().with_grad(self._mode))

    def __call__(self, function: Function) -> Function:
        modes.variable.set(self._before)
        return _decorated(function, _EnableGrad if self._mode else _NoGrad)

    def __enter__(self) -> None:
        modes.open_after(self, self._before)

    def __exit__(self, *_: object) -> None:
        modes.leave(self)


def is_grad_enabled() -> bool:
    """True where operators on tensors with stop_gradient=False are recorded; False in static mode."""
    mode = modes.current()
    # A converted function is traced as it runs eagerly.
    return mode.grad and not (mode.static and mode.training is None)
