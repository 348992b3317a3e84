"""Sampling points of a deformable convolution: those of an ordinary one, each moved by an offset."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.core.operators.bounds import Count
from engine.core.operators.infer import require_floating
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec


def _infer(offset: Spec, *, ksize: Any, **_: Any) -> Spec:
    require_floating("deform_conv2d", offset=offset)
    entries = ksize[0] * ksize[1]
    if offset.ndim != 4 or offset.shape[1] not in (-1, 2 * entries):
        raise ShapeError(
            f"deform_conv2d: offset is {offset}: it needs [N, {2 * entries}, height, width], two numbers for "
            f"each of the {entries} entries of a filter and each group"
        )
    return offset.with_shape((offset.shape[0], entries, *offset.shape[2:], 2))


def _middle(xp: Any, ksize: Any, out: Any, strides: Any, paddings: Any, dilations: Any, dtype: Any) -> Any:
    """[entries, height, width, 2]: positions of the filter's entries without offsets, x first."""
    axes = []
    for n in (0, 1):
        entry = xp.arange(ksize[n]) * dilations[n] - paddings[n]
        axes.append((entry[:, None] + xp.arange(out[n]) * strides[n]).astype(dtype))
    shape = (*ksize, *out)
    y = xp.broadcast_to(axes[0][:, None, :, None], shape)
    x = xp.broadcast_to(axes[1][None, :, None, :], shape)
    return xp.stack([x, y], axis=-1).reshape(ksize[0] * ksize[1], *out, 2)


@op("deform_points", infer=_infer)
def deform_points(
    xp, offset, *, ksize: Count, strides=(1, 1), paddings=(0, 0), dilations=(1, 1), middle=True
):
    """Places [N, entries, height, width, 2], x first, of offsets [N, entries * 2, height, width], y first."""
    n, channels, *out = offset.shape
    entries = ksize[0] * ksize[1]
    if channels != 2 * entries:
        raise ValueError("shapes do not fit")  # inference explains the error
    moved = offset.reshape(n, entries, 2, *out).transpose(0, 1, 3, 4, 2)[..., ::-1]
    if not middle:
        return moved.copy()
    return moved + _middle(xp, ksize, out, strides, paddings, dilations, offset.dtype)


@op(
    "deform_points_grad",
    infer=lambda g_in, **_: g_in.with_shape(
        (g_in.shape[0], -1 if g_in.shape[1] < 0 else 2 * g_in.shape[1], *g_in.shape[2:4])
    ),
)
def _points_back(xp, g_in, *, ksize: Count):
    """The gradient of the places in the shape of the offsets."""
    n, entries, height, width, _ = g_in.shape
    return g_in[..., ::-1].transpose(0, 1, 4, 2, 3).reshape(n, 2 * entries, height, width)


deform_points.grad(offset=lambda g, ksize: _points_back(g, ksize=ksize))


_points_back.grad(g_in=lambda g, ksize: deform_points(g, ksize=ksize, middle=False))
