"""Loss scaling on a GPU: gradients are looked at in one launch and divided in another, whatever their number.

Numbers are computed in float (float64 in double) and rounded once. The host does not wait: whether a gradient
is not finite is a number on the device that the second launch reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy
import numpy as np

from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.source import FLOATING, TYPES, Kernel
from engine.kernels.cupy.training.parts import (
    EACH,
    THREADS,
    arguments,
    chosen,
    grid,
    kernel,
    stretches,
    written_for,
)

Array = Any


def _look(stored: str, parts: int) -> Kernel:
    parameters, body = chosen([(f"const {stored} *", "x"), ("i64", "size")], parts)
    body += [
        "bool bad = false;",
        *EACH,
        "const auto rest = wide(x[i]) - wide(x[i]);",  # NaN for infinity and NaN
        "bad = bad || rest != rest;",
        "}",
        "if (bad) atomicOr(found, 1);",
    ]
    return kernel("look_for_infinite", [*parameters, "int *found"], body)


def _divide(stored: str, computed: str, scale: str, parts: int) -> Kernel:
    columns = [(f"{stored} *", "y"), (f"const {stored} *", "x"), ("i64", "size")]
    parameters, body = chosen(columns, parts)
    parameters += ["const int *found", "bool *flag", f"const {scale} *scale"]
    body += [
        "const bool none = *found != 0;",
        "if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) *flag = none;",
        f"const {computed} factor = ({computed})(1.0 / (double)*scale);",
        *EACH,
        f"put(y + i, none ? ({computed})0 : wide(x[i]) * factor);",
        "}",
    ]
    return kernel("divide_by_scale", parameters, body)


def check_finite_and_unscale(xp: Any, x: list[Array], scale: Array) -> list[Array]:
    """The override: each x divided by the scale, and last whether any is not finite."""
    if scale.dtype.name not in ("float32", "float64") or scale.size != 1 or not x:
        return default("check_finite_and_unscale")(xp, x, scale)  # type: ignore[no-any-return]
    if any(each.dtype.name not in FLOATING for each in x):
        return default("check_finite_and_unscale")(xp, x, scale)  # type: ignore[no-any-return]
    found, flag = cupy.zeros(1, np.int32), cupy.empty(1, bool)
    given = [cupy.ascontiguousarray(each) for each in x]
    made = [cupy.empty(each.shape, each.dtype) for each in x]
    groups: dict[str, list[int]] = {}
    for n, each in enumerate(x):
        groups.setdefault(each.dtype.name, []).append(n)
    for name, members in groups.items():
        for numbers in _cut(members, 2):
            rows = [[given[n], np.int64(given[n].size)] for n in numbers]
            look = _look(TYPES[name][0], written_for(len(rows)))
            look(grid([given[n].size for n in numbers]), (THREADS,), [*arguments(rows), found])
    for name, members in groups.items():
        for numbers in _cut(members, 3):
            rows = [[made[n], given[n], np.int64(given[n].size)] for n in numbers]
            divide = _divide(*TYPES[name], TYPES[scale.dtype.name][0], written_for(len(rows)))
            blocks = grid([given[n].size for n in numbers])
            divide(blocks, (THREADS,), [*arguments(rows), found, flag, scale])
    return [*made, flag]


def _cut(numbers: Sequence[int], columns: int) -> list[Sequence[int]]:
    return [numbers[part] for part in stretches(len(numbers), columns)]
