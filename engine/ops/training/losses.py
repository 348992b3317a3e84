"""Losses, and the operators that read labels for them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from engine.core.errors import DTypeError, OutOfRangeError, ShapeError
from engine.core.operators.bounds import Number
from engine.core.operators.infer import floating_as_x, normal_axis, require_floating, require_same_dtype
from engine.core.operators.opdef import op
from engine.core.values.spec import Spec
from engine.ops.activations import smooth
from engine.ops.arrays import creation
from engine.ops.arrays.along_axis import one_each
from engine.ops.elementwise import arithmetic, comparison, exponential, extremes
from engine.ops.reductions import reduce


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
def pick_class(xp, x, label, *, axis=-1, ignore_index: Number = -100):
    """The element of x at the label's class, 0 where the label is ignore_index."""
    _infer_pick(Spec.of(x), Spec.of(label), axis=axis)
    index, counted = _class_index(xp, label, x.shape[axis], ignore_index)
    out = one_each(xp, x, index, axis)
    out = out if counted is None else xp.where(counted, out, x.dtype.type(0))
    return _marked(xp, out, label, x.shape[axis], ignore_index)


@op("pick_class_grad", infer=lambda g_in, label, x, **_: x.with_dtype(g_in.dtype), slots={"g_in": "Out@GRAD"})
def _put_class(xp, g_in, label, x, *, axis=-1, ignore_index: Number = -100):
    """Zeros like x with g_in at the label's class."""
    index, counted = _class_index(xp, label, x.shape[axis], ignore_index)
    value = g_in if counted is None else g_in * counted
    if xp is not np:
        classes = xp.arange(x.shape[axis]).reshape([-1 if n == axis % x.ndim else 1 for n in range(x.ndim)])
        return xp.where(classes == index, value, g_in.dtype.type(0))
    result = np.zeros(x.shape, g_in.dtype)
    _put(result, index, value, axis)
    return result


def _put(result: Any, index: Any, values: Any, axis: int) -> None:
    """``put_along_axis`` of one element for each place."""
    if axis % result.ndim == result.ndim - 1 and result.flags.c_contiguous:
        rows = result.reshape(index.size, result.shape[-1])
        rows[np.arange(index.size), index.reshape(-1)] = values.reshape(-1)
    else:
        np.put_along_axis(result, index, values, axis=axis)


_put_class.grad(g_in=lambda g, label, **attrs: pick_class(g, label, **attrs))


pick_class.grad(x=lambda g, x_like, label, **attrs: _put_class(g, label, x_like, **attrs))


def _infer_kept_mean(x: Spec, label: Spec, **_: Any) -> Spec:
    require_floating("kept_mean", x=x)
    return x.with_shape(())


@op("kept_mean", infer=_infer_kept_mean)
def kept_mean(xp, x, label, *, ignore_index: Number = -100):
    """The sum of x over the number of labels that are not ignore_index; 0 where all are."""
    return xp.asarray(x.sum(dtype=x.dtype) / _count(xp, x, label, ignore_index))


@op("kept_mean_grad", infer=lambda g_in, x, label, **_: x, slots={"g_in": "Out@GRAD"})
def _kept_mean_grad(xp, g_in, x, label, *, ignore_index: Number = -100):
    """g_in over that number, in the shape of x."""
    return xp.full(x.shape, g_in / _count(xp, g_in, label, ignore_index), g_in.dtype)


def _count(xp: Any, x: Any, label: Any, ignore_index: int) -> Any:
    counted = xp.count_nonzero(label != ignore_index)
    if xp is np:
        return x.dtype.type(max(int(counted), 1))
    return xp.maximum(counted, 1).astype(x.dtype)  # the host waits for nothing


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
            raise ShapeError(f"{where}: input is {x} and label {label}; they must have one shape; reshape it")
        return x

    return infer


def _require_alike(x: Any, label: Any) -> None:
    """Raise ValueError for different dtypes or shapes, which would broadcast: [N, 1] and [N] to [N, N]."""
    if x.shape != label.shape or x.dtype != label.dtype:
        raise ValueError("shapes do not fit")  # inference explains the error


@op("bce_loss", infer=_infer_binary("binary_cross_entropy"))
def bce_loss(xp, x, label):
    """-(label * log(x) + (1 - label) * log(1 - x)), the logarithms not below -100."""
    _require_alike(x, label)
    # A GPU would be waited for; the logarithm of a negative number is NaN there, as here.
    if xp is np and x.size and (x.min() < 0 or x.max() > 1):
        raise OutOfRangeError(
            f"binary_cross_entropy: input holds probabilities, 0 to 1: got {float(x.min())} to "
            f"{float(x.max())} in {Spec.of(x)}; use sigmoid() before it, or "
            "binary_cross_entropy_with_logits()"
        )
    low, one = x.dtype.type(-100), x.dtype.type(1)
    return -(label * xp.maximum(xp.log(x), low) + (one - label) * xp.maximum(xp.log(one - x), low))


def _bce_grad(g: Any, x: Any, label: Any) -> Any:
    return g * (x - label) / extremes.clip(x * (1.0 - x), min=1e-12)


bce_loss.grad(x=_bce_grad)


@op("sigmoid_cross_entropy_with_logits", infer=_infer_binary("binary_cross_entropy_with_logits"))
def sigmoid_cross_entropy_with_logits(xp, x, label):
    """bce_loss of sigmoid(x), without overflow: max(x, 0) - x * label + log(1 + exp(-|x|))."""
    _require_alike(x, label)
    return xp.maximum(x, x.dtype.type(0)) - x * label + xp.log1p(xp.exp(-xp.absolute(x)))


sigmoid_cross_entropy_with_logits.grad(x=lambda g, x, label: g * (smooth.sigmoid(x) - label))


@op("kldiv_loss", infer=_infer_binary("kl_div"), slots={"x": "X", "target": "Target", "out": "Loss"})
def kl_divergence(xp, x, target, *, reduction="none"):
    """target * (log(target) - x), 0 where the target is not positive."""
    _require_alike(x, target)
    positive = target > 0
    safe = xp.where(positive, target, target.dtype.type(1))
    return xp.where(positive, target * (xp.log(safe) - x), x.dtype.type(0))


def _target_slope(g: Any, x: Any, target: Any) -> Any:
    positive = arithmetic.cast(target > 0.0, out_dtype=g.dtype)
    return g * positive * (exponential.log(target * positive + (1.0 - positive)) + 1.0 - x)


kl_divergence.grad(
    x=lambda g, target: arithmetic.scale(g * extremes.clip(target, min=0.0), scale=-1.0),
    target=_target_slope,
)


@op("huber", infer=floating_as_x("smooth_l1_loss"))
def huber(xp, x, *, delta=1.0):
    """x * x / 2 up to delta in size, beyond delta * (|x| - delta / 2)."""
    number, size = x.dtype.type, xp.absolute(x)
    inner = xp.minimum(size, number(delta))
    return inner * (size - inner * number(0.5))


huber.grad(x=lambda g, x, delta: g * extremes.clip(x, min=-delta, max=delta))


@op("tolerable_log", infer=floating_as_x("tolerable_log"))
def tolerable_log(xp, x):
    """The logarithm, at most 1e20 above or below 0 (as Paddle's losses take it); its gradient is 1 / x."""
    # NumPy's clip takes three times as long for a few numbers.
    most = 65504.0 if x.dtype == np.float16 else 1e20
    return xp.minimum(xp.maximum(xp.log(x), -most), most)


tolerable_log.grad(x=lambda g, x: g / x)


LEAST_LOGIT = -64.0  # below the largest of its row
# As arrays, which NumPy compares with in two thirds of the time.
_LEAST = {np.dtype(name): np.array(LEAST_LOGIT, name) for name in ("float32", "float64")}
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
    xp, logits, label, *, soft_label=False, ignore_index: Number = -100, numeric_stable_mode=True, axis=-1
):
    """-log(softmax(logits)) of the label's class; 0 where the label is ignore_index.

    As in Paddle a logit counts as at most 64 below the largest one of its row.
    """
    if not _fits_at_once(logits, label, soft_label, axis):
        _infer_cross_entropy(Spec.of(logits), Spec.of(label), soft_label=soft_label, axis=axis)
    shifted = logits - logits.max(axis=axis, keepdims=True)
    softmax = xp.exp(shifted)
    total = softmax.sum(axis=axis, keepdims=True)
    softmax /= total
    log_total = xp.log(total)
    if soft_label:
        # A logit of -inf adds no loss where its label is 0: 0 * inf would not be a number.
        each = xp.where(label == 0, label, label * (log_total - xp.maximum(shifted, LEAST_LOGIT)))
        loss = xp.sum(each, axis=axis, keepdims=True)
    else:
        index, counted = _class_index(xp, label, logits.shape[axis], ignore_index)
        least = _LEAST.get(logits.dtype, LEAST_LOGIT) if xp is np else LEAST_LOGIT
        loss = log_total - xp.maximum(_taken(xp, shifted, index, axis), least)
        if counted is not None:
            loss = xp.where(counted, loss, logits.dtype.type(0))
        loss = _marked(xp, loss, label, logits.shape[axis], ignore_index)
    return softmax, loss


def _fits_at_once(logits: Any, label: Any, soft_label: bool, axis: int) -> bool:
    """Whether these are class numbers [N, 1] for rows [N, classes], which needs no inference to be right."""
    return bool(
        not soft_label
        and axis in (-1, 1)
        and logits.ndim == label.ndim == 2
        and label.shape == (logits.shape[0], 1)
        and logits.dtype.kind == "f"
        and label.dtype.kind == "i"
    )


@lru_cache(maxsize=64)
def _rows(count: int) -> Any:
    made = np.arange(count)
    made.flags.writeable = False
    return made


def _taken(xp: Any, x: Any, index: Any, axis: int) -> Any:
    """One element of x along ``axis`` for each place of ``index``, where that has the size 1."""
    if xp is np and x.ndim == 2 and axis in (-1, 1):  # a sixth of the time for a small batch
        return x[_rows(len(x)), index[:, 0]][:, None]
    return xp.take_along_axis(x, index, axis=axis)


def _class_index(xp: Any, label: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """Labels usable as indices, and a mask of those not ignored (None: all). Raises OutOfRangeError.

    On a GPU, which would be waited for, class numbers that do not exist are masked: see ``_marked``.
    """
    if xp is not np:
        counted = (label != ignore_index) & (label >= 0) & (label < classes)
        return xp.where(counted, label, label.dtype.type(0)), counted
    if xp is np and ignore_index < 0 and label.size and label.dtype.kind == "i":
        # As numbers without a sign, those below 0 are above all classes: one look at the labels.
        if int(label.view(f"u{label.itemsize}").max()) < min(classes, 1 << (8 * label.itemsize - 1)):
            return label, None
    low, high = (int(label.min()), int(label.max())) if label.size else (0, 0)
    if low >= 0 and high < classes and not low <= ignore_index <= high:
        return label, None
    counted = label != ignore_index
    wrong = counted & ((label < 0) | (label >= classes))
    if wrong.any():
        raise OutOfRangeError(
            f"cross_entropy: label {int(label[wrong][0])} is not a class number: there are {classes} "
            f"classes, 0 to {classes - 1} (and ignore_index {ignore_index}); "
            "check the labels or the last layer's size"
        )
    return xp.where(counted, label, 0), counted


def _marked(xp: Any, result: Any, label: Any, classes: int, ignore_index: int) -> Any:
    """The result, NaN where a GPU was given a class number that does not exist, so that the loss shows it."""
    if xp is np:
        return result
    wrong = (label != ignore_index) & ((label < 0) | (label >= classes))
    return xp.where(wrong, result.dtype.type(np.nan), result)


@op(
    "softmax_with_cross_entropy_grad",
    infer=lambda g_in, softmax, label, **_: softmax,
    slots={**_SLOTS, "g_in": "Loss@GRAD", "out": "Logits@GRAD"},
)
def _cross_entropy_grad(xp, g_in, softmax, label, *, soft_label=False, ignore_index: Number = -100, axis=-1):
    """(softmax - label) * g along the class axis."""
    if soft_label:
        return (softmax * xp.sum(label, axis=axis, keepdims=True) - label) * g_in
    index, counted = _class_index(xp, label, softmax.shape[axis], ignore_index)
    result = softmax * g_in
    picked = _taken(xp, result, index, axis) - g_in
    if xp is np and result.ndim == 2 and axis in (-1, 1):
        result[_rows(len(result)), index[:, 0]] = picked[:, 0]
    elif xp is np:
        np.put_along_axis(result, index, picked, axis=axis)
    else:
        along = [-1 if n == axis % softmax.ndim else 1 for n in range(softmax.ndim)]
        classes = xp.arange(softmax.shape[axis]).reshape(along)
        result = xp.where(classes == index, picked, result)
    if counted is not None:
        result = result * counted
    return result


@_cross_entropy_grad.grad_all("g_in", "softmax")
def _second_order(
    g: Any, softmax: Any, label: Any, soft_label: bool, ignore_index: int, axis: int, g_in: Any
) -> tuple[Any, Any]:
    """The gradient of the first gradient by the incoming one and by the softmax."""
    ones = arithmetic.scale(g_in, scale=0.0, bias=1.0)
    unit = _cross_entropy_grad(
        ones, softmax, label, soft_label=soft_label, ignore_index=ignore_index, axis=axis
    )
    if soft_label:
        slope = g_in * reduce.sum(label, axis=[axis], keepdim=True)
    else:
        counts = comparison.not_equal(label, creation.fill_like(label, value=ignore_index))
        slope = g_in * arithmetic.cast(counts, out_dtype=g_in.dtype)
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


# -- both as one operator, which small eager losses apply; a Program has the two -----------------------------
def _infer_mean_cross_entropy(logits: Spec, label: Spec, **_: Any) -> tuple[Spec, Spec]:
    softmax, each = _infer_cross_entropy(logits, label, soft_label=False, axis=-1)
    return each.with_shape(()), softmax


@op("mean_cross_entropy", infer=_infer_mean_cross_entropy, outputs=("loss", "softmax"))
def mean_cross_entropy(xp, logits, label, *, ignore_index: Number = -100):
    """The mean of -log(softmax(logits)) of the label's class, over labels [..., 1] not ignore_index."""
    softmax, each = softmax_with_cross_entropy.opdef.kernel(xp, logits, label, ignore_index=ignore_index)
    return kept_mean.opdef.kernel(xp, each, label, ignore_index=ignore_index), softmax


@op("mean_cross_entropy_grad", infer=lambda softmax, label, g_in, **_: softmax)
def _mean_cross_entropy_grad(xp, softmax, label, g_in, *, ignore_index: Number = -100):
    """(softmax - label) * g / labels that count."""
    each = _kept_mean_grad.opdef.kernel(xp, g_in, label, label, ignore_index=ignore_index)
    return _cross_entropy_grad.opdef.kernel(xp, each, softmax, label, ignore_index=ignore_index)


@mean_cross_entropy.grad_all("logits")
def _mean_cross_entropy_rule(g_loss: Any, g_softmax: Any, softmax: Any, label: Any, ignore_index: int) -> Any:
    result = None
    if g_loss is not None:
        result = _mean_cross_entropy_grad(softmax, label, g_loss, ignore_index=ignore_index)
    if g_softmax is not None:
        gy = g_softmax * softmax
        through = gy - softmax * reduce.sum(gy, axis=[-1], keepdim=True)
        result = through if result is None else result + through
    return result


@_mean_cross_entropy_grad.grad_all("softmax", "g_in")
def _mean_cross_entropy_grad_rule(
    g: Any, softmax: Any, label: Any, ignore_index: int, g_in: Any
) -> tuple[Any, Any]:
    shaped = arithmetic.cast(label, out_dtype=g_in.dtype)
    each = _kept_mean_grad(g_in, shaped, label, ignore_index=ignore_index)
    of_each, of_softmax = _second_order(g, softmax, label, False, ignore_index, -1, each)
    return of_softmax, kept_mean(of_each, label, ignore_index=ignore_index)
