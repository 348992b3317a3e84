"""Operators whose sizes are values: dimensions known only when a Program runs are given as tensors.

``dims`` holds them, one number each, in the order of their ``places`` in the attribute.
"""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Size
from engine.core.operators.infer import reshaped
from engine.core.operators.opdef import op
from engine.core.values.bfloat import converted
from engine.core.values.dtype import as_dtype
from engine.core.values.spec import Spec
from engine.ops.arrays import shape as shape_ops
from engine.ops.arrays.creation import sizes


def _infer_reshape(x: Spec, dims: list[Spec], *, shape: Any, places: Any) -> Spec:
    if any(d == -1 for n, d in enumerate(shape) if n not in places):
        return x.with_shape([-1 if d == -1 or n in places else d for n, d in enumerate(shape)])
    probe = [-1 if n in places else x.shape[n] if d == 0 else d for n, d in enumerate(shape)]
    if probe.count(-1) == 1 and x.known:
        return x.with_shape(reshaped("reshape", x.shape, probe))
    return x.with_shape(probe)


@traits.complex_gradient
@op("reshape2_dims", infer=_infer_reshape, view=True, slots={"dims": "ShapeTensor"})
def reshape(xp, x, dims: list, *, shape: Size, places):
    """reshape2 with dimensions that are values; 0 and -1 have the same meaning. A view."""
    made = sizes(shape, dims, places, least=-1)
    return x.reshape([x.shape[n] if d == 0 and n < x.ndim else d for n, d in enumerate(made)])


reshape.grad(x=lambda g, x_spec: shape_ops.reshape_to(g, x_spec))


def _infer_expand(x: Spec, dims: list[Spec], *, shape: Any, places: Any) -> Spec:
    if len(shape) < x.ndim:
        raise ShapeError(f"expand: {list(shape)} has fewer dimensions than {x}; give at least {x.ndim}")
    have = [1] * (len(shape) - x.ndim) + list(x.shape)
    made = []
    for n, (size, d) in enumerate(zip(have, shape, strict=True)):
        if n in places:
            made.append(-1 if size == 1 else size)  # a size other than 1 does not change
        else:
            made.append(size if d == -1 else d)
    return x.with_shape(made)


@traits.broadcasts
@traits.complex_gradient
@op("expand_v2_dims", infer=_infer_expand, slots={"dims": "expand_shapes_tensor"})
def expand(xp, x, dims: list, *, shape: Size, places):
    """expand_v2 with dimensions that are values; -1 keeps one."""
    extra = len(shape) - x.ndim
    made = sizes(shape, dims, places, least=-1)
    wanted = [x.shape[n - extra] if d == -1 and n >= extra else d for n, d in enumerate(made)]
    return xp.broadcast_to(x, wanted).copy()


expand.grad(x=lambda g: g)


def _infer_tile(x: Spec, dims: list[Spec], *, repeat_times: Any) -> Spec:
    times = [1] * (x.ndim - len(repeat_times)) + list(repeat_times)
    have = [1] * (len(times) - x.ndim) + list(x.shape)
    return x.with_shape([-1 if -1 in (d, t) else d * t for d, t in zip(have, times, strict=True)])


@traits.complex_gradient
@op("tile_dims", infer=_infer_tile, slots={"dims": "repeat_times_tensor"})
def tile(xp, x, dims: list, *, repeat_times: Size):
    """tile with repetitions that are values."""
    return xp.tile(x, tuple(sizes(repeat_times, dims)))


@traits.complex_gradient
@op("tile_dims_grad", infer=lambda g_in, like: like.with_dtype(g_in.dtype))
def _fold_tiles(xp, g_in, like):
    """g summed over the repetitions of ``like``."""
    have = (1,) * (g_in.ndim - like.ndim) + like.shape
    pairs = [n for g, d in zip(g_in.shape, have, strict=True) for n in (g // d if d else 1, d)]
    summed = g_in.reshape(pairs).sum(axis=tuple(range(0, len(pairs), 2)), dtype=g_in.dtype)
    return summed.reshape(like.shape)


@traits.complex_gradient
@op("tile_like", infer=lambda x, like: like.with_dtype(x.dtype))
def _tile_like(xp, x, like):
    """x repeated to the shape of ``like``."""
    have = (1,) * (like.ndim - x.ndim) + x.shape
    return xp.tile(x, tuple(a // b if b else 1 for a, b in zip(like.shape, have, strict=True)))


_fold_tiles.grad(g_in=lambda g, g_in_like: _tile_like(g, g_in_like))


_tile_like.grad(x=lambda g, x_like: _fold_tiles(g, x_like))


tile.grad(x=lambda g, x_like: _fold_tiles(g, x_like))


@op(
    "range_of",
    infer=lambda start, end, step, *, dtype: Spec((-1,), dtype),
    slots={"start": "Start", "end": "End", "step": "Step"},
)
def range_of(xp, start, end, step, *, dtype="int64"):
    """Evenly spaced values from start, below end; all three are values."""
    first, last, by = (v.reshape(()).item() for v in (start, end, step))
    if by == 0:
        raise ShapeError(f"arange: step is 0 from {first} to {last}; use another step")
    return converted(xp, xp.arange(first, last, by), as_dtype(dtype))


@op(
    "linspace_of",
    infer=lambda start, stop, num, *, dtype: Spec((-1,), dtype),
    slots={"start": "Start", "stop": "Stop", "num": "Num"},
)
def linspace_of(xp, start, stop, num, *, dtype="float32"):
    """Evenly spaced values from start to stop, both included; how many is a value too."""
    first, last, count = (v.reshape(()).item() for v in (start, stop, num))
    if count < 1:
        raise ShapeError(f"linspace: num must be at least 1: got {count}")
    return converted(xp, xp.linspace(first, last, count), as_dtype(dtype))
