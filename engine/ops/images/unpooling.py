"""Maxima with their positions, and unpooling, which puts values back to such positions."""

from __future__ import annotations

import math
from typing import Any

from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Count, Size
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.dtype import int32
from engine.core.values.spec import Spec
from engine.ops.arrays import along_axis, shape
from engine.ops.images.pooling import _reduce, infer_pool
from engine.ops.images.pooling_plan import in_images, pool_plan


def _flat(x: Any) -> Any:
    """[N, C, ...] as [N, C, elements]: positions count these."""
    return shape.flatten(x, start_axis=2, stop_axis=-1)


def _define_pool(rank: int) -> Any:
    name, ones, zeros = f"max_pool{rank}d_with_index", (1,) * rank, (0,) * rank
    infer_max = infer_pool(name, rank)

    def infer(x: Spec, **attrs: Any) -> tuple[Spec, Spec]:
        out = infer_max(x, **attrs)
        return out, out.with_dtype(int32)

    @op(name, infer=infer, outputs=("out", "mask"))
    def pool(
        xp,
        x,
        *,
        ksize: Count,
        strides=ones,
        paddings=zeros,
        global_pooling=False,
        adaptive=False,
        ceil_mode=False,
        padding_algorithm="EXPLICIT",
    ):
        """The maximum of each window of x [N, C, ...], and its position in the flattened image."""
        plan = pool_plan(
            x, ksize, strides, paddings, global_pooling, ceil_mode, True, adaptive, padding_algorithm
        )
        if plan.has_window_positions(math.prod(x.shape[:2])):
            places = plan.window_positions(xp, x)
            return plan.at(xp, x, places), places
        out = _reduce(xp, x, plan, "max")
        return out, plan.positions(xp, x, out)

    @op(
        f"{name}_grad",
        infer=lambda x, mask, g_in: x,
        outputs=("x_grad",),
        slots={"g_in": "Out@GRAD", "x_grad": "X@GRAD"},
    )
    def gradient(xp, x, mask, g_in):
        """Zeros like x with g_in added at the positions ``mask``."""
        result = xp.zeros(x.shape, g_in.dtype)
        places = in_images(xp, x.shape, mask)
        xp.add.at(result.reshape(-1), places.reshape(-1), g_in.reshape(-1))
        return result

    @pool.grad_all("x")
    def rule(g_out: Any, x_like: Any, mask: Any) -> Any:
        return gradient(x_like, mask, g_out)

    @gradient.grad_all("g_in")
    def second(g: Any, mask: Any) -> Any:
        return shape.reshape_to(along_axis.take_along(_flat(g), _flat(mask), axis=2), mask)

    return pool


def _infer_unpool(where: str, rank: int) -> Any:
    def infer(x: Spec, indices: Spec, *, output_size: Any, **_: Any) -> Spec:
        require_floating(where, x=x)
        if not indices.dtype.is_integer:
            raise DTypeError(f"{where}: indices must be int32 or int64: got {indices}; pass the pool's mask")
        if x.ndim != rank + 2 or indices.ndim != x.ndim:
            raise ShapeError(f"{where}: x is {x} and indices {indices}: both need {rank + 2} dimensions")
        if any(a != b and -1 not in (a, b) for a, b in zip(x.shape, indices.shape, strict=True)):
            raise ShapeError(f"{where}: x is {x} and indices {indices}: they need one shape")
        return x.with_shape((*x.shape[:2], *output_size))

    return infer


def _define_unpool(name: str, rank: int) -> Any:
    ones, zeros = (1,) * rank, (0,) * rank

    @op(name, infer=_infer_unpool(name, rank), slots={"x": "X", "indices": "Indices"})
    def unpool(
        xp,
        x,
        indices,
        *,
        unpooling_type="max",
        ksize: Count,
        strides=ones,
        paddings=zeros,
        output_size: Size,
        data_format="NCHW",
    ):
        """Zeros [N, C, *output_size] with each element of x at its position; the last of several stays."""
        if x.shape != indices.shape or x.ndim != rank + 2 or x.dtype.kind != "f" or indices.dtype.kind == "f":
            raise ValueError("shapes do not fit")  # inference explains the error
        size = math.prod(output_size)
        if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= size):
            wrong = indices[(indices < 0) | (indices >= size)].reshape(-1)[0]
            raise OutOfRangeError(
                f"{name}: index {int(wrong)} is out of range for output_size {list(output_size)} with {size} "
                "elements; pass the pool's mask and the size of the pooled image"
            )
        result = xp.zeros((*x.shape[:2], *output_size), x.dtype)
        result.reshape(-1)[in_images(xp, result.shape, indices).reshape(-1)] = x.reshape(-1)
        return result

    @unpool.grad_all("x")
    def rule(g: Any, x_like: Any, indices: Any) -> Any:
        return shape.reshape_to(along_axis.take_along(_flat(g), _flat(indices), axis=2), x_like)

    return unpool


max_pool2d_with_index = _define_pool(2)


max_pool3d_with_index = _define_pool(3)


unpool = _define_unpool("unpool", 2)


unpool3d = _define_unpool("unpool3d", 3)
