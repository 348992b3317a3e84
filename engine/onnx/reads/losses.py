"""Rows of losses."""

from __future__ import annotations

from typing import Any

from engine.nn import functional as F
from engine.onnx.reads.rows import reads
from engine.onnx.reads.tensors import T
from engine.onnx.reads.values import Unreadable


def _loss(logs: Any, target: Any, weight: Any, ignore_index: int | None, reduction: str) -> Any:
    """The negative logarithms at the targets, [N, C, ...] at [N, ...]."""
    at = T.cast(target, "int64")
    kept = None
    if ignore_index is not None:
        kept = T.not_equal(at, T.full([], ignore_index, "int64"))
        at = T.where(kept, at, T.zeros_like(at))
    picked = T.squeeze(T.take_along_axis(logs, T.unsqueeze(at, [1]), 1, False), [1])
    factor = None if weight is None else T.reshape(T.gather(weight, T.reshape(at, [-1])), list(at.shape))
    if kept is not None:
        own = T.cast(kept, logs.dtype.name)
        factor = own if factor is None else T.multiply(factor, own)
    made = T.neg(picked if factor is None else T.multiply(picked, factor))
    if reduction == "none":
        return made
    if reduction == "sum":
        return T.sum(made)
    if reduction == "mean":
        return T.mean(made) if factor is None else T.divide(T.sum(made), T.sum(factor))
    raise Unreadable(f"reduction {reduction!r:.40}")


@reads("NegativeLogLikelihoodLoss")
def _(
    input: Any, target: Any, weight: Any = None, *, ignore_index: int | None = None, reduction: str = "mean"
) -> Any:
    return _loss(input, target, weight, ignore_index, reduction)


@reads("SoftmaxCrossEntropyLoss")
def _(
    scores: Any, labels: Any, weights: Any = None, *, ignore_index: int | None = None, reduction: str = "mean"
) -> Any:
    logs = F.log_softmax(scores, 1)
    return _loss(logs, labels, weights, ignore_index, reduction), logs
