"""Names that public functions give to their results in a Program.

Eager execution has no names, so these cost nothing there, or one look at the mode: thin functions begin with
``if name: return named(name, function, ...)``, or, where Paddle does not call the results after the operator,
with ``if starts(NAMING): return called(NAMING, name, function, ...)``. All others have a decorator.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from engine.core import mode as modes
from engine.core.raw_errors import RAW, explained
from engine.program.build.builder import Builder, current_builder
from engine.program.text.naming import Call, Naming

P = ParamSpec("P")
R = TypeVar("R")


def named(name: str, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """``function(*args, **kwargs)``, its results called after ``name`` where a Program is built."""
    builder = current_builder()
    if builder is None:
        return function(*args, **kwargs)
    with builder.calls.running(Call(None, name)):
        return function(*args, **kwargs)


def starts(naming: Naming) -> bool:
    """True where a Program is built and ``called`` has yet to run the function that asks."""
    mode = modes.variable.get() or modes.default.mode
    return mode.static and isinstance(mode, Builder) and mode.calls.innermost is not naming


def called(
    naming: Naming, name: str | None, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs
) -> R:
    """``function(*args, **kwargs)``, its results named after ``name``, or by ``naming``."""
    builder = current_builder()
    assert builder is not None, "starts() is true only while a Program is built"
    with builder.calls.running(Call(naming, name)):
        return function(*args, **kwargs)


def takes_name(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose results are called after its argument ``name``, where it is given."""
    return _calling(function, None)


def names_results(key: str = "", **more: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function whose results are named by ``Naming(key, **more)``, or after its argument ``name``."""
    naming = Naming(key, **more)
    return lambda function: _calling(function, naming)


def names_results_by_layer(order: str = "") -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A Layer's method whose results are called after the Layer, ``batch_norm_0.tmp_0``."""
    naming = Naming(order=order)

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        return _calling(method, naming, lambda args: str(args[0].full_name()))

    return decorate


def _calling(
    function: Callable[P, R], naming: Naming | None, helper: Callable[[Any], str] = lambda args: ""
) -> Callable[P, R]:
    code = function.__code__
    parameters = code.co_varnames[: code.co_argcount]
    at = parameters.index("name") if "name" in parameters else len(parameters)
    current, default = modes.variable.get, modes.default

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        mode = current() or default.mode
        try:
            if not mode.static:
                return function(*args, **kwargs)
            assert isinstance(mode, Builder), "only building is static"
            name = kwargs["name"] if "name" in kwargs else args[at] if at < len(args) else None
            if naming is None and not name:
                return function(*args, **kwargs)
            with mode.calls.running(Call(naming, name, helper(args))):
                return function(*args, **kwargs)
        except RAW as error:
            raise explained(function, args, kwargs, error)  # noqa: B904 - the error has its cause

    return call
