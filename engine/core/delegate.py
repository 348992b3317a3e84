"""Delegate: a function that a lower room declares and calls, and that a higher room defines."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Delegate(Generic[P, R]):
    """Calls the function that was given to ``define``.

    ``declaration`` has the parameters, result and docstring and is never called itself; ``where`` names the
    module that defines the function. The calling room declares::

        @delegate("engine.program.passes.clone")
        def clone(program: Program, for_test: bool) -> Program: ...

    and that module puts ``@delegates.clone.define`` above the function.
    """

    def __init__(self, declaration: Callable[P, R], where: str) -> None:
        self.name = declaration.__name__
        self.where = where
        self.__doc__ = declaration.__doc__
        self._function: Callable[P, R] | None = None

    def define(self, function: Callable[P, R]) -> Callable[P, R]:
        """Let calls go to ``function``, which is returned unchanged. Raises TypeError for a second one."""
        before = self._function
        if before is not None and before.__module__ != function.__module__:
            raise TypeError(
                f"{self.name}: {before.__module__} defines it already: got another function from "
                f"{function.__module__}; define it once"
            )
        self._function = function
        return function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self._function is None:
            importlib.import_module(self.where)  # a room that is loaded when it is first needed
        if self._function is None:
            raise TypeError(f"{self.name}: nothing defines it; {self.where} should")
        return self._function(*args, **kwargs)


def delegate(where: str) -> Callable[[Callable[P, R]], Delegate[P, R]]:
    """A Delegate in place of the decorated declaration; the module ``where`` defines the function."""
    return lambda declaration: Delegate(declaration, where)
