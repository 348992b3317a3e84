"""Losses that ask for a margin: between scores, classes, or distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.nn.functional.distance import pairwise_distance
from engine.nn.functional.losses.reducing import (
    check_reduction,
    difference,
    dims,
    in_dtype,
    reduced,
    require_floats,
    require_one_sided,
    require_same_shape,
)
from engine.ops.activations import piecewise, smooth
from engine.ops.arrays import creation, index, shape
from engine.ops.elementwise import arithmetic, comparison, extremes, power
from engine.ops.linalg import products as linalg
from engine.ops.reductions import reduce
from engine.ops.training import losses
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


def _zero(x: Any) -> Any:
    return creation.fill_like(x, value=0.0)


def _is(label: Any, value: float) -> Any:
    return comparison.equal(label, creation.fill_like(label, value=value))


@takes_name
def margin_ranking_loss(
    input: AnyTensor,
    other: AnyTensor,
    label: AnyTensor,
    margin: float = 0.0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, -label * (input - other) + margin): label 1 wants input larger, -1 other."""
    check_reduction("margin_ranking_loss", reduction)
    require_one_sided("margin_ranking_loss", input=input, label=label)
    out = difference("margin_ranking_loss", other, input)
    out = arithmetic.multiply(out, in_dtype(label, out.dtype))
    return reduced(piecewise.relu(arithmetic.scale(out, bias=float(margin))), reduction)


@takes_name
def hinge_embedding_loss(
    input: AnyTensor, label: AnyTensor, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """input where the label is 1, max(0, margin - input) where it is -1, 0 elsewhere."""
    check_reduction("hinge_embedding_loss", reduction)
    require_same_shape("hinge_embedding_loss", input=input, label=label)
    zero = _zero(input)
    far = piecewise.relu(arithmetic.scale(input, scale=-1.0, bias=float(margin)))
    loss = index.where(_is(label, 1), input, zero) + index.where(_is(label, -1), far, zero)
    return reduced(loss, reduction)


@takes_name
def cosine_embedding_loss(
    input1: AnyTensor,
    input2: AnyTensor,
    label: AnyTensor,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """1 - cos where the label is 1, max(0, cos - margin) where it is -1: one label for each row.

    ``input1`` and ``input2`` are [N, size] with ``label`` [N], or [size] with ``label`` [1].
    """
    check_reduction("cosine_embedding_loss", reduction)
    if label.ndim != 1 or input1.ndim > 2:
        raise ShapeError(
            f"cosine_embedding_loss: label must be [N] for inputs [N, size]: got label {list(label.shape)}, "
            f"input1 {list(input1.shape)}"
        )
    require_same_shape("cosine_embedding_loss", input1=input1, input2=input2)
    if input1.dtype.name not in ("float32", "float64"):
        raise ArgumentError(
            f"cosine_embedding_loss: inputs are float32 or float64: got {input1.dtype.name}; cast them"
        )
    if label.dtype.name not in ("int32", "int64", "float32", "float64"):
        raise ArgumentError(f"cosine_embedding_loss: labels are 1 and -1: got {label.dtype.name}; cast them")
    axes = {"axis": [-1], "keepdim": False, "reduce_all": False}
    # Paddle's small number, which keeps the gradient at 0 finite.
    first = arithmetic.scale(reduce.sum(power.square(input1), **axes), bias=1e-11)
    second = arithmetic.scale(reduce.sum(power.square(input2), **axes), bias=1e-11)
    cosine = reduce.sum(input1 * input2, **axes) / power.sqrt(first * second)
    zero = _zero(cosine)
    far = extremes.clip(arithmetic.scale(cosine, bias=-float(margin)), min=0.0)
    near = arithmetic.scale(cosine, scale=-1.0, bias=1.0)
    return reduced(index.where(_is(label, 1), near, zero) + index.where(_is(label, -1), far, zero), reduction)


@takes_name
def soft_margin_loss(
    input: AnyTensor, label: AnyTensor, reduction: str = "mean", name: str | None = None
) -> Any:
    """log(1 + exp(-label * input)) for labels 1 and -1, without overflow."""
    check_reduction("soft_margin_loss", reduction)
    require_same_shape("soft_margin_loss", input=input, label=label)
    require_floats("soft_margin_loss", input=input)
    agreement = in_dtype(label, input.dtype) * input
    return reduced(arithmetic.scale(smooth.log_sigmoid(agreement), scale=-1.0), reduction)


@takes_name
def multi_label_soft_margin_loss(
    input: AnyTensor,
    label: AnyTensor,
    weight: AnyTensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """binary_cross_entropy_with_logits of each class, the mean over classes: ``input`` is [N, classes]."""
    check_reduction("multi_label_soft_margin_loss", reduction)
    require_same_shape("multi_label_soft_margin_loss", input=input, label=label)
    if label.stop_gradient:
        loss = losses.sigmoid_cross_entropy_with_logits(input, label)
    else:  # that operator has no gradient of labels
        absent = arithmetic.scale(label, scale=-1.0, bias=1.0) * smooth.log_sigmoid(-input)
        loss = arithmetic.scale(label * smooth.log_sigmoid(input) + absent, scale=-1.0)
    loss = loss if weight is None else loss * weight
    return reduced(reduce.mean(loss, axis=[-1], keepdim=False, reduce_all=False), reduction)


@takes_name
def multi_margin_loss(
    input: AnyTensor,
    label: AnyTensor,
    p: int = 1,
    margin: float = 1.0,
    weight: AnyTensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """The mean over other classes of max(0, margin - input[label] + input[class]) ** p.

    ``input`` is [N, classes], ``label`` [N]; ``weight`` [classes] multiplies the inner difference of each
    sample by the number of its class. The class of the label itself counts 0.

    Differs from Paddle: with a weight, 'none' gives [N] and 'sum' the sum of it, where Paddle 2.6.2 subtracts
    [N, 1] from [N]; and the label's class counts 0 for every p, which in Paddle holds for p=1 only.
    """
    check_reduction("multi_margin_loss", reduction)
    rows = (dims(label)[0], dims(input)[0])
    if input.ndim != 2 or (rows[0] != rows[1] and -1 not in rows):
        raise ShapeError(
            f"multi_margin_loss: input must be [N, classes] and label [N]: got {list(input.shape)} and "
            f"{list(label.shape)}; reshape them"
        )
    label = shape.reshape(label, shape=[-1, 1])
    classes = int(input.shape[1])
    chosen = losses.pick_class(input, label, axis=1, ignore_index=-1 << 62)
    inner = arithmetic.scale(arithmetic.subtract(input, chosen), bias=float(margin))
    if weight is not None:
        if dims(weight) != [classes]:
            raise ShapeError(
                f"multi_margin_loss: weight has shape {list(weight.shape)}: one number a class is [{classes}]"
            )
        inner = index.gather(weight, label, axis=0) * inner
    powers = extremes.clip(inner, min=0.0)
    if p != 1:
        powers = powers ** float(p)
    other = index.where(_classes(input, label), _zero(powers), powers)
    return reduced(reduce.mean(other, axis=[1], keepdim=False, reduce_all=False), reduction)


def _classes(input: Any, label: Any) -> Any:
    """True at the label's class: [N, classes] for labels [N, 1]."""
    count = int(input.shape[1])
    numbers = shape.constant(shape=[1, count], values=list(range(count)), dtype=label.dtype.name)
    return comparison.equal(label, numbers)


def _distances(
    where: str, distance: Callable[[Any, Any], Any], input: Any, positive: Any, negative: Any, swap: bool
) -> tuple[Any, Any]:
    require_same_shape(where, input=input, positive=positive, negative=negative)
    near, far = distance(input, positive), distance(input, negative)
    return near, extremes.minimum(far, distance(positive, negative)) if swap else far


def _triplet(near: Any, far: Any, margin: float, reduction: str) -> Any:
    return reduced(extremes.clip(arithmetic.scale(near - far, bias=float(margin)), min=0.0), reduction)


@takes_name
def triplet_margin_loss(
    input: AnyTensor,
    positive: AnyTensor,
    negative: AnyTensor,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """max(0, |input - positive| - |input - negative| + margin) with p-norms: Balntas et al. (2016).

    ``swap`` takes the distance of positive and negative instead where that is smaller.
    """
    where = "triplet_margin_loss"
    check_reduction(where, reduction)
    if margin < 0:
        raise ArgumentError(f"{where}: margin must not be negative: got {margin}")

    def distance(x: Any, y: Any) -> Any:
        return pairwise_distance(x, y, p, epsilon)

    near, far = _distances(where, distance, input, positive, negative, swap)
    return _triplet(near, far, margin, reduction)


@takes_name
def triplet_margin_with_distance_loss(
    input: AnyTensor,
    positive: AnyTensor,
    negative: AnyTensor,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """triplet_margin_loss with a distance of your own (2-norm by default), which must be above 0."""
    where = "triplet_margin_with_distance_loss"
    check_reduction(where, reduction)
    if margin < 0:
        raise ArgumentError(f"{where}: margin must not be negative: got {margin}")
    near, far = _distances(where, distance_function or pairwise_distance, input, positive, negative, swap)
    for found in (near, far):
        if not modes.is_symbolic(found) and not (found._array > 0).all():
            raise ArgumentError(
                f"{where}: a distance is above 0: got {float(found._array.min())}; check distance_function, "
                "or whether a sample is its own positive"
            )
    return _triplet(near, far, margin, reduction)


def npair_loss(anchor: AnyTensor, positive: AnyTensor, labels: AnyTensor, l2_reg: float = 0.002) -> Any:
    """Cross entropy of anchor @ positive.T with pairs of one label as targets, plus a penalty on the norms.

    Sohn, Improved deep metric learning with multi-class N-pair loss objective (2016).
    """
    for name, value in (("anchor", anchor), ("positive", positive)):
        if value.ndim != 2 or 0 in dims(value):
            raise ShapeError(f"npair_loss: {name} must be [N, size] and not empty: got {list(value.shape)}")
        require_floats("npair_loss", **{name: value})
    if labels.dtype.name not in ("float32", "float64", "int64"):
        raise DTypeError(f"npair_loss: labels are float32, float64 or int64: got {labels.dtype.name}")
    column = shape.reshape(labels, shape=[-1, 1])
    same = arithmetic.cast(
        comparison.equal(column, shape.reshape(labels, shape=[1, -1])), out_dtype=anchor.dtype
    )
    target = same / reduce.sum(same, axis=[1], keepdim=True, reduce_all=False)

    def penalty(x: Any) -> Any:
        rows = reduce.sum(power.square(x), axis=[1], keepdim=False, reduce_all=False)
        return reduced(rows, "mean")

    scores = linalg.matmul(anchor, positive, trans_y=True)
    _, loss = losses.softmax_with_cross_entropy(scores, target, soft_label=True, axis=1)
    return (penalty(anchor) + penalty(positive)) * (0.25 * l2_reg) + reduced(loss, "mean")
