"""Moving values between devices."""

from __future__ import annotations

import numpy as np

from engine.core.operators import traits
from engine.core.operators.infer import same_as_x
from engine.core.operators.opdef import op
from engine.core.place import as_place, backend, moved
from engine.core.values.bfloat import adopt


@traits.moves
@op("memcpy", infer=same_as_x)
def memcpy(xp, x, *, source="cpu", target="cpu"):
    """A copy of x on the device ``target``; its gradient is copied back to ``source``, the device of x."""
    place = as_place(target)
    there = moved(np, x) if place.kind == "cpu" else backend(place).memory.put(x, place.index)
    return x.copy() if there is x else adopt(there)


memcpy.grad(x=lambda g, source, target: memcpy(g, source=target, target=source))
