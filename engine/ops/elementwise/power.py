"""Powers with a number for exponent."""

from __future__ import annotations

from typing import Any

from engine.core.infer import floating_as_x
from engine.core.opdef import op
from engine.ops.elementwise import math


@op("pow", infer=floating_as_x("pow"))
def power(xp, x, *, factor=1.0):
    """x to the power ``factor``."""
    if factor == 2.0:
        return xp.multiply(x, x)
    if factor == 0.5:
        return xp.sqrt(x)
    return xp.power(x, x.dtype.type(factor))


def _gradient(g: Any, x: Any, factor: float) -> Any:
    if factor == 0.0:
        return math.scale(g, scale=0.0)
    slope = x if factor == 2.0 else power(x, factor=factor - 1.0)
    return math.scale(math.multiply(g, slope), scale=factor)


power.grad(x=_gradient)
