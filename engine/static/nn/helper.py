"""What the functions of ``static.nn`` share: parameters under the function's name, biases, activations."""

from __future__ import annotations

import sys
from typing import Any

from engine.core.errors import ArgumentError, DTypeError, ModeError
from engine.nn import functional
from engine.nn.layer.making import make_parameter
from engine.program.builder import Builder, current_builder
from engine.program.variable import Variable


def require_static(where: str) -> Builder:
    """The Builder of static mode. Raises ModeError where operators are computed at once."""
    builder = current_builder()
    if builder is None or builder.startup is None:
        raise ModeError(
            f"{where}: makes its parameters in a Program, and none is being built: call enable_static() "
            "first, or use the Layer of paddle.nn"
        )
    return builder


def require_variable(where: str, name: str, value: Any) -> None:
    if not isinstance(value, Variable):
        raise DTypeError(
            f"{where}: {name} must be a Variable: got {type(value).__name__}; make one with static.data()"
        )


class Helper:
    """One call of a function: its unique name, after which parameters and results are called."""

    def __init__(self, key: str, where: str | None = None) -> None:
        self.builder = require_static(where or f"static.nn.{key}")
        self.name = self.builder.program.unique_name(key)
        self.builder.helpers.enter(sys._getframe(1), self.name)

    def parameter(
        self, shape: Any, attr: Any, dtype: Any, is_bias: bool = False, default_initializer: Any = None
    ) -> Any:
        """A parameter called after the call, or None where ``attr`` is False."""
        return make_parameter(self.name, shape, attr, dtype, is_bias, default_initializer)


def activated(where: str, value: Any, activation: str | None) -> Any:
    """``value`` through the activation of that name. Raises ArgumentError for a name that is none."""
    if activation is None:
        return value
    function = getattr(functional, activation, None) if isinstance(activation, str) else None
    if function is None:
        raise ArgumentError(
            f"{where}: {activation!r} is no activation in nn.functional; use e.g. 'relu', or None"
        )
    return function(value)
