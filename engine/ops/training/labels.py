"""Operators that read labels beside values: a class's value, means over what counts, binary cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import from_numpy
from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.infer import (
    floating_as_x,
    normal_axis,
    require_floating,
    require_same_dtype,
)
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.activations import activation
from engine.ops.elementwise import math
from engine.ops.training.loss import _class_index as class_index


def _infer_pick(x: Spec, label: Spec, *, axis: int, **_: Any) -> Spec:
    axis = normal_axis("pick_class", axis, x.ndim)
    if not label.dtype.is_integer:
        raise DTypeError(f"nll_loss: labels are class numbers: got {label}; cast them to int64")
    expected = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    if label.ndim != x.ndim or any(
        a != b and -1 not in (a, b) for a, b in zip(label.shape, expected, strict=True)
    ):
        raise ShapeError(
            f"nll_loss: input is {x}, so label must have shape {list(expected)}: got {label}; reshape it"
        )
    return x.with_shape(expected)


@op("pick_class", infer=_infer_pick)
def pick_class(xp, x, label, *, axis=-1, ignore_index=-100):
    """The element of x at the label's class, 0 where the label is ignore_index."""
    _infer_pick(_spec(x), _spec(label), axis=axis)
    index, kept = class_index(xp, label, x.shape[axis], ignore_index)
    out = xp.take_along_axis(x, index, axis=axis)
    return out if kept is None else xp.where(kept, out, x.dtype.type(0))


@op("pick_class_grad", infer=lambda g_in, label, x, **_: x.with_dtype(g_in.dtype), slots={"g_in": "Out@GRAD"})
def _put_class(xp, g_in, label, x, *, axis=-1, ignore_index=-100):
    """Zeros like x with g_in at the label's class."""
    index, kept = class_index(xp, label, x.shape[axis], ignore_index)
    value = g_in if kept is None else g_in * kept
    if xp is not np:
        classes = xp.arange(x.shape[axis]).reshape([-1 if n == axis % x.ndim else 1 for n in range(x.ndim)])
        return xp.where(classes == index, value, g_in.dtype.type(0))
    result = np.zeros(x.shape, g_in.dtype)
    np.put_along_axis(result, index, value, axis=axis)
    return result


_put_class.grad(
    g_in=lambda g, label, axis, ignore_index: pick_class(g, label, axis=axis, ignore_index=ignore_index)
)
pick_class.grad(
    x=lambda g, x_like, label, axis, ignore_index: _put_class(
        g, label, x_like, axis=axis, ignore_index=ignore_index
    )
)


def _infer_kept_mean(x: Spec, label: Spec, **_: Any) -> Spec:
    require_floating("kept_mean", x=x)
    return x.with_shape(())


@op("kept_mean", infer=_infer_kept_mean)
def kept_mean(xp, x, label, *, ignore_index=-100):
    """The sum of x over the number of labels that are not ignore_index; 0 where all are."""
    return xp.asarray(xp.sum(x, dtype=x.dtype) / _count(xp, x, label, ignore_index))


@op("kept_mean_grad", infer=lambda g_in, x, label, **_: x, slots={"g_in": "Out@GRAD"})
def _kept_mean_grad(xp, g_in, x, label, *, ignore_index=-100):
    """g_in over that number, in the shape of x."""
    return xp.broadcast_to(g_in / _count(xp, g_in, label, ignore_index), x.shape).copy()


def _count(xp: Any, x: Any, label: Any, ignore_index: int) -> Any:
    return x.dtype.type(max(int(xp.count_nonzero(label != ignore_index)), 1))


_kept_mean_grad.grad(g_in=lambda g, label, ignore_index: kept_mean(g, label, ignore_index=ignore_index))
kept_mean.grad(
    x=lambda g, x_like, label, ignore_index: _kept_mean_grad(g, x_like, label, ignore_index=ignore_index)
)


def _infer_binary(where: str) -> Any:
    def infer(x: Spec, label: Spec, **_: Any) -> Spec:
        require_floating(where, x=x)
        require_same_dtype(where, x=x, label=label)
        if x.ndim != label.ndim or any(
            a != b and -1 not in (a, b) for a, b in zip(x.shape, label.shape, strict=True)
        ):
            raise ShapeError(f"{where}: input is {x} and label {label}; they must have one shape; reshape")
        return x

    return infer


def _require_alike(x: Any, label: Any) -> None:
    """What inference refuses must not broadcast here either: [N, 1] and [N] would make [N, N]."""
    if x.shape != label.shape or x.dtype != label.dtype:
        raise ValueError("shapes do not fit")  # the mode asks inference to say what is wrong


@op("bce_loss", infer=_infer_binary("binary_cross_entropy"))
def bce_loss(xp, x, label):
    """-(label * log(x) + (1 - label) * log(1 - x)), the logarithms not below -100."""
    _require_alike(x, label)
    if x.size and (x.min() < 0 or x.max() > 1):
        raise OutOfRangeError(
            f"binary_cross_entropy: input holds probabilities, 0 to 1: got {float(x.min())} to "
            f"{float(x.max())} in {_spec(x)}; use sigmoid() before it, or binary_cross_entropy_with_logits()"
        )
    low, one = x.dtype.type(-100), x.dtype.type(1)
    return -(label * xp.maximum(xp.log(x), low) + (one - label) * xp.maximum(xp.log(one - x), low))


def _bce_grad(g: Any, x: Any, label: Any) -> Any:
    return g * (x - label) / math.clip(x * (1.0 - x), min=1e-12)


bce_loss.grad(x=_bce_grad)


@op("sigmoid_cross_entropy_with_logits", infer=_infer_binary("binary_cross_entropy_with_logits"))
def sigmoid_cross_entropy_with_logits(xp, x, label):
    """bce_loss of sigmoid(x), without overflow: max(x, 0) - x * label + log(1 + exp(-|x|))."""
    _require_alike(x, label)
    return xp.maximum(x, x.dtype.type(0)) - x * label + xp.log1p(xp.exp(-xp.absolute(x)))


sigmoid_cross_entropy_with_logits.grad(x=lambda g, x, label: g * (activation.sigmoid(x) - label))


@op("kldiv_loss", infer=_infer_binary("kl_div"), slots={"x": "X", "target": "Target", "out": "Loss"})
def kl_divergence(xp, x, target, *, reduction="none"):
    """target * (log(target) - x), 0 where the target is not positive."""
    _require_alike(x, target)
    positive = target > 0
    safe = xp.where(positive, target, target.dtype.type(1))
    return xp.where(positive, target * (xp.log(safe) - x), x.dtype.type(0))


def _target_slope(g: Any, x: Any, target: Any) -> Any:
    positive = math.cast(target > 0.0, out_dtype=g.dtype)
    return g * positive * (math.log(target * positive + (1.0 - positive)) + 1.0 - x)


kl_divergence.grad(
    x=lambda g, target: math.scale(g * math.clip(target, min=0.0), scale=-1.0),
    target=_target_slope,
)


@op("huber", infer=floating_as_x("smooth_l1_loss"))
def huber(xp, x, *, delta=1.0):
    """x * x / 2 up to delta in size, beyond delta * (|x| - delta / 2)."""
    number, size = x.dtype.type, xp.absolute(x)
    inner = xp.minimum(size, number(delta))
    return inner * (size - inner * number(0.5))


huber.grad(x=lambda g, x, delta: g * math.clip(x, min=-delta, max=delta))


def _spec(array: Any) -> Spec:
    return Spec(array.shape, from_numpy(array.dtype))
