"""Losses between predicted and true values: squares, absolute values, likelihoods, divergences."""

from __future__ import annotations

import math as numbers
from typing import Any

from engine.core import mode as modes
from engine.core.errors import ArgumentError, ShapeError
from engine.core.values.dtype import float64
from engine.nn.functional.input import one_hot
from engine.nn.functional.losses.reducing import (
    check_reduction,
    difference,
    dims,
    in_dtype,
    reduced,
    require_floats,
    require_same_shape,
)
from engine.ops.arrays import creation, index, shape
from engine.ops.elementwise import arithmetic, comparison, exponential, extremes, power
from engine.ops.reductions import reduce
from engine.ops.training import losses
from engine.program.build.calls import names_results, takes_name
from engine.tensor.arguments.factories import require_one_dtype
from engine.tensor.tensor_like import AnyTensor


@names_results("square_error_cost")
def square_error_cost(input: AnyTensor, label: AnyTensor) -> Any:
    """(input - label) squared, elementwise.

    Differs from Paddle: where both would have to be broadcast, as [N, 1] and [N] to [N, N], it raises
    ShapeError.
    """
    return power.square(difference("square_error_cost", input, label))


@names_results(form="", outer=True)
def mse_loss(input: AnyTensor, label: AnyTensor, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean (or sum) of (input - label) squared.

    Differs from Paddle: where both would have to be broadcast, as [N, 1] and [N] to [N, N], it raises
    ShapeError.
    """
    check_reduction("mse_loss", reduction)
    return reduced(power.square(difference("mse_loss", input, label)), reduction)


@takes_name
def l1_loss(input: AnyTensor, label: AnyTensor, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean (or sum) of |input - label|.

    Differs from Paddle: where both would have to be broadcast, as [N, 1] and [N] to [N, N], it raises
    ShapeError.
    """
    check_reduction("l1_loss", reduction)
    return reduced(arithmetic.absolute(difference("l1_loss", input, label)), reduction)


@takes_name
def smooth_l1_loss(
    input: AnyTensor, label: AnyTensor, reduction: str = "mean", delta: float = 1.0, name: str | None = None
) -> Any:
    """Half the square of the difference up to ``delta``, a straight line beyond: Huber's loss (1964)."""
    check_reduction("smooth_l1_loss", reduction)
    require_same_shape("smooth_l1_loss", input=input, label=label)
    require_one_dtype("smooth_l1_loss", input=input, label=label)
    return reduced(losses.huber(arithmetic.subtract(input, label), delta=float(delta)), reduction)


@takes_name
def log_loss(input: AnyTensor, label: AnyTensor, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """-label log(input + epsilon) - (1 - label) log(1 - input + epsilon), elementwise."""
    require_same_shape("log_loss", input=input, label=label)
    require_one_dtype("log_loss", input=input, label=label)
    positive = label * exponential.log(arithmetic.scale(input, bias=epsilon))
    less = arithmetic.scale(input, scale=-1.0, bias=1.0)
    no = arithmetic.scale(less, bias=epsilon)  # apart, because 1 + epsilon would round
    return arithmetic.scale(label, bias=-1.0) * exponential.log(no) - positive


@takes_name
def kl_div(input: AnyTensor, label: AnyTensor, reduction: str = "mean", name: str | None = None) -> Any:
    """label * (log(label) - input) for log probabilities ``input``; 0 where the label is not positive.

    ``batchmean`` divides the sum by the first dimension, ``mean`` by the number of elements. A float32 and a
    float64 argument give float64.
    """
    check_reduction("kl_div", reduction, "batchmean")
    require_floats("kl_div", input=input, label=label)
    if {input.dtype.name, label.dtype.name} == {"float32", "float64"}:
        input, label = in_dtype(input, float64), in_dtype(label, float64)
    loss = losses.kl_divergence(input, label)
    if reduction != "batchmean":
        return reduced(loss, reduction)
    total = reduced(loss, "sum")
    if input.ndim == 0:
        return total
    batch: Any = input.shape[0]
    if batch >= 0:
        return arithmetic.scale(total, scale=1.0 / max(int(batch), 1))
    return total / arithmetic.cast(batch.value(), out_dtype=total.dtype)


@takes_name
def poisson_nll_loss(
    input: AnyTensor,
    label: AnyTensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """exp(input) - label * input, or input - label * log(input + epsilon) with ``log_input=False``.

    ``full`` adds Stirling's approximation of log(label!) for labels above 1.
    """
    if epsilon <= 0:
        raise ArgumentError(f"poisson_nll_loss: epsilon must be above 0: got {epsilon}; pass e.g. 1e-8")
    check_reduction("poisson_nll_loss", reduction)
    require_floats("poisson_nll_loss", input=input, label=label)
    require_same_shape("poisson_nll_loss", input=input, label=label)
    label = in_dtype(label, input.dtype)
    if log_input:
        loss = exponential.exp(input) - label * input
    else:
        loss = input - label * exponential.log(arithmetic.scale(input, bias=epsilon))
    if full:
        large = comparison.greater_than(label, creation.fill_like(label, value=1.0))
        safe = index.where(large, label, creation.fill_like(label, value=1.0))
        rest = safe * exponential.log(safe) - safe + exponential.log(safe * (2.0 * numbers.pi)) * 0.5
        loss = loss + index.where(large, rest, creation.fill_like(rest, value=0.0))
    return reduced(loss, reduction)


@takes_name
def gaussian_nll_loss(
    input: AnyTensor,
    label: AnyTensor,
    variance: AnyTensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """(log(v) + (input - label)**2 / v) / 2 with v the variance, at least ``epsilon``.

    ``variance`` has the shape of input, or that without its last dimension or with 1 there. ``full`` adds
    log(2 pi) / 2. Raises ArgumentError for a negative variance (in eager mode, where it is seen).

    Differs from Paddle: the variance has a gradient (as if it were not lifted to epsilon); in Paddle 2.6.2 it
    has none, so that nothing learns to predict it.
    """
    check_reduction("gaussian_nll_loss", reduction)
    require_floats("gaussian_nll_loss", input=input, label=label, variance=variance)
    have, want = dims(variance), dims(input)
    if have != want:
        if have == want[:-1]:
            variance = shape.unsqueeze(variance, axes=[variance.ndim])
        elif have != [*want[:-1], 1]:
            raise ShapeError(
                f"gaussian_nll_loss: input has shape {want} and variance {have}: it must be {want}, "
                f"{want[:-1]} or {[*want[:-1], 1]}; reshape it"
            )
    if not modes.is_symbolic(variance) and bool((variance._array < 0).any()):
        raise ArgumentError(
            f"gaussian_nll_loss: a variance is not negative: got {float(variance._array.min())}; check the "
            "layer that predicts it, e.g. use softplus"
        )
    used = variance + shape.detach(extremes.clip(variance, min=float(epsilon)) - variance)
    loss = (exponential.log(used) + power.square(difference("gaussian_nll_loss", input, label)) / used) * 0.5
    if full:
        loss = arithmetic.scale(loss, bias=0.5 * numbers.log(2.0 * numbers.pi))
    return reduced(loss, reduction)


@takes_name
def dice_loss(input: AnyTensor, label: AnyTensor, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """1 - 2 |input * label| / (|input| + |label| + epsilon), the mean over samples: Milletari et al. (2016).

    ``input`` [N, ..., classes] holds probabilities, ``label`` [N, ..., 1] class numbers.
    """
    require_floats("dice_loss", input=input)
    have, want = dims(label), [*dims(input)[:-1], 1]
    if input.ndim < 2 or have != want:
        raise ShapeError(
            f"dice_loss: input has shape {list(input.shape)} and label {have}: they must be "
            "[N, ..., classes] and [N, ..., 1]; reshape them"
        )
    rows = in_dtype(one_hot(shape.squeeze(label, axes=[-1]), input.shape[-1]), input.dtype)
    axes = list(range(1, input.ndim))
    inside = reduce.sum(input * rows, axis=axes, keepdim=False, reduce_all=False)
    both = reduce.sum(input, axis=axes, keepdim=False, reduce_all=False) + reduce.sum(
        rows, axis=axes, keepdim=False, reduce_all=False
    )
    return reduced(arithmetic.scale(inside * 2.0 / (both + epsilon), scale=-1.0, bias=1.0), "mean")
