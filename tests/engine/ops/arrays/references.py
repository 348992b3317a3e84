"""References that tables of ``engine/ops/arrays`` share: results of operators, computed another way."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.engine.ops.references import places


def put_along(
    x: Any,
    indices: Any,
    values: Any,
    axis: int = 0,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = False,
) -> Any:
    shape = [d if n == axis % x.ndim or not broadcast else x.shape[n] for n, d in enumerate(indices.shape)]
    indices, values = np.broadcast_to(indices, shape), np.broadcast_to(values, shape)
    met: dict[Any, list[float]] = {}
    for place in places(shape):
        target = list(place)
        target[axis] = int(indices[place])
        met.setdefault(tuple(target), []).append(values[place])
    result = x.copy()
    for target, found in met.items():
        every = [x[target], *found] if include_self else found
        join = {"add": sum, "mul": np.prod, "amin": min, "amax": max, "assign": lambda e: e[-1]}[reduce]
        result[target] = join(every)
    return result
