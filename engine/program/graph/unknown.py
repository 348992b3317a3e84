"""A dimension that is known only when the Program runs: -1 to the engine, a Variable in arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ConversionError


class Unknown:
    """-1 that remembers how to ask for the real number.

    It equals -1 and counts as negative, which marks an unknown dimension in a shape; arithmetic and
    comparisons with other numbers give Variables, as those of ``shape(x)[axis]`` do. Where no function is
    converted, Python's ``if`` takes such a comparison as that of -1, as Paddle does. It is not an int: a
    float on the left would take it for -1.
    """

    __slots__ = ("_ask", "axis", "variable")

    def __init__(self, ask: Callable[[], Any], variable: Any = None, axis: int | None = None) -> None:
        self._ask, self.variable, self.axis = ask, variable, axis

    def value(self) -> Any:
        """The number as an int64 Variable without dimensions."""
        return self._ask()

    __call__ = value

    def __int__(self) -> int:
        return -1

    __index__ = __int__

    def __float__(self) -> float:
        raise ConversionError(
            "float(): a dimension is known only when the Program runs; compute with it as it is, or fix it "
            "in the InputSpec"
        )

    def __abs__(self) -> int:
        return 1

    def __neg__(self) -> Any:
        return 0 - self.value()

    def __eq__(self, other: object) -> bool:
        return (int(other) if isinstance(other, Unknown) else other) == -1

    def __hash__(self) -> int:
        return hash(-1)

    def __repr__(self) -> str:
        return "-1"


def known_operand(value: object) -> Any:
    """``value``, or the Variable of an Unknown."""
    return value.value() if value.__class__ is Unknown else value


def _computed(name: str) -> Callable[[Any, Any], Any]:
    def method(self: Unknown, other: Any) -> Any:
        if isinstance(other, (list, tuple, str)):
            raise ConversionError(
                f"{type(other).__name__} * dimension: the dimension is known only when the Program runs; use "
                "tile or expand on a Tensor, or fix it in the InputSpec"
            )
        return getattr(self.value(), name)(known_operand(other))

    return method


def _compared(name: str, plain: int | None) -> Callable[[Any, Any], Any]:
    """``plain`` is the number that the engine compares with to ask whether the dimension is known."""
    ordinary = getattr(int, name)

    def method(self: Unknown, other: Any) -> Any:
        if other.__class__ is int and other in (plain, -1):
            return ordinary(-1, other)
        made = getattr(self.value(), name)(known_operand(other))
        if isinstance(other, (int, Unknown)) and modes.current().training is None:
            made.decided = ordinary(-1, int(other))
        return made

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(Unknown, f"__{_name}__", _computed(f"__{_name}__"))
    setattr(Unknown, f"__r{_name}__", _computed(f"__r{_name}__"))
for _name, _plain in (("lt", 0), ("ge", 0), ("gt", None), ("le", None)):
    setattr(Unknown, f"__{_name}__", _compared(f"__{_name}__", _plain))
