"""Losses of sequences whose alignment is not known, with Paddle's signatures."""

from __future__ import annotations

from typing import Any

from engine.core.errors import ShapeError
from engine.nn.functional.losses.reducing import check_reduction, in_dtype, reduced
from engine.ops.arrays import shape
from engine.ops.elementwise import arithmetic
from engine.ops.sequences import sequence_loss
from engine.program.build.calls import takes_name
from engine.tensor.tensor_like import AnyTensor


def ctc_loss(
    log_probs: AnyTensor,
    labels: AnyTensor,
    input_lengths: AnyTensor,
    label_lengths: AnyTensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
) -> Any:
    """-log of the probability of ``labels`` [batch, length], summed over alignments: Graves et al. (2006).

    ``log_probs`` [time, batch, classes] are scores: softmax over the classes is part of this function.
    ``mean`` divides each loss by its label's length first. ``norm_by_times`` divides gradients (not losses)
    by the number of steps. A label too long for its input gives 0 and no gradient. Raises OutOfRangeError
    for a label that is not a class or the blank, and for lengths beyond the tensors. There is no second
    derivative.
    """
    check_reduction("ctc_loss", reduction)
    loss = sequence_loss.ctc(
        log_probs, labels, input_lengths, label_lengths, blank=int(blank), norm_by_times=bool(norm_by_times)
    )
    loss = shape.squeeze(loss, axes=[-1])
    if reduction == "mean":
        loss = arithmetic.divide(loss, in_dtype(label_lengths, loss.dtype))
    return reduced(loss, reduction)


@takes_name
def rnnt_loss(
    input: AnyTensor,
    label: AnyTensor,
    input_lengths: AnyTensor,
    label_lengths: AnyTensor,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """-log of the probability of ``label`` [batch, length] under a transducer: Graves (2012).

    ``input`` [batch, time, length + 1, classes] holds log probabilities (apply log_softmax). Gradients of
    labels are multiplied by 1 + ``fastemit_lambda``: Yu et al., FastEmit (2021). ``mean`` divides the sum by
    the batch. There is no second derivative.
    """
    check_reduction("rnnt_loss", reduction)
    if input.ndim != 4:
        raise ShapeError(
            f"rnnt_loss: input must be [batch, time, labels + 1, classes]: got {list(input.shape)}"
        )
    loss = sequence_loss.rnnt(
        input, label, input_lengths, label_lengths, blank=int(blank), fastemit_lambda=float(fastemit_lambda)
    )
    return reduced(loss, reduction)
