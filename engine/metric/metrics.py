"""Metrics that are added up over batches, and the accuracy of one batch."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from engine.core.errors import ArgumentError, DTypeError, ShapeError
from engine.core.values.dtype import int32, int64
from engine.eager.tensor import Tensor
from engine.ops.arrays import shape, sort
from engine.ops.elementwise import arithmetic, comparison
from engine.ops.reductions import reduce
from engine.ops.training import metrics
from engine.tensor.arguments.factories import require_tensor
from engine.tensor.members import inplace
from engine.tensor.tensor_like import AnyTensor

# What ``update`` takes: values that are computed already.
Values: TypeAlias = Tensor | np.ndarray[Any, Any] | np.generic


def accuracy(
    input: AnyTensor,
    label: AnyTensor,
    k: int = 1,
    correct: AnyTensor | None = None,
    total: AnyTensor | None = None,
    name: str | None = None,
) -> Any:
    """The share of samples whose class is among the ``k`` largest of ``input`` [N, classes].

    ``label`` is [N, 1]. The two counts are written into ``correct`` and ``total``, int32 tensors, where
    given. Raises ShapeError for other shapes.
    """
    if label.dtype is int32:
        label = arithmetic.cast(label, out_dtype=int64)
    values, indices = sort.topk(input, k=int(k))
    share, right, count = metrics.accuracy(values, indices, label)
    require_tensor("accuracy", **{n: t for n, t in (("correct", correct), ("total", total)) if t is not None})
    if correct is not None:
        inplace.replace("accuracy", correct, right, becomes="shape")
    if total is not None:
        inplace.replace("accuracy", total, count, becomes="shape")
    return share


class Metric(abc.ABC):
    """Base of the metrics: ``compute`` on a batch, ``update`` with its result, ``accumulate`` over all."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Forget everything that was added."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Add a batch."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The metric over all batches since the last reset."""

    @abc.abstractmethod
    def name(self) -> str | list[str]:
        """Its name or names, for logs."""

    def compute(self, *args: Any) -> Any:
        """What ``update`` is given, from a batch's outputs and labels; by default they themselves."""
        return args


class Accuracy(Metric):
    """The share of samples whose class is among the k largest scores, for each k in ``topk``."""

    def __init__(
        self, topk: int | Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.topk = (topk,) if isinstance(topk, int) else tuple(topk)
        self.maxk = max(self.topk)
        base = name or "acc"
        self._name = [f"{base}_top{k}" for k in self.topk] if self.maxk != 1 else [base]
        self.reset()

    def compute(self, pred: AnyTensor, label: AnyTensor, *args: Any) -> Any:
        """[..., maxk] of 0 and 1: whether the label is the best, second best ... of ``pred`` [..., classes].

        ``label`` is [...] or [..., 1] class numbers, or [..., classes] one-hot.
        """
        _, indices = sort.topk(pred, k=min(self.maxk, pred.shape[-1]), axis=-1)
        if label.ndim == 1 or (label.ndim == 2 and label.shape[-1] == 1):
            label = shape.reshape(label, shape=[-1, 1])
        elif label.shape[-1] != 1:
            label = reduce.argmax(label, axis=-1, keepdims=True)
        if label.dtype is not indices.dtype:
            label = arithmetic.cast(label, out_dtype=indices.dtype)
        return arithmetic.cast(comparison.equal(indices, label), out_dtype="float32")

    def update(self, correct: Values, *args: Any) -> float | list[float]:
        """Add what ``compute`` gave; returns this batch's accuracy, one for each k."""
        array = _array("Accuracy", "correct", correct)
        samples = int(np.prod(array.shape[:-1]))
        shares = []
        for n, k in enumerate(self.topk):
            right = float(array[..., :k].sum())
            shares.append(right / samples if samples else 0.0)
            self.total[n] += right
            self.count[n] += samples
        return shares[0] if len(self.topk) == 1 else shares

    def reset(self) -> None:
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> float | list[float]:
        shares = [t / c if c else 0.0 for t, c in zip(self.total, self.count, strict=True)]
        return shares[0] if len(self.topk) == 1 else shares

    def name(self) -> list[str]:
        return self._name


class Precision(Metric):
    """Of the samples called positive (probability rounding to 1), the share that are."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def update(self, preds: Values, labels: Values) -> None:
        """Add probabilities [N] or [N, 1] and labels 0 or 1 of the same number."""
        called, truth = _binary("Precision", preds, labels, lambda p: np.floor(p + 0.5))
        self.tp += int(np.count_nonzero(called & truth))
        self.fp += int(np.count_nonzero(called & ~truth))

    def reset(self) -> None:
        self.tp = 0
        self.fp = 0

    def accumulate(self) -> float:
        called = self.tp + self.fp
        return self.tp / called if called else 0.0

    def name(self) -> str:
        return self._name


class Recall(Metric):
    """Of the positive samples, the share that are called so (probability rounding to 1)."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._name = name
        self.reset()

    def update(self, preds: Values, labels: Values) -> None:
        """Add probabilities [N] or [N, 1] and labels 0 or 1 of the same number."""
        called, truth = _binary("Recall", preds, labels, np.rint)
        self.tp += int(np.count_nonzero(called & truth))
        self.fn += int(np.count_nonzero(~called & truth))

    def reset(self) -> None:
        self.tp = 0
        self.fn = 0

    def accumulate(self) -> float:
        positive = self.tp + self.fn
        return self.tp / positive if positive else 0.0

    def name(self) -> str:
        return self._name


class Auc(Metric):
    """The area under the curve of true against false positives (ROC), from a histogram of probabilities.

    Args:
        curve: ``'ROC'``; ``'PR'`` is taken too and gives the same, as in Paddle.
        num_thresholds: the histogram has one bin more.
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        if isinstance(num_thresholds, bool) or not isinstance(num_thresholds, int) or num_thresholds <= 0:
            raise ArgumentError(f"Auc: num_thresholds must be a positive integer: got {num_thresholds!r}")
        self._curve = curve
        self._num_thresholds = num_thresholds
        self._name = name
        self.reset()

    def update(self, preds: Values, labels: Values) -> None:
        """Add probabilities [N, 2], the second that of the positive class, and labels 0 or 1 [N] or [N, 1].

        Raises ShapeError for other shapes, ArgumentError for a probability outside 0 to 1.
        """
        scores, truth = _array("Auc", "preds", preds), _array("Auc", "labels", labels)
        if scores.ndim != 2 or scores.shape[1] < 2 or truth.size != len(scores):
            raise ShapeError(
                f"Auc: preds and labels don't fit: got {list(scores.shape)} and {list(truth.shape)}; "
                "give [N, 2] and [N, 1]"
            )
        positive = scores[:, 1].astype(np.float64)
        if not ((positive >= 0) & (positive <= 1)).all():
            raise ArgumentError(
                f"Auc: preds must be probabilities, 0 to 1: got {positive.min()} to {positive.max()}; "
                "take softmax first"
            )
        bins = (positive * self._num_thresholds).astype(np.int64)
        hit = truth.reshape(-1) != 0
        self._stat_pos += np.bincount(bins[hit], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~hit], minlength=self._num_thresholds + 1)

    def accumulate(self) -> float:
        positive, negative = self._stat_pos[::-1].cumsum(), self._stat_neg[::-1].cumsum()
        if not positive[-1] or not negative[-1]:
            return 0.0
        before = np.concatenate([[0.0], positive[:-1]])
        area = (np.diff(negative, prepend=0.0) * (positive + before) / 2).sum()
        return float(area / positive[-1] / negative[-1])

    def reset(self) -> None:
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def name(self) -> str:
        return self._name


def _array(where: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    raise DTypeError(f"{where}: {name} is a Tensor or a numpy array: got {type(value).__name__}")


def _binary(where: str, preds: Any, labels: Any, rounded: Any) -> tuple[Any, Any]:
    """Whether each sample is called positive, and whether it is."""
    called, truth = _array(where, "preds", preds), _array(where, "labels", labels)
    if called.size != truth.size:
        raise ShapeError(
            f"{where}: preds has shape {list(called.shape)}: labels {list(truth.shape)}; one each a sample"
        )
    return rounded(called).reshape(-1) == 1, truth.reshape(-1) == 1
