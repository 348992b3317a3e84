"""Shapes: reshape, transpose, joining and splitting, expanding."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from engine.core.attached import Attached
from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators import traits
from engine.core.operators.bounds import Count, Number, Parts, Size
from engine.core.operators.infer import (
    broadcast_shapes,
    normal_axes,
    normal_axis,
    require_same_dtype,
    reshaped,
    same_as_x,
)
from engine.core.operators.opdef import op
from engine.core.values.dtype import as_dtype, int32
from engine.core.values.spec import Spec
from engine.ops.arrays import creation
from engine.ops.reductions import reduce


def _infer_reshape(x: Spec, *, shape: Any, **_: Any) -> Spec:
    return x.with_shape(reshaped("reshape", x.shape, shape))


@traits.complex_gradient
@op("reshape2", infer=_infer_reshape, view=True)
def reshape(xp, x, *, shape: Size):
    """The same elements in another shape: 0 keeps a dimension, one -1 takes the rest. A view."""
    return x.reshape([(x.shape[n] if n < x.ndim else 0) if d == 0 else d for n, d in enumerate(shape)])


@traits.complex_gradient
@op("reshape_as", infer=lambda x, y, **_: x.with_shape(y.shape), view=True, slots={"y": "Y"})
def reshape_as(xp, x, y):
    """x in the shape of y. A view."""
    return x.reshape(y.shape)


reshape_as.grad(x=lambda g, x_spec: reshape_to(g, x_spec))


def reshape_to(x: Attached, like: Attached | Spec) -> Any:
    """x in the shape of ``like``; reads only its shape unless several dimensions are unknown."""
    shape = list(like.shape)
    if -1 in shape:
        if shape.count(-1) > 1:
            return reshape_as(x, like)
        shape[shape.index(-1)] = -1  # a Variable's unknown size only equals it
    return _reshape_exactly(x, shape)


def _reshape_exactly(x: Any, shape: list[int]) -> Any:
    """reshape in which a 0 is a size and does not keep a dimension."""
    if 0 in shape and -1 not in shape:
        return creation.fill([], shape=shape, value=0.0, dtype=x.dtype.name)
    return reshape(x, shape=shape)


reshape.grad(x=lambda g, x_spec: reshape_to(g, x_spec))


def _infer_flatten(x: Spec, *, start_axis: int, stop_axis: int) -> Spec:
    if x.ndim == 0:
        return x.with_shape((1,))
    first, last = (normal_axis("flatten", a, x.ndim) for a in (start_axis, stop_axis))
    if first > last:
        raise ArgumentError(
            f"flatten: start_axis {start_axis} comes after stop_axis {stop_axis} for {x.ndim} dimensions"
        )
    return x.with_shape((*x.shape[:first], _size(x.shape[first : last + 1]), *x.shape[last + 1 :]))


def _size(dims: Any) -> int:
    return -1 if -1 in dims else math.prod(dims)


@traits.complex_gradient
@op("flatten_contiguous_range", infer=_infer_flatten, view=True)
def flatten(xp, x, *, start_axis=1, stop_axis=-1):
    """Dimensions start_axis to stop_axis as one. A view."""
    if x.ndim == 0:
        return x.reshape(1)
    first, last = (normal_axis("flatten", a, x.ndim) for a in (start_axis, stop_axis))
    if first > last:
        raise ValueError("wrong order")  # inference explains the error
    return x.reshape((*x.shape[:first], _size(x.shape[first : last + 1]), *x.shape[last + 1 :]))


flatten.grad(x=lambda g, x_spec: reshape_to(g, x_spec))


def _infer_transpose(x: Spec, *, axis: Any) -> Spec:
    if sorted(normal_axis("transpose", a, x.ndim) for a in axis) != list(range(x.ndim)):
        raise ArgumentError(
            f"transpose: perm {list(axis)} is not a permutation of the {x.ndim} dimensions of {list(x.shape)}"
        ).set_kind("InvalidArgument")
    return x.with_shape([x.shape[a] for a in axis])


@traits.complex_gradient
@op("transpose2", infer=_infer_transpose, view=True)
def transpose(xp, x, *, axis: Count):
    """Dimensions in the order ``axis``. A view."""
    return x.transpose(axis)


transpose.grad(
    x=lambda g, axis: transpose(g, axis=[int(a) for a in np.argsort([a % len(axis) for a in axis])])
)


def _infer_squeeze(x: Spec, *, axes: Any = ()) -> Spec:
    if not axes:
        return x.with_shape([d for d in x.shape if d != 1])
    wanted = normal_axes("squeeze", axes, x.ndim)  # a dimension that is not known yet is taken for 1
    return x.with_shape([d for n, d in enumerate(x.shape) if not (n in wanted and d in (1, -1))])


@traits.complex_gradient
@op("squeeze2", infer=_infer_squeeze, view=True)
def squeeze(xp, x, *, axes: Count = ()):
    """x without dimensions of size 1 (only those in ``axes``, where given). A view."""
    return x.reshape(_infer_squeeze(Spec(x.shape, "float32"), axes=axes).shape)


squeeze.grad(x=lambda g, x_spec: reshape_to(g, x_spec))


def _infer_unsqueeze(x: Spec, *, axes: Any) -> Spec:
    shape = list(x.shape)
    for axis in axes:
        shape.insert(normal_axis("unsqueeze", axis, len(shape), extra=1), 1)
    return x.with_shape(shape)


@traits.complex_gradient
@op("unsqueeze2", infer=_infer_unsqueeze, view=True)
def unsqueeze(xp, x, *, axes: Count):
    """x with dimensions of size 1 inserted at ``axes``, one after the other. A view."""
    return x.reshape(_infer_unsqueeze(Spec(x.shape, "float32"), axes=axes).shape)


unsqueeze.grad(x=lambda g, x_spec: reshape_to(g, x_spec))


def _infer_concat(xs: list[Spec], *, axis: int) -> Spec:
    if not xs:
        raise ArgumentError("concat: got no tensors; pass at least one")
    require_same_dtype("concat", **{f"x[{n}]": s for n, s in enumerate(xs)})
    axis = normal_axis("concat", axis, xs[0].ndim)
    shape = list(xs[0].shape)
    for n, spec in enumerate(xs[1:], 1):
        if spec.ndim != len(shape):
            raise ShapeError(
                f"concat: x[0] is {xs[0]} and x[{n}] is {spec}; all need the same number of dimensions"
            )
        for d in range(len(shape)):
            if d == axis:
                shape[d] = -1 if -1 in (shape[d], spec.shape[d]) else shape[d] + spec.shape[d]
            elif -1 in (shape[d], spec.shape[d]):
                shape[d] = max(shape[d], spec.shape[d])
            elif shape[d] != spec.shape[d]:
                raise ShapeError(
                    f"concat: x[0] is {xs[0]} and x[{n}] is {spec}; they differ outside axis {axis}"
                )
    return xs[0].with_shape(shape)


@traits.complex_gradient
@op("concat", infer=_infer_concat, slots={"xs": "X"})
def concat(xp, xs: list, *, axis=0):
    """Join tensors along an existing dimension."""
    return xp.concatenate(xs, axis=axis)


@traits.complex_gradient
@op(
    "concat_grad",
    infer=lambda g_in, like, **_: tuple(like),
    outputs=("parts",),
    output_list="parts",
)
def _split_like(xp, g_in, like: list, *, axis=0):
    """Cut g along axis into parts as long as those of ``like``."""
    bounds = np.cumsum([part.shape[axis] for part in like])[:-1]
    return [part.copy() for part in xp.split(g_in, [int(b) for b in bounds], axis=axis)]


_split_like.grad(g_in=lambda g_parts, like_like, axis: concat(_filled(g_parts, like_like), axis=axis))


concat.grad(xs=lambda g, xs_like, axis: list(_split_like(g, xs_like, axis=axis)))


def _filled(grads: Any, like: Any) -> list[Any]:
    return [creation.fill_like(x, value=0.0) if g is None else g for g, x in zip(grads, like, strict=True)]


def _infer_stack(xs: list[Spec], *, axis: int) -> Spec:
    if not xs:
        raise ArgumentError("stack: got no tensors; pass at least one")
    known = [{*dims} - {-1} for dims in zip(*(s.shape for s in xs), strict=False)]
    if any(s.ndim != xs[0].ndim for s in xs) or any(len(dims) > 1 for dims in known):
        raise ShapeError(f"stack: all tensors need one shape: got {[list(s.shape) for s in xs]}")
    require_same_dtype("stack", **{f"x[{n}]": s for n, s in enumerate(xs)})
    shape = list(xs[0].shape)
    shape.insert(normal_axis("stack", axis, len(shape), extra=1), len(xs))
    return xs[0].with_shape(shape)


@traits.complex_gradient
@op("stack", infer=_infer_stack, slots={"xs": "X"})
def stack(xp, xs: list, *, axis=0):
    """Join tensors along a new dimension."""
    if any(x.dtype != xs[0].dtype for x in xs):
        raise ValueError("dtypes differ")  # inference explains the error
    return xp.stack(xs, axis=axis)


@traits.complex_gradient
@op(
    "unstack",
    infer=lambda x, *, axis, num: (x.with_shape(np.delete(x.shape, axis)),) * num,
    outputs=("parts",),
    output_list="parts",
    slots={"parts": "Y"},
)
def unstack(xp, x, *, axis=0, num: Parts = None):
    """The parts along a dimension, which is dropped."""
    return [xp.array(part) for part in xp.moveaxis(x, axis, 0)]


stack.grad(xs=lambda g, xs_spec, axis: list(unstack(g, axis=axis % g.ndim, num=len(xs_spec))))


def _unstack_grad(g_parts: Any, x: Any, axis: int) -> Any:
    known = next(g for g in g_parts if g is not None)
    return stack([creation.fill_like(known, value=0.0) if g is None else g for g in g_parts], axis=axis)


unstack.grad(x=_unstack_grad)


def _lengths(size: int, sections: Any) -> Any:
    """The lengths of the parts, from these or from how many equal ones there are."""
    if not isinstance(sections, int):
        return sections
    if size >= 0 and size % sections:
        raise ShapeError(f"split: {size} does not divide into {sections} equal parts")
    return [size // sections if size >= 0 else -1] * sections


def _infer_split(x: Spec, *, axis: int, sections: Any) -> tuple[Spec, ...]:
    axis = normal_axis("split", axis, x.ndim)
    sections = _lengths(x.shape[axis], sections)
    if x.shape[axis] >= 0 and sum(sections) != x.shape[axis]:
        raise ShapeError(
            f"split: sections {list(sections)} add up to {sum(sections)}: "
            f"axis {axis} of {x} has {x.shape[axis]}"
        )
    return tuple(x.with_shape((*x.shape[:axis], s, *x.shape[axis + 1 :])) for s in sections)


@traits.complex_gradient
@op("split", infer=_infer_split, outputs=("parts",), output_list="parts", slots={"parts": "Out"})
def split(xp, x, *, axis=0, sections: Parts):
    """Cut x along a dimension into parts of the given lengths, or into as many equal parts."""
    _infer_split(Spec(x.shape, "float32"), axis=axis, sections=sections)
    sections = _lengths(x.shape[axis], sections)
    return [part.copy() for part in xp.split(x, [int(b) for b in np.cumsum(sections)[:-1]], axis=axis)]


def _split_grad(g_parts: Any, out: Any, axis: Any) -> Any:
    return concat(
        [creation.fill_like(o, value=0.0) if g is None else g for g, o in zip(g_parts, out, strict=True)],
        axis=axis,
    )


def _infer_expand(x: Spec, *, shape: Any) -> Spec:
    if len(shape) < x.ndim:
        raise ShapeError(f"expand: {list(shape)} has fewer dimensions than {x}; give at least {x.ndim}")
    extra = len(shape) - x.ndim
    resolved = [x.shape[n - extra] if d == -1 and n >= extra else d for n, d in enumerate(shape)]
    got = broadcast_shapes("expand", x.shape, resolved)
    have = [1] * extra + list(x.shape)  # a dimension that is not known yet may be 1, or the one asked for
    if any(g != r and d != -1 for g, r, d in zip(got, resolved, have, strict=True)):
        raise ShapeError(f"expand: {x} can't become {list(shape)}; only dimensions of size 1 are repeated")
    return x.with_shape(resolved)


@traits.broadcasts
@traits.complex_gradient
@op("expand_v2", infer=_infer_expand)
def expand(xp, x, *, shape: Size):
    """Repeat x along dimensions of size 1, to ``shape`` (-1 keeps a dimension)."""
    return xp.broadcast_to(x, _infer_expand(Spec(x.shape, "float32"), shape=shape).shape).copy()


expand.grad(x=lambda g: g)


def _infer_tile(x: Spec, *, repeat_times: Any) -> Spec:
    times = [1] * (x.ndim - len(repeat_times)) + list(repeat_times)
    shape = [1] * (len(times) - x.ndim) + list(x.shape)
    return x.with_shape([-1 if d == -1 else d * t for d, t in zip(shape, times, strict=True)])


@traits.complex_gradient
@op("tile", infer=_infer_tile)
def tile(xp, x, *, repeat_times: Size):
    """Repeat the whole x along each dimension."""
    return xp.tile(x, tuple(repeat_times))


def _tile_grad(g: Any, x_spec: Any, repeat_times: Any) -> Any:
    ndim = max(len(repeat_times), len(x_spec.shape))
    times = [1] * (ndim - len(repeat_times)) + list(repeat_times)
    dims = [1] * (ndim - len(x_spec.shape)) + list(x_spec.shape)
    folded = _reshape_exactly(g, [v for pair in zip(times, dims, strict=True) for v in pair])
    return reshape_to(reduce.sum(folded, axis=list(range(0, 2 * ndim, 2))), x_spec)


tile.grad(x=_tile_grad)


@op("shape", infer=lambda x: Spec((x.ndim,), int32), slots={"x": "Input"})
def shape(xp, x):
    """The dimensions of x as an int32 tensor."""
    return xp.asarray(x.shape, dtype=np.int32)


@traits.complex_gradient
@op("assign", infer=same_as_x)
def assign(xp, x, *, out=None):
    """A copy of x."""
    if out is None:
        return x.copy()
    out[...] = x
    return out


assign.grad(x=lambda g: g)


@traits.complex_gradient
@op("share_data", infer=same_as_x, view=True)
def detach(xp, x):
    """x itself under another name, without gradient. A view."""
    return x[...]


split.grad(x=_split_grad)


def _infer_constant(*, shape: Any, values: Any, dtype: Any) -> Spec:
    made = Spec(shape, dtype)
    if len(values) != made.size:
        raise ShapeError(f"assign_value: {len(values)} values for shape {list(shape)}; give one per element")
    return made


@op("assign_value", infer=_infer_constant)
def constant(xp, *, shape: Size, values: Number, dtype="float32"):
    """A constant tensor of a Program: ``values`` is the flat list of its elements."""
    return xp.asarray(values, dtype=as_dtype(dtype).np).reshape(tuple(shape))
