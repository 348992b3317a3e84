"""Poolings that are compiled: the makers of their operators, and how their kernels are called."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.operators.opdef import OPS
from engine.core.operators.windows import channel_first, channel_last
from engine.core.values.dtype import float32, float64, int32, int64
from engine.core.values.spec import Spec
from engine.ops.images.pooling_plan import PoolPlan

if TYPE_CHECKING:
    from engine.kernels.fast import Fast
    from engine.kernels.fast.compiler import Handle
    from engine.kernels.fast.images.pooling.planes import Planes, Scatter

Array = Any
_LISTED = 1 << 16  # windows of all axes together that a table lists
_PLAN = (
    "ksize",
    "strides",
    "paddings",
    "global_pooling",
    "ceil_mode",
    "exclusive",
    "adaptive",
    "padding_algorithm",
)


def _plan(x: Spec, attrs: Mapping[str, Any]) -> PoolPlan | None:
    """The windows of a pooling that may be compiled."""
    if x.dtype not in (float32, float64) or 0 in x.shape:
        return None
    size = x.shape[1:-1] if _is_last(attrs) else x.shape[2:]
    return PoolPlan(size, *[attrs.get(name, True) for name in _PLAN])


def _is_last(attrs: Mapping[str, Any]) -> bool:
    return bool(attrs.get("data_format", "NCHW")[-1] == "C")


def _planes(way: str, plan: PoolPlan, x: Spec, attrs: Mapping[str, Any]) -> Planes | None:
    """The kernel of images whose channels come before contiguous rows; ``way`` is one of ``Planes``."""
    from engine.kernels.fast.images.pooling.planes import WIDEST, Planes

    size, made = plan.size, plan.out
    if (
        _is_last(attrs)
        or sum(size) + sum(made) > _LISTED
        or max(size[-1] + plan.pads[-1][0], made[-1] * plan.strides[-1]) > WIDEST
    ):
        return None
    if max(math.prod(size), math.prod(made)) >= 1 << 31:
        return None
    windows, divisors = plan.spans(), None
    if way in ("mean", "spread"):
        divisors = np.ascontiguousarray(np.broadcast_to(plan.counts(np, x.dtype.np), plan.out))
    if way == "spread":
        windows, size, made = plan.readers(), made, size
    uneven = plan.ragged is not None
    equal = (0, 0, 0) if uneven or way == "spread" else (plan.strides[-1], plan.kernel[-1], plan.pads[-1][0])
    return Planes(way, x.dtype.np, math.prod(x.shape[:2]), size, made, windows, divisors, uneven, equal)


def _vectors(plan: PoolPlan, x: Spec, attrs: Mapping[str, Any], gradient: bool) -> Fast | None:
    """The kernel of images with samples side by side in memory, or its gradient, which takes the pooling's
    image first."""
    from engine.kernels.fast import Fast
    from engine.kernels.fast.images.pooling.sample_vectors import PoolingKernel
    from engine.kernels.fast.images.pooling.sample_vectors_code import Pooling
    from engine.kernels.fast.images.sample_blocks import lanes_for
    from engine.kernels.fast.images.samples_last import SamplesLast

    samples, lanes = x.shape[0], lanes_for(x.shape[0])
    few = samples * 2 < -(-samples // lanes) * lanes
    if plan.ragged is not None or few or x.dtype is not float32 or x.ndim != 4:
        return None
    windows = Pooling(
        plan.size[0],
        plan.size[1],
        plan.out[0],
        plan.out[1],
        (plan.kernel[0], plan.kernel[1]),
        (plan.strides[0], plan.strides[1]),
        (plan.pads[0][0], plan.pads[1][0]),
        attrs["pooling_type"] == "max",
    )
    compiled, near = PoolingKernel(windows, samples, gradient), SamplesLast()
    divisors = np.ascontiguousarray(np.broadcast_to(plan.counts(np, x.dtype.np), plan.out))
    size, last = plan.size if gradient else plan.out, _is_last(attrs)

    def kernel(*arrays: Array) -> Array:
        given = [near(channel_first(each) if last else each) for each in arrays]
        made = _empty_like(given[0], size)
        compiled([*given, made], divisors)
        return channel_last(made) if last else made

    return Fast(kernel, [compiled.handle, near.handle])


def _empty_like(x: Array, size: Sequence[int]) -> Array:
    """An array for images of another size, samples last in memory, rows or channels first as x has them."""
    samples, channels = x.shape[:2]
    if x.strides[1] < x.strides[2]:
        return np.empty((size[0], channels, size[1], samples), np.float32).transpose(3, 1, 0, 2)
    return np.empty((channels, *size, samples), np.float32).transpose(3, 0, 1, 2)


def forward(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of pool2d and pool3d."""
    x = inputs[0]
    plan = _plan(x, attrs)
    if plan is None:
        return None
    vectors = _vectors(plan, x, attrs, False)
    planes = _planes("maximum" if attrs["pooling_type"] == "max" else "mean", plan, x, attrs)
    if planes is None:
        return vectors
    shape = (*x.shape[:2], *plan.out)

    def pooled(x: Array) -> Array:
        made = np.empty(shape, x.dtype)
        planes(x, made)
        return made

    return _of_either(pooled, planes.handle, vectors, f"pool{x.ndim - 2}d", attrs)


def gradient(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of pool2d_grad and pool3d_grad."""
    x = inputs[0]
    plan = _plan(x, attrs)
    if plan is None or any(each.dtype is not x.dtype for each in inputs):
        return None
    largest = attrs["pooling_type"] == "max"
    vectors = _vectors(plan, x, attrs, True)
    planes = _planes("gradient" if largest else "spread", plan, x, attrs)
    if planes is None:
        return vectors

    def spread(x: Array, y: Array, g: Array) -> Array:
        made = np.empty(x.shape, x.dtype)
        g = np.ascontiguousarray(g)
        if largest:
            planes(x, g, made)
        else:
            planes(g, made)
        return made

    return _of_either(spread, planes.handle, vectors, f"pool{x.ndim - 2}d_grad", attrs)


def _of_either(
    of_planes: Callable[..., Array], handle: Handle, vectors: Fast | None, name: str, attrs: Mapping[str, Any]
) -> Fast:
    """The kernel that looks how the first array, the image, is laid out."""
    from engine.kernels.fast import Fast

    otherwise = partial(OPS[name].kernel, np, **attrs) if vectors is None else vectors.kernel

    def kernel(x: Array, *more: Array) -> Array:
        return of_planes(x, *more) if x.flags.c_contiguous else otherwise(x, *more)

    return Fast(kernel, [handle, *(() if vectors is None else vectors.handles)])


def with_index(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of max_pool2d_with_index and max_pool3d_with_index."""
    from engine.kernels.fast import Fast

    x = inputs[0]
    plan = _plan(x, attrs)
    planes = None if plan is None else _planes("positions", plan, x, attrs)
    if plan is None or planes is None:
        return None
    shape = (*x.shape[:2], *plan.out)

    def kernel(x: Array) -> tuple[Array, Array]:
        made, places = np.empty(shape, x.dtype), np.empty(shape, np.int32)
        planes(np.ascontiguousarray(x), made, places)
        return made, places

    return Fast(kernel, [planes.handle])


def with_index_gradient(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of max_pool2d_with_index_grad and max_pool3d_with_index_grad."""
    x, mask, g = inputs
    scatter = _scatter(g, mask, x.shape[2:], True)
    if scatter is None:
        return None
    return _scattered(
        scatter, x.shape, lambda x, mask, g: (g, mask), f"max_pool{x.ndim - 2}d_with_index_grad", attrs
    )


def unpooled(inputs: Sequence[Any], attrs: Mapping[str, Any]) -> Fast | None:
    """The kernel of unpool and unpool3d."""
    x, indices = inputs
    size = attrs["output_size"]
    scatter = _scatter(x, indices, size, False)
    if scatter is None:
        return None
    name = "unpool3d" if x.ndim == 5 else "unpool"
    return _scattered(scatter, (*x.shape[:2], *size), lambda *given: given, name, attrs)


def _scatter(values: Spec, places: Spec, size: Sequence[int], adds: bool) -> Scatter | None:
    from engine.kernels.fast.images.pooling.planes import Scatter

    kinds = values.dtype in (float32, float64) and places.dtype in (int32, int64)
    if not kinds or values.shape != places.shape or 0 in values.shape or math.prod(size) >= 1 << 31:
        return None
    planes, count = math.prod(values.shape[:2]), math.prod(values.shape[2:])
    return Scatter(values.dtype.np, places.dtype.np, planes, count, math.prod(size), adds)


def _scattered(
    scatter: Scatter,
    shape: Sequence[int],
    order: Callable[..., tuple[Array, Array]],
    name: str,
    attrs: Mapping[str, Any],
) -> Fast:
    """The kernel of an operator; ``order`` takes its inputs and gives the numbers and their positions."""
    from engine.kernels.fast import Fast

    numpy_kernel = partial(OPS[name].kernel, np, **attrs)

    def kernel(*given: Array) -> Array:
        values, places = order(*given)
        made = np.empty(shape, values.dtype)
        if scatter(np.ascontiguousarray(values), np.ascontiguousarray(places), made):
            return made
        return numpy_kernel(*given)  # which raises what is wrong

    return Fast(kernel, [scatter.handle])
