"""x[index] with index tensors on a GPU, and its gradient: without a wait, sums in NumPy's order.

Served are integer tensors next to each other, with numbers and slices around them; masks, whose
results have sizes that only the device knows, are left to CuPy's functions.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

from engine.kernels.cupy.arrays.adding import add_rows
from engine.kernels.cupy.arrays.taking import DEEPEST, are_positions, keys, taken
from engine.kernels.cupy.defaults import default
from engine.kernels.cupy.source import TYPES


class _Picked(NamedTuple):
    """An index in two steps: ``basic`` gives a view, ``tensors`` pick from its axes from ``axis`` on."""

    basic: tuple[Any, ...]
    axis: int
    tensors: list[Any]


def _read(x: Any, index: Any, indices: Any) -> _Picked | None:
    """The index (as ``engine.ops.arrays.index`` writes it) of an array like x; None for one not served."""
    basic: list[Any] = []
    tensors: list[Any] = []
    at: list[int] = []  # positions of the tensors among the items that keep an axis
    axes, skipped = 0, -1
    for item in index:
        if isinstance(item, int):
            basic.append(item)
            continue
        if isinstance(item, str):
            basic.append(Ellipsis)
            skipped = axes
            continue
        if item is None or item[0] == "number":
            return None
        if item[0] == "slice":
            if any(isinstance(bound, (list, tuple)) for bound in item[1:]):
                return None
            basic.append(slice(*item[1:]))
        else:
            tensors.append(indices[item[1]])
            at.append(axes)
            basic.append(slice(None))
        axes += 1
    if not tensors or len(tensors) > DEEPEST or not all(are_positions(each) for each in tensors):
        return None
    hidden = x.ndim - axes - sum(isinstance(item, int) for item in index)
    if hidden < 0 or at != list(range(at[0], at[0] + len(at))) or at[0] < skipped < at[-1] + 1:
        return None
    axis = at[0] + (hidden if 0 <= skipped <= at[0] else 0)
    return _Picked((*basic, ...) if Ellipsis not in basic else tuple(basic), axis, tensors)


def _positions(xp: Any, found: _Picked) -> Any:
    """One array of positions, in its last dimension where several tensors are; None: they do not fit."""
    if len(found.tensors) == 1:
        return found.tensors[0]
    try:
        together = xp.broadcast_arrays(*found.tensors)
    except ValueError:
        return None
    return xp.stack([each.astype("int64", copy=False) for each in together], axis=-1)


def _sizes(part: Any, found: _Picked) -> tuple[tuple[int, ...], tuple[int, int, int]]:
    """The sizes of the axes that are picked from, and the array as [outer][their product][inner]."""
    end = found.axis + len(found.tensors)
    picked = part.shape[found.axis : end]
    return picked, (prod(part.shape[: found.axis]), prod(picked), prod(part.shape[end:]))


def getitem(xp: Any, x: Any, indices: Any, *, index: Any) -> Any:
    """x[index], copied."""
    found = _read(x, index, indices) if x.itemsize <= 8 else None
    places = None if found is None else _positions(xp, found)
    if found is None or places is None:
        return default("getitem")(xp, x, indices, index=index)
    part = x[found.basic]
    picked, sizes = _sizes(part, found)
    several = len(picked) > 1
    shape = places.shape[:-1] if several else places.shape
    made = (*part.shape[: found.axis], *shape, *part.shape[found.axis + len(picked) :])
    if several:
        places = keys(xp, "getitem", places, picked, wraps=True)
    return taken(xp, "" if several else "getitem", part, places, made, sizes, prod(shape), wraps=not several)


def getitem_grad(xp: Any, g_in: Any, like: Any, indices: Any, *, index: Any) -> Any:
    """Zeros like ``like`` with g_in added at index."""
    known = g_in.dtype.name in TYPES and g_in.dtype != bool
    found = _read(like, index, indices) if known else None
    places = None if found is None else _positions(xp, found)
    if found is None or places is None:
        return default("getitem_grad")(xp, g_in, like, indices, index=index)
    made = xp.zeros(like.shape, g_in.dtype)
    part = made[found.basic]
    target = part if part.flags.c_contiguous else xp.zeros(part.shape, g_in.dtype)
    picked, sizes = _sizes(part, found)
    add_rows(xp, "getitem", target, places, g_in, sizes, within=picked, wraps=True)
    if target is not part:
        part[...] = target
    return made
