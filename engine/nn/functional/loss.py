"""Loss functions with Paddle's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, ShapeError
from engine.core.operators.infer import normal_axis
from engine.core.strictness import tolerate
from engine.eager.mode import is_unseen
from engine.eager.tensor import Tensor, wrap
from engine.nn.functional.common import label_smooth
from engine.nn.functional.losses.reducing import check_reduction, reduced, require_same_shape
from engine.ops.activations import smooth as smooth_ops
from engine.ops.arrays import creation, index, shape
from engine.ops.elementwise import arithmetic, comparison, power
from engine.ops.reductions import reduce
from engine.ops.training import losses as ops
from engine.program.build.calls import takes_name
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.tensor_like import AnyTensor


def _aligned(where: str, input: Any, label: Any, axis: int) -> Any:
    """The label with a class axis of its own, which the caller may have omitted."""
    if input.ndim == 0 or label.ndim not in (input.ndim, input.ndim - 1):
        raise ShapeError(
            f"{where}: input has shape {list(input.shape)} and label {list(label.shape)}: the label needs "
            "the same number of dimensions, or one less (without the class axis); reshape it"
        )
    return shape.unsqueeze(label, axes=[axis]) if label.ndim == input.ndim - 1 else label


def softmax_with_cross_entropy(
    logits: AnyTensor,
    label: AnyTensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """-log(softmax(logits)) of each sample's class; the softmax too with ``return_softmax``."""
    require_tensor("softmax_with_cross_entropy", label=label)
    axis = normal_axis("softmax_with_cross_entropy", axis, logits.ndim)
    label = _aligned("softmax_with_cross_entropy", logits, label, axis)
    softmax, loss = ops.softmax_with_cross_entropy(
        logits, label, soft_label=bool(soft_label), ignore_index=int(ignore_index), axis=axis
    )
    return (loss, softmax) if return_softmax else loss


# Logits of a loss that eager execution applies as one operator, at most.
_SMALL = 1 << 14


def _few(input: Any, label: Any) -> Any:
    """The label as [N, 1] where logits [N, classes] and labels [N, 1] or [N] are so few that two operators
    take longer to be applied than to compute, and nothing sees them; else None."""
    if not is_unseen(input, label):
        return None
    logits, classes = input._array, label._array
    if logits.ndim != 2 or logits.dtype.kind != "f" or not 0 < logits.size <= _SMALL:
        return None
    if classes.dtype.kind != "i" or classes.shape[:1] != logits.shape[:1]:
        return None
    if classes.ndim == 1:
        return shape.unsqueeze(label, axes=[1])
    return label if classes.shape[1:] == (1,) else None


@takes_name
def cross_entropy(
    input: AnyTensor,
    label: AnyTensor,
    weight: AnyTensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """Cross entropy of ``input`` (logits, or probabilities with ``use_softmax=False``) and ``label``.

    ``label`` holds class numbers, with or without a class axis of size 1, or with ``soft_label`` a
    distribution over the classes. ``weight`` [classes] scales each sample by its class; the mean then divides
    by the weights' sum. Samples whose label is ``ignore_index`` count for nothing. Raises ShapeError,
    DTypeError, and OutOfRangeError for a label that is not a class.
    """
    if weight is None and reduction == "mean" and use_softmax and not soft_label and not label_smoothing:
        if axis in (-1, 1) and (column := _few(input, label)) is not None:
            return ops.mean_cross_entropy(input, column, ignore_index=int(ignore_index))[0]
    check_reduction("cross_entropy", reduction)
    if soft_label and ignore_index > 0:
        raise ArgumentError(
            f"cross_entropy: ignore_index={ignore_index} is a class number, but soft_label=True gives "
            "distributions; leave one of them out"
        )
    if not 0 <= label_smoothing <= 1:
        raise ArgumentError(f"cross_entropy: label_smoothing is a share, 0 to 1: got {label_smoothing}")
    if input.__class__ is not Tensor or label.__class__ is not Tensor:
        require_tensor("cross_entropy", input=input, label=label)
    # As in Paddle, smoothing keeps the class axis.
    squeezed = label.ndim == input.ndim - 1 and label_smoothing == 0
    given, axis = axis, normal_axis("cross_entropy", axis, input.ndim)
    label = _aligned("cross_entropy", input, label, given)
    # Smoothing also takes distributions without soft_label, as Paddle does.
    soft = soft_label or (label_smoothing > 0 and not label.dtype.is_integer)
    hard = None if soft else label
    classes = input.shape[axis]
    if weight is not None and list(weight.shape) != [classes]:
        raise ShapeError(
            f"cross_entropy: weight has shape {list(weight.shape)}: one number a class is [{classes}]"
        )
    if label_smoothing > 0:
        rows = label if hard is None else _distribution(hard, classes, ignore_index, axis)
        label = _smooth(arithmetic.cast(rows, out_dtype=input.dtype), label_smoothing, classes, axis)
    smooth = label is not hard
    loss = _entropy(input, label, smooth, int(ignore_index), axis, use_softmax)
    if hard is not None and smooth:
        loss = loss * arithmetic.cast(_is_counted(hard, ignore_index), out_dtype=loss.dtype)
    factor = None
    if weight is not None:
        factor = _weights(weight, label, hard, ignore_index, axis, smooth)
        loss = loss * factor
    if reduction == "mean" and factor is not None:
        return _weighted_mean(loss, factor)
    if reduction == "mean" and hard is not None:
        return ops.kept_mean(loss, hard, ignore_index=int(ignore_index))
    if reduction == "none" and squeezed:
        return shape.squeeze(loss, axes=[given])
    return reduced(loss, reduction)


def _entropy(input: Any, label: Any, soft: bool, ignore_index: int, axis: int, use_softmax: bool) -> Any:
    """One value a sample, the class axis with size 1; 0 where a hard label is ignored."""
    if use_softmax:
        return ops.softmax_with_cross_entropy(
            input, label, soft_label=soft, ignore_index=-100 if soft else ignore_index, axis=axis
        )[1]
    if not soft:
        chosen = ops.pick_class(input, label, axis=axis, ignore_index=ignore_index)
        safe = _with_ones(chosen, label, ignore_index)
        return arithmetic.scale(ops.tolerable_log(safe), scale=-1.0)
    zero = creation.fill_like(label, value=0.0)
    safe = index.where(comparison.not_equal(label, zero), input, creation.fill_like(input, value=1.0))
    return arithmetic.scale(
        reduce.sum(label * ops.tolerable_log(safe), axis=[axis], keepdim=True), scale=-1.0
    )


def _with_ones(chosen: Any, label: Any, ignore_index: int) -> Any:
    """The probabilities of the labels; ignored samples pick 0, and get 1, whose logarithm is 0."""
    if chosen.__class__ is Tensor and label.__class__ is Tensor:
        kept = label._array != ignore_index
        if kept.__class__ is np.ndarray and np.count_nonzero(kept) == kept.size:
            return chosen
        counted: Any = wrap(kept)
    else:
        counted = _is_counted(label, ignore_index)
    return index.where(counted, chosen, creation.fill_like(chosen, value=1.0))


def _is_counted(label: Any, ignore_index: int) -> Any:
    return comparison.not_equal(label, creation.fill_like(label, value=int(ignore_index)))


def _usable(label: Any, ignore_index: int) -> Any:
    """Class numbers with 0 in place of the ignored ones."""
    return label * arithmetic.cast(_is_counted(label, ignore_index), out_dtype=label.dtype)


def _distribution(label: Any, classes: int, ignore_index: int, axis: int) -> Any:
    """Class numbers (class axis of size 1) as rows with a one."""
    rows = index.one_hot(shape.squeeze(_usable(label, ignore_index), axes=[axis]), depth=classes)
    last = rows.ndim - 1
    if axis == last:
        return rows
    return shape.transpose(rows, axis=[*range(axis), last, *range(axis, last)])


def _smooth(label: Any, epsilon: float, classes: int, axis: int) -> Any:
    if axis == label.ndim - 1:
        return label_smooth(label, epsilon=epsilon)
    return arithmetic.scale(label, scale=1.0 - epsilon, bias=epsilon / classes)


def _weights(weight: Any, label: Any, hard: Any, ignore_index: int, axis: int, smooth: bool) -> Any:
    """The weight of each sample, the class axis with size 1; 0 for ignored ones."""
    if not smooth:
        found = index.gather(weight, _usable(hard, ignore_index), axis=0)
    else:
        per_class = shape.reshape(weight, shape=[-1 if n == axis else 1 for n in range(label.ndim)])
        rows = arithmetic.cast(label, out_dtype=weight.dtype)
        found = reduce.sum(rows * per_class, axis=[axis], keepdim=True)
    return (
        found
        if hard is None
        else found * arithmetic.cast(_is_counted(hard, ignore_index), out_dtype=weight.dtype)
    )


def _weighted_mean(loss: Any, factor: Any) -> Any:
    """The sum over the sum of the weights, and 0 rather than 0/0 where there is no weight at all."""
    total = reduced(factor, "sum")
    empty = arithmetic.cast(
        comparison.equal(total, creation.fill_like(total, value=0.0)), out_dtype=total.dtype
    )
    return reduced(loss, "sum") / (total + empty)


@takes_name
def nll_loss(
    input: AnyTensor,
    label: AnyTensor,
    weight: AnyTensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Minus the log probability of the label's class: ``input`` is [N, C, ...], ``label`` [N, ...] or
    [N, 1, ...].

    ``weight`` [C] scales each sample by its class; the mean divides by the weights' sum. Samples whose label
    is ``ignore_index`` count for nothing.
    """
    check_reduction("nll_loss", reduction)
    if input.ndim < 2:
        raise ShapeError(f"nll_loss: input has shape {list(input.shape)}: it must be [N, C, ...]; reshape it")
    column = label.ndim == input.ndim and label.shape[1] == 1
    if not column and label.ndim == input.ndim == 2 and label.shape[0] == input.shape[0] != -1:
        tolerate(
            ArgumentError(
                f"nll_loss: input has shape {list(input.shape)} and label {list(label.shape)}: only the "
                f"first {input.shape[0]} labels count; give one label a sample"
            )
        )
        label = shape.reshape(label, shape=[-1])[: input.shape[0]]
    if not (column or label.ndim == input.ndim - 1):
        raise ShapeError(
            f"nll_loss: input has shape {list(input.shape)} and label {list(label.shape)}: they must be "
            "[N, C, ...] and [N, ...]; reshape them"
        )
    label = label if column else shape.unsqueeze(label, axes=[1])
    chosen = ops.pick_class(input, label, axis=1, ignore_index=int(ignore_index))
    loss = arithmetic.scale(chosen, scale=-1.0)
    if weight is not None:
        counted = arithmetic.cast(_is_counted(label, ignore_index), out_dtype=loss.dtype)
        factor = index.gather(weight, _usable(label, ignore_index), axis=0) * counted
        loss = loss * factor
        if reduction == "mean":
            return _weighted_mean(loss, factor)
    elif reduction == "mean":
        return ops.kept_mean(loss, label, ignore_index=int(ignore_index))
    return shape.squeeze(loss, axes=[1]) if reduction == "none" else reduced(loss, reduction)


@takes_name
def binary_cross_entropy(
    input: AnyTensor,
    label: AnyTensor,
    weight: AnyTensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-(label log(input) + (1 - label) log(1 - input)) for probabilities ``input`` of label's shape.

    ``weight``, of a shape that broadcasts, scales the elements; the mean divides by their number all the
    same.
    """
    check_reduction("binary_cross_entropy", reduction)
    loss = ops.bce_loss(input, label)
    return reduced(loss if weight is None else arithmetic.multiply(loss, weight), reduction)


@takes_name
def binary_cross_entropy_with_logits(
    logit: AnyTensor,
    label: AnyTensor,
    weight: AnyTensor | None = None,
    reduction: str = "mean",
    pos_weight: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """binary_cross_entropy of sigmoid(logit), without overflow; ``pos_weight`` scales label 1."""
    check_reduction("binary_cross_entropy_with_logits", reduction)
    if pos_weight is None:
        loss = ops.sigmoid_cross_entropy_with_logits(logit, label)
    else:
        require_same_shape("binary_cross_entropy_with_logits", logit=logit, label=label)
        # softplus(-x) is the loss of label 1.
        softplus = ops.sigmoid_cross_entropy_with_logits(logit, creation.fill_like(logit, value=1.0))
        positive = arithmetic.scale(label * arithmetic.scale(pos_weight, bias=-1.0), bias=1.0)
        loss = arithmetic.scale(label, scale=-1.0, bias=1.0) * logit + positive * softplus
    return reduced(loss if weight is None else arithmetic.multiply(loss, weight), reduction)


@takes_name
def sigmoid_focal_loss(
    logit: AnyTensor,
    label: AnyTensor,
    normalizer: AnyTensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """Cross entropy of each binary label, times (1 - p of the label) ** gamma: Lin et al. (2017).

    ``alpha`` weighs label 1 and 1 - alpha label 0; ``normalizer``, of one element, divides the loss.
    """
    check_reduction("sigmoid_focal_loss", reduction)
    if normalizer is not None and normalizer.ndim > 1:
        raise ShapeError(
            f"sigmoid_focal_loss: normalizer has one element: got shape {list(normalizer.shape)}; reshape it"
        )
    loss = ops.sigmoid_cross_entropy_with_logits(logit, label)
    share = smooth_ops.sigmoid(logit)
    other = arithmetic.scale(label, scale=-1.0, bias=1.0)
    missing = share * other + arithmetic.scale(share, scale=-1.0, bias=1.0) * label
    balance = arithmetic.scale(label, scale=2.0 * alpha - 1.0, bias=1.0 - alpha)
    loss = balance * loss * (power.square(missing) if gamma == 2 else missing ** float(gamma))
    return reduced(loss if normalizer is None else arithmetic.divide(loss, normalizer), reduction)
