"""Losses that are operators of their own, and the accuracy of a classification."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.dtype import float32, from_numpy, int32
from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.infer import normal_axis, require_floating
from engine.core.opdef import op
from engine.core.spec import Spec
from engine.ops.arrays import shape
from engine.ops.elementwise import compare, math
from engine.ops.reductions import reduce

_SLOTS = {"logits": "Logits", "label": "Label", "softmax": "Softmax", "loss": "Loss"}


def _infer_cross_entropy(
    logits: Spec, label: Spec, *, soft_label: bool, axis: int, **_: Any
) -> tuple[Spec, Spec]:
    where = "softmax_with_cross_entropy"
    require_floating(where, logits=logits)
    axis = normal_axis(where, axis, logits.ndim)
    expected = (*logits.shape[:axis], logits.shape[axis] if soft_label else 1, *logits.shape[axis + 1 :])
    if not soft_label and not label.dtype.is_integer:
        raise DTypeError(
            f"{where}: hard labels are class numbers: got {label}; "
            "cast them to int64, or pass soft_label=True"
        )
    fits = label.ndim == len(expected) and all(
        -1 in (a, b) or a == b for a, b in zip(label.shape, expected, strict=True)
    )
    if not fits:
        raise ShapeError(
            f"{where}: logits are {logits}, so label must have shape {list(expected)}: got {label}; "
            "one class number (or distribution, with soft_label=True) for each sample"
        )
    return logits, logits.with_shape((*logits.shape[:axis], 1, *logits.shape[axis + 1 :]))


@op("softmax_with_cross_entropy", infer=_infer_cross_entropy, outputs=("softmax", "loss"), slots=_SLOTS)
def softmax_with_cross_entropy(
    xp, logits, label, *, soft_label=False, ignore_index=-100, numeric_stable_mode=True, axis=-1
):
    """-log(softmax(logits)) of the label's class; 0 where the label is ignore_index."""
    _infer_cross_entropy(_spec(logits), _spec(label), soft_label=soft_label, axis=axis)
    shifted = logits - xp.max(logits, axis=axis, keepdims=True)
    softmax = xp.exp(shifted)
    total = xp.sum(softmax, axis=axis, keepdims=True)
    softmax /= total
    log_total = xp.log(total)
    if soft_label:
        # A logit of -inf costs nothing where the label gives it no share: 0 * inf would not be a number.
        each = xp.where(label == 0, label, label * (log_total - shifted))
        loss = xp.sum(each, axis=axis, keepdims=True)
    else:
        index, kept = _class_index(xp, label, logits.shape[axis], ignore_index)
        loss = log_total - xp.take_along_axis(shifted, index, axis=axis)
        if kept is not None:
            loss = xp.where(kept, loss, logits.dtype.type(0))
    return softmax, loss


def _spec(array: Any) -> Spec:
    return Spec(array.shape, from_numpy(array.dtype))


def _class_index(xp: Any, label: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """Labels usable as indices, and where they count (None: everywhere). Raises OutOfRangeError."""
    low, high = (int(label.min()), int(label.max())) if label.size else (0, 0)
    if low >= 0 and high < classes and not low <= ignore_index <= high:
        return label, None
    kept = label != ignore_index
    wrong = kept & ((label < 0) | (label >= classes))
    if wrong.any():
        raise OutOfRangeError(
            f"cross_entropy: label {int(label[wrong][0])} is no class number: there are {classes} classes, "
            f"0 to {classes - 1} (and ignore_index {ignore_index}); check the labels or the last layer's size"
        )
    return xp.where(kept, label, 0), kept


@op("softmax_with_cross_entropy_grad", infer=lambda g_in, softmax, label, **_: softmax,
    slots={**_SLOTS, "g_in": "Loss@GRAD", "out": "Logits@GRAD"})  # fmt: skip
def _cross_entropy_grad(xp, g_in, softmax, label, *, soft_label=False, ignore_index=-100, axis=-1):
    """(softmax - label) * g along the class axis."""
    if soft_label:
        return (softmax * xp.sum(label, axis=axis, keepdims=True) - label) * g_in
    index, kept = _class_index(xp, label, softmax.shape[axis], ignore_index)
    result = softmax * g_in
    picked = xp.take_along_axis(result, index, axis=axis) - g_in
    if xp is np:
        np.put_along_axis(result, index, picked, axis=axis)
    else:
        along = [-1 if n == axis % softmax.ndim else 1 for n in range(softmax.ndim)]
        classes = xp.arange(softmax.shape[axis]).reshape(along)
        result = xp.where(classes == index, picked, result)
    if kept is not None:
        result = result * kept
    return result


@_cross_entropy_grad.grad_all("g_in", "softmax")
def _second_order(
    g: Any, softmax: Any, label: Any, soft_label: bool, ignore_index: int, axis: int, g_in: Any
) -> tuple[Any, Any]:
    """How the first gradient changes with the incoming one and with the softmax."""
    ones = math.scale(g_in, scale=0.0, bias=1.0)
    unit = _cross_entropy_grad(
        ones, softmax, label, soft_label=soft_label, ignore_index=ignore_index, axis=axis
    )
    if soft_label:
        slope = g_in * reduce.sum(label, axis=[axis], keepdim=True)
    else:
        counts = compare.not_equal(label, shape.fill_like(label, value=ignore_index))
        slope = g_in * math.cast(counts, out_dtype=g_in.dtype)
    return reduce.sum(g * unit, axis=[axis], keepdim=True), g * slope


@softmax_with_cross_entropy.grad_all("logits")
def _grad(
    g_softmax: Any, g_loss: Any, softmax: Any, label: Any, soft_label: bool, ignore_index: int, axis: int
) -> Any:
    result = None
    if g_loss is not None:
        result = _cross_entropy_grad(
            g_loss, softmax, label, soft_label=soft_label, ignore_index=ignore_index, axis=axis
        )
    if g_softmax is not None:
        gy = g_softmax * softmax
        through = gy - softmax * reduce.sum(gy, axis=[axis], keepdim=True)
        result = through if result is None else result + through
    return result


def _infer_accuracy(values: Spec, indices: Spec, label: Spec) -> tuple[Spec, Spec, Spec]:
    if (
        label.ndim != 2
        or label.shape[1] not in (1, -1)
        or (-1 not in (label.shape[0], indices.shape[0]) and label.shape[0] != indices.shape[0])
    ):
        raise ShapeError(
            f"accuracy: label must have shape [{indices.shape[0]}, 1], one class number a sample: got {label}"
        )
    return Spec((), float32), Spec((), int32), Spec((), int32)


@op("accuracy", infer=_infer_accuracy, outputs=("accuracy", "correct", "total"),
    slots={"values": "Out", "indices": "Indices", "label": "Label"})  # fmt: skip
def accuracy(xp, values, indices, label):
    """The share of samples whose label is among the indices, with both counts."""
    _infer_accuracy(_spec(values), _spec(indices), _spec(label))
    correct = int((indices == label).any(axis=1).sum())
    total = indices.shape[0]
    share = correct / total if total else 0.0
    return xp.asarray(share, np.float32), xp.asarray(correct, np.int32), xp.asarray(total, np.int32)
