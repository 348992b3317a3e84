"""Pooling of images and volumes, and its gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.bounds import Count
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.operators.windows import AXES, channel_first, channel_last, is_last, layout, pads_of
from engine.core.values.spec import Spec
from engine.kernels.cpu.ranges import LARGE, in_ranges
from engine.ops.elementwise.mask import chosen
from engine.ops.images.pooling_plan import PoolPlan, in_images, pool_plan, window_count


def infer_pool(where: str, rank: int) -> Callable[..., Spec]:
    """Inference of a pooling of images with ``rank`` dimensions."""

    def infer(
        x: Spec,
        *,
        pooling_type: str = "max",
        ksize: Any,
        strides: Any,
        paddings: Any,
        global_pooling: bool,
        ceil_mode: bool,
        exclusive: bool = True,
        adaptive: bool,
        padding_algorithm: str = "EXPLICIT",
        data_format: str = "NCHW",
    ) -> Spec:
        last = is_last(where, data_format, rank)
        if pooling_type not in ("max", "avg"):
            raise ArgumentError(f"{where}: pooling_type {pooling_type!r} is not one of max, avg")
        if x.ndim != rank + 2:
            raise ShapeError(
                f"{where}: x needs {rank + 2} dimensions, {layout(rank, last)}: got {x}; unsqueeze it"
            )
        require_floating(where, x=x)
        if len(ksize) != rank or len(strides) != rank or min(*ksize, *strides) < 1:
            raise ArgumentError(
                f"{where}: ksize {list(ksize)} and strides {list(strides)} must be {rank} positive numbers "
                "each"
            )
        size = x.shape[1:-1] if last else x.shape[2:]
        if global_pooling:
            out = [1] * rank
        elif adaptive:
            out = list(ksize)
        else:
            out = _out_sizes(where, x, size, ksize, strides, paddings, padding_algorithm, ceil_mode)
        return Spec((x.shape[0], *out, x.shape[-1]) if last else (*x.shape[:2], *out), x.dtype)

    return infer


def _out_sizes(
    where: str, x: Spec, size: Any, ksize: Any, strides: Any, paddings: Any, algorithm: str, ceil_mode: bool
) -> list[int]:
    pads = pads_of(where, [max(d, 1) for d in size], ksize, strides, paddings, algorithm)
    if min(map(min, pads)) < 0:
        raise ArgumentError(f"{where}: paddings must not be negative: got {list(paddings)}")
    found = []
    for n, d in enumerate(size):
        count = -1 if d < 0 else window_count(d, ksize[n], strides[n], pads[n], ceil_mode)
        if d >= 0 and count < 1:
            raise ShapeError(
                f"{where}: x is {x}: {AXES[len(size)][n]} {d} with padding {pads[n]} is smaller than the "
                f"window's {ksize[n]}; use more padding or a smaller window"
            )
        found.append(count)
    return found


def _by_channels(xp: Any, compute: Any, plan: PoolPlan, size: Any, values: tuple[Any, ...], work: int) -> Any:
    """``compute`` of arrays [N, C, ...], which makes one [N, C, *size], of some channels on each thread where
    ``work``, the elements that are read and written, are many. It is given an array to write into last, or
    None, and may create one."""
    first = values[0]
    if xp is not np or work < LARGE or first.shape[1] < 2 or plan.ragged is not None:
        return compute(*values, None)
    result = np.empty_like(first, shape=(*first.shape[:2], *size))

    def some(part: slice) -> None:
        out = result[:, part]
        made = compute(*[each[:, part] for each in values], out)
        if made is not out:
            out[...] = made

    in_ranges(first.shape[1], work, some)
    return result


def _reduce(xp: Any, x: Any, plan: PoolPlan, pooling_type: str) -> Any:
    """The maximum or mean of each window of x [N, C, ...]."""
    if pooling_type not in ("max", "avg"):
        raise ValueError("unknown pooling_type")  # inference explains the error
    if plan.ragged is not None:
        if pooling_type == "max":
            return plan.ragged_reduced(xp, x, xp.maximum)
        half = x.dtype == xp.float16
        total = plan.ragged_reduced(xp, x.astype(xp.float32) if half else x, xp.add)
        return (total / plan.counts(xp, total.dtype)).astype(x.dtype, copy=False)
    if pooling_type == "max":
        return plan.reduced(plan.pad(xp, x, -xp.inf), xp.maximum)
    result = plan.reduced(plan.pad(xp, x, 0), xp.add)
    result /= plan.counts(xp, x.dtype)
    return result


def _spread(xp: Any, x: Any, y: Any, g: Any, plan: PoolPlan, is_max: bool, out: Any = None) -> Any:
    """g spread evenly over each window, or given to its first maximum; in ``out`` where that is possible."""
    if plan.ragged is not None:
        if not is_max:
            return plan.ragged_spread(xp, g / plan.counts(xp, x.dtype))
        result = xp.zeros(x.shape, x.dtype)
        places = in_images(xp, x.shape, plan.window_positions(xp, x))
        xp.add.at(result.reshape(-1), places.reshape(-1), g.reshape(-1))
        return result
    full, overlaps = plan.full(), plan.overlaps()
    covered = not overlaps and plan.covers(full)
    if covered and out is not None and out.shape[2:] == full:
        result = out
    else:
        result = (xp.empty_like if covered else xp.zeros_like)(x, shape=(*x.shape[:2], *full))
    if is_max:
        if g.strides != y.strides:
            given, g = g, xp.empty_like(y)
            g[...] = given  # once: each entry reads it with its mask
        for entry, mask in plan.picks(plan.pad(xp, x, -xp.inf), y):
            if overlaps:
                result[entry] += chosen(xp, g, mask)
            else:
                chosen(xp, g, mask, out=result[entry])
    else:
        share = g / plan.counts(xp, x.dtype)
        for entry in plan.entries():
            if overlaps:
                result[entry] += share
            else:
                result[entry] = share
    return out if result is out else plan.inside(result)


def _pick(xp: Any, x: Any, y: Any, values: Any, plan: PoolPlan) -> Any:
    """The elements of ``values`` at the first maximum ``y`` of each window of x."""
    if plan.ragged is not None:
        return plan.at(xp, values, plan.window_positions(xp, x))
    result = xp.zeros_like(y)
    padded = plan.pad(xp, values, 0)
    for entry, mask in plan.picks(plan.pad(xp, x, -xp.inf), y):
        result += chosen(xp, padded[entry], mask)
    return result


def _define(rank: int, first: str) -> Any:
    """Define pool2d or pool3d, the operator of its gradient, and the operators of its second derivative."""
    name, ones, zeros = f"pool{rank}d", (1,) * rank, (0,) * rank

    @op(name, infer=infer_pool(name, rank))
    def pool(
        xp,
        x,
        *,
        pooling_type="max",
        ksize: Count,
        strides=ones,
        paddings=zeros,
        global_pooling=False,
        ceil_mode=False,
        exclusive=True,
        adaptive=False,
        padding_algorithm="EXPLICIT",
        data_format=first,
    ):
        """The maximum or mean of each window of x [N, C, ...]; NaN where the window has one.

        ``adaptive``: ksize is the size of the result, whose windows divide the image evenly. A window
        entirely in the padding (possible with ceil_mode) has the maximum -inf.
        """
        last = data_format[-1] == "C"
        if last:
            x = channel_first(x)
        plan = pool_plan(
            x, ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive, padding_algorithm
        )
        result = _by_channels(
            xp, lambda part, _: _reduce(xp, part, plan, pooling_type), plan, plan.out, (x,), x.size
        )
        return channel_last(result) if last else result

    @op(
        f"{name}_grad",
        infer=lambda x, y, g_in, **_: x,
        outputs=("x_grad",),
        slots={"y": "Out", "g_in": "Out@GRAD", "x_grad": "X@GRAD"},
    )
    def gradient(
        xp,
        x,
        y,
        g_in,
        *,
        pooling_type="max",
        ksize: Count,
        strides=ones,
        paddings=zeros,
        global_pooling=False,
        ceil_mode=False,
        exclusive=True,
        adaptive=False,
        padding_algorithm="EXPLICIT",
        data_format=first,
    ):
        """g_in spread evenly over each window (avg), or given to the first maximum of it (max)."""
        last = data_format[-1] == "C"
        if last:
            x, y, g_in = channel_first(x), channel_first(y), channel_first(g_in)
        plan = pool_plan(
            x, ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive, padding_algorithm
        )
        is_max = pooling_type == "max"
        result = _by_channels(
            xp,
            lambda x, y, g, out: _spread(xp, x, y, g, plan, is_max, out),
            plan,
            plan.size,
            (x, y, g_in),
            (2 if is_max else 1) * x.size,
        )
        return channel_last(result) if last else result

    @op(f"max_{name}_pick", infer=lambda x, y, values, **_: y)
    def picked(
        xp,
        x,
        y,
        values,
        *,
        ksize: Count,
        strides=ones,
        paddings=zeros,
        global_pooling=False,
        ceil_mode=False,
        exclusive=True,
        adaptive=False,
        padding_algorithm="EXPLICIT",
        data_format=first,
    ):
        """The elements of ``values`` at the first maximum ``y`` of each window of x."""
        last = data_format[-1] == "C"
        if last:
            x, y, values = channel_first(x), channel_first(y), channel_first(values)
        plan = pool_plan(
            x, ksize, strides, paddings, global_pooling, ceil_mode, exclusive, adaptive, padding_algorithm
        )
        result = _pick(xp, x, y, values, plan)
        return channel_last(result) if last else result

    @pool.grad_all("x")
    def rule(g: Any, x: Any, out: Any, **attrs: Any) -> Any:
        return gradient(x, out, g, **attrs)

    @gradient.grad_all("g_in")
    def second(
        g: Any,
        x: Any,
        y: Any,
        pooling_type: Any,
        ksize: Any,
        strides: Any,
        paddings: Any,
        global_pooling: Any,
        ceil_mode: Any,
        exclusive: Any,
        adaptive: Any,
        padding_algorithm: Any,
        data_format: Any,
    ) -> Any:
        """The gradient is linear in g: its own gradient averages again, or picks at the first maxima."""
        where = {
            "ksize": ksize,
            "strides": strides,
            "paddings": paddings,
            "global_pooling": global_pooling,
            "ceil_mode": ceil_mode,
            "exclusive": exclusive,
            "adaptive": adaptive,
            "padding_algorithm": padding_algorithm,
            "data_format": data_format,
        }
        return picked(x, y, g, **where) if pooling_type == "max" else pool(g, pooling_type="avg", **where)

    @picked.grad_all("values")
    def third(g: Any, x: Any, y: Any, **attrs: Any) -> Any:
        return gradient(x, y, g, pooling_type="max", **attrs)

    return pool


pool2d = _define(2, "NCHW")


pool3d = _define(3, "NCDHW")
