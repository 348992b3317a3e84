"""Operations on the bits of integers, and on their divisors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core.raw_errors import RAW, explained
from engine.ops.elementwise import bitwise as ops
from engine.program.build.calls import named
from engine.tensor.arguments.factories import alike, binary
from engine.tensor.arguments.promote import operands
from engine.tensor.members.inplace import replace
from engine.tensor.tensor_like import AnyTensor


def _into(where: str, out: Any, value: Any) -> Any:
    return value if out is None else replace(where, out, value)


def _bits(name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any, out: Any = None, name: str | None = None) -> Any:
        try:
            if name:
                return named(name, function, x, y, out)
            return _into(where, out, apply(x, y) if alike(x, y) else apply(*operands(where, x, y)))
        except RAW as error:
            raise explained(function, (x, y, out, name), {}, error)  # noqa: B904 - the error has its cause

    where = name
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        f"{apply.__doc__} Elementwise, broadcast; logic for bool. Raises DTypeError for floating tensors."
    )
    return function


bitwise_and = _bits("bitwise_and", ops.bitwise_and)
bitwise_or = _bits("bitwise_or", ops.bitwise_or)
bitwise_xor = _bits("bitwise_xor", ops.bitwise_xor)


def bitwise_not(x: AnyTensor, out: AnyTensor | None = None, name: str | None = None) -> Any:
    """All bits turned over; logic for bool. Raises DTypeError for floating tensors."""
    if name:
        return named(name, bitwise_not, x, out)
    return _into("bitwise_not", out, ops.bitwise_not(x))


gcd = binary("gcd", ops.gcd)
lcm = binary("lcm", ops.lcm)
