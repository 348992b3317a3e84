"""Batch normalization with one mean and variance of the batches of all processes, and its gradients.

Batches may differ in size, and be empty in some processes. Processes exchange a few numbers for each channel,
in float64, and is added up in the order of the ranks: the statistics are the same bits everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.operators import traits
from engine.core.operators.opdef import op
from engine.ops.control.collectives import ring
from engine.ops.normalization.batch_norm import (
    across_channels,
    count_of,
    dots,
    gradients,
    infer_batch_norm,
    infer_batch_norm_grad,
    normalized,
    uses_given,
)


def _gathered(where: str, ring_id: int, *numbers: Any) -> Any:
    """``numbers`` of every process, each a number or one for each channel: [processes, numbers, channels]."""
    host = [np.asarray(n.get() if hasattr(n, "get") else n, np.float64) for n in numbers]
    return ring(ring_id, where).gathered(np.stack(np.broadcast_arrays(*host)))


@traits.gradient_effect
@traits.order(1)  # as in Paddle
@op(
    "sync_batch_norm",
    infer=infer_batch_norm,
    outputs=("y", "mean_out", "variance_out", "saved_mean", "saved_variance"),
    writes={"mean_out": "mean", "variance_out": "variance"},
    effect=True,
)
def sync_batch_norm(
    xp,
    x,
    scale,
    bias,
    mean,
    variance,
    *,
    momentum=0.9,
    epsilon=1e-5,
    is_test=False,
    data_layout="NCHW",
    use_global_stats=False,
    trainable_statistics=False,
    ring_id=0,
):
    """batch_norm over the x of all processes; see there for the results."""

    def of_all(xp: Any, work: Any, axes: tuple[int, ...], channel: int) -> tuple[Any, Any, Any] | None:
        across, count = across_channels(work.ndim, channel), count_of(work, axes)
        own = xp.sum(work, axis=axes) / work.dtype.type(max(count, 1))
        centred = work - own.reshape(across)
        rows = _gathered("sync_batch_norm", ring_id, float(count), own, dots(xp, centred, centred, channel))
        counts, means, squares = rows[:, 0], rows[:, 1], rows[:, 2]
        total = np.maximum(counts.sum(axis=0), 1.0)
        if counts.sum(axis=0).max(initial=0) == 1:  # one element a channel has no statistics
            return None
        used = (counts * means).sum(axis=0) / total
        spread = (squares + counts * (means - used) ** 2).sum(axis=0) / total
        used, spread = xp.asarray(used.astype(work.dtype)), xp.asarray(spread.astype(work.dtype))
        centred = xp.subtract(work, used.reshape(across), out=centred)
        return used, spread, centred

    given = uses_given(is_test, use_global_stats, trainable_statistics)
    statistics = None if given else of_all
    return normalized(xp, x, scale, bias, mean, variance, momentum, epsilon, data_layout, statistics)


@traits.order(0)
@op(
    "sync_batch_norm_grad",
    infer=infer_batch_norm_grad,
    outputs=("x_grad", "scale_grad", "bias_grad"),
    slots={"g_in": "Y@GRAD", "x_grad": "X@GRAD", "scale_grad": "Scale@GRAD", "bias_grad": "Bias@GRAD"},
    effect=True,
)
def sync_batch_norm_grad(
    xp,
    x,
    scale,
    g_in,
    saved_mean,
    saved_variance,
    *,
    epsilon=1e-5,
    is_test=False,
    data_layout="NCHW",
    use_global_stats=False,
    trainable_statistics=False,
    ring_id=0,
):
    """The gradients of sync_batch_norm: of x through all batches, of scale and bias the parts of this one."""

    def of_all(count: int, scale_grad: Any, bias_grad: Any) -> tuple[Any, ...]:
        rows = _gathered("sync_batch_norm_grad", ring_id, float(count), scale_grad, bias_grad)
        counts, to_scale, to_bias = rows.sum(axis=0)
        dtype = scale.dtype
        return max(counts.max(), 1.0), xp.asarray(to_scale.astype(dtype)), xp.asarray(to_bias.astype(dtype))

    given = uses_given(is_test, use_global_stats, trainable_statistics)
    total = None if given else of_all
    return gradients(xp, x, scale, g_in, saved_mean, saved_variance, data_layout, total)


@sync_batch_norm.grad_all("x", "scale", "bias")
def _sync_batch_norm_rule(
    g: Any, x: Any, scale: Any, saved_mean: Any, saved_variance: Any, momentum: float, **attrs: Any
) -> Any:
    return sync_batch_norm_grad(x, scale, g, saved_mean, saved_variance, **attrs)  # all but the momentum
