"""Optional properties of operators: decorators above ``@op``, which those who read one ask for it.

::

    @traits.complex_gradient
    @traits.order(1)  # the second derivative has no rule
    @op("cumprod", infer=same_as_x)
    def cumprod(xp, x): ...

    if operator.opdef in traits.opaque: ...

A property that one module alone reads is a table next to it instead, as ``again`` of
``engine/program/graph/replay_state.py`` is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])
Value = TypeVar("Value")


class Trait(set[Any]):
    """The definitions of the operators that have a property; as a decorator it adds one."""

    def __call__(self, function: Function) -> Function:
        """``function`` applies the operator, as ``@op`` returns it."""
        self.add(function.opdef)  # type: ignore[attr-defined]
        return function


class ValuedTrait(dict[Any, Value], Generic[Value]):
    """The value of a property for the definitions of the operators that have it; others have None."""

    def __call__(self, value: Value) -> Callable[[Function], Function]:
        def decorate(function: Function) -> Function:
            self[function.opdef] = value  # type: ignore[attr-defined]
            return function

        return decorate


# -- gradients -------------------------------------------------------------------------------------------
broadcasts = Trait()
"""Gradients are summed back to the inputs' shapes."""

complex_gradient = Trait()
"""The gradient rules hold for complex values too: they are linear with real factors, or they conjugate."""

holomorphic = Trait()
"""The gradient rules multiply by the complex derivative; for complex values its conjugate is needed."""

gradient_effect = Trait()
"""The gradient has an effect, too."""

order: ValuedTrait[int] = ValuedTrait()
"""1: there are no second derivatives (give the reason in a comment); 0: the operator computes such a first
derivative."""

# -- runs ------------------------------------------------------------------------------------------------
moves = Trait()
"""The result may be on another device than the inputs."""

opaque = Trait()
"""It runs a Python function that only this process has, so no file may hold it."""

passes_on = Trait()
"""The result of its effect is its input, so that a second run omits the effect."""

loops = Trait()
"""It runs its regions any number of times."""
