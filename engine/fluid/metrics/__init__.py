"""Paddle's ``fluid.metrics``: numbers gathered over the batches of an epoch, outside of the Program."""

from __future__ import annotations

import copy
from typing import Any, NoReturn

import numpy as np

from engine import metric as modern
from engine.core.errors import ArgumentError, ConditionError, DTypeError, UnsupportedError

__all__ = [
    "Accuracy",
    "Auc",
    "ChunkEvaluator",
    "CompositeMetric",
    "DetectionMAP",
    "EditDistance",
    "MetricBase",
    "Precision",
    "Recall",
]


class MetricBase:
    """What metrics share, a script's own too: public attributes are their state."""

    def __init__(self, name: str | None = None) -> None:
        self._name = str(name) if name is not None else type(self).__name__

    def __str__(self) -> str:
        return self._name

    def reset(self) -> None:
        """Numbers become 0, arrays zeros, other public attributes None."""
        for name, value in self._states().items():
            if isinstance(value, (bool, int)):
                setattr(self, name, 0)
            elif isinstance(value, float):
                setattr(self, name, 0.0)
            else:
                setattr(
                    self, name, np.zeros_like(value) if isinstance(value, (np.ndarray, np.generic)) else None
                )

    def get_config(self) -> dict[str, Any]:
        """``{"name": ..., "states": copies of the public attributes}``."""
        return {"name": self._name, "states": copy.deepcopy(self._states())}

    def _states(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def update(self, preds: Any, labels: Any) -> None:
        """Add a batch; a subclass defines it."""
        raise NotImplementedError(f"{self._name}.update: the class does not define it")

    def eval(self) -> Any:
        """The value over all batches so far; a subclass defines it."""
        raise NotImplementedError(f"{self._name}.eval: the class does not define it")


class CompositeMetric(MetricBase):
    """Several metrics of the same predictions and labels."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self._metrics: list[MetricBase] = []

    def add_metric(self, metric: MetricBase) -> None:
        """Append ``metric``. Raises ArgumentError for another class."""
        if not isinstance(metric, MetricBase):
            raise ArgumentError(
                f"CompositeMetric.add_metric: takes a fluid.metrics.MetricBase: got {type(metric).__name__}"
            )
        self._metrics.append(metric)

    def reset(self) -> None:
        for metric in self._metrics:
            metric.reset()

    def update(self, preds: Any, labels: Any) -> None:
        for metric in self._metrics:
            metric.update(preds, labels)

    def eval(self) -> list[Any]:
        return [metric.eval() for metric in self._metrics]


class Precision(MetricBase):
    """Of the samples called positive (probability rounding to 1, halves to even), the share that are."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = self.fp = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Add probabilities [N] or [N, 1] and as many labels 0 or 1; errors of ``metric.Precision``."""
        batch = modern.Precision()
        batch.update(np.rint(_array("Precision", "preds", preds)), _array("Precision", "labels", labels))
        self.tp, self.fp = self.tp + batch.tp, self.fp + batch.fp

    def eval(self) -> float:
        return _share(self.tp, self.tp + self.fp)


class Recall(MetricBase):
    """Of the positive samples, the share that are called so (probability rounding to 1)."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.tp = self.fn = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Add probabilities [N] or [N, 1] and as many labels 0 or 1; errors of ``metric.Recall``."""
        batch = modern.Recall()
        batch.update(_array("Recall", "preds", preds), _array("Recall", "labels", labels))
        self.tp, self.fn = self.tp + batch.tp, self.fn + batch.fn

    def eval(self) -> float:
        return _share(self.tp, self.tp + self.fn)


class Accuracy(MetricBase):
    """The mean of the accuracies of batches, each with its weight, the number of its samples."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.value = self.weight = 0.0

    def update(self, value: Any, weight: Any) -> None:
        """Add a batch's accuracy, a number or an array of one, and its weight.

        Raises ArgumentError for other values, or a negative weight.
        """
        number = _number("Accuracy", "weight", weight)
        if number < 0:
            raise ArgumentError(f"Accuracy.update: weight must not be negative: got {weight!r}")
        self.value += _number("Accuracy", "value", value) * number
        self.weight += number

    def eval(self) -> float:
        """Raises ArgumentError before the first batch."""
        if self.weight == 0:
            raise ArgumentError(
                "Accuracy.eval: There is no data in Accuracy Metrics: call update() with that of a batch"
            )
        return self.value / self.weight


class ChunkEvaluator(MetricBase):
    """Precision, recall and F1 of chunks, from the counts of each batch."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.num_infer_chunks = self.num_label_chunks = self.num_correct_chunks = 0

    def update(self, num_infer_chunks: Any, num_label_chunks: Any, num_correct_chunks: Any) -> None:
        """Add the numbers of chunks found, there, and found right. Raises ArgumentError for other values."""
        where = "ChunkEvaluator"
        self.num_infer_chunks += int(_number(where, "num_infer_chunks", num_infer_chunks))
        self.num_label_chunks += int(_number(where, "num_label_chunks", num_label_chunks))
        self.num_correct_chunks += int(_number(where, "num_correct_chunks", num_correct_chunks))

    def eval(self) -> tuple[float, float, float]:
        precision = _share(self.num_correct_chunks, self.num_infer_chunks)
        recall = _share(self.num_correct_chunks, self.num_label_chunks)
        both = 2 * precision * recall / (precision + recall) if self.num_correct_chunks else 0.0
        return precision, recall, both


class EditDistance(MetricBase):
    """The mean edit distance of sequences, and the share of those that are not right."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.total_distance = 0.0
        self.seq_num = self.instance_error = 0

    def update(self, distances: Any, seq_num: Any) -> None:
        """Add a batch's distances, an array with one for each of ``seq_num`` sequences."""
        found = _array("EditDistance", "distances", distances)
        number = int(_number("EditDistance", "seq_num", seq_num))
        self.seq_num += number
        self.instance_error += number - int(np.count_nonzero(found == 0))
        self.total_distance += float(found.sum())

    def eval(self) -> tuple[float, float]:
        """Raises ArgumentError before the first batch."""
        if self.seq_num == 0:
            raise ArgumentError(
                "EditDistance.eval: There is no data in EditDistance Metric: call update() with distances"
            )
        return self.total_distance / self.seq_num, self.instance_error / self.seq_num


class Auc(MetricBase):
    """The area under the curve of true against false positives, from a histogram of probabilities."""

    def __init__(self, name: str | None = None, curve: str = "ROC", num_thresholds: int = 4095) -> None:
        super().__init__(name)
        self._counted = modern.Auc(curve, num_thresholds)

    def reset(self) -> None:
        self._counted.reset()

    def update(self, preds: Any, labels: Any) -> None:
        """Add probabilities [N, 2] and labels [N, 1]; errors of ``metric.Auc``.

        Predictions beyond the last label are not counted.
        """
        found = _array("Auc", "labels", labels)
        self._counted.update(_array("Auc", "preds", preds)[: len(found)], found)

    def eval(self) -> float:
        return self._counted.accumulate()


class DetectionMAP(MetricBase):
    """Refused: UnsupportedError says why."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:  # type: ignore[misc]
        raise UnsupportedError(
            "DetectionMAP: works on LoD tensors (boxes of each image in one tensor), which do not exist "
            "here; gather boxes of each image in Python and use vision.ops.nms and fluid.metrics.Precision"
        )


class WeightedAverage:
    """The mean of values by their weights.

    Raises ArgumentError for a value that is neither a number nor an array, ConditionError for the mean of
    nothing.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.numerator: Any = None
        self.denominator: Any = None

    def add(self, value: Any, weight: Any) -> None:
        """Take ``value``, a number or an array, with ``weight``."""
        numbers = (int, float, np.number, np.ndarray)
        if not isinstance(value, numbers):
            raise ArgumentError(
                "WeightedAverage.add: The 'value' must be a number(int, float) or a numpy ndarray: got "
                f"{type(value).__name__}"
            )
        if not isinstance(weight, numbers):
            raise ArgumentError(
                f"WeightedAverage.add: The 'weight' must be a number(int, float): got {type(weight).__name__}"
            )
        first = self.numerator is None
        self.numerator = value * weight if first else self.numerator + value * weight
        self.denominator = weight if first else self.denominator + weight

    def eval(self) -> Any:
        """The mean."""
        if self.numerator is None or not np.all(self.denominator):
            raise ConditionError(
                "WeightedAverage.eval: There is no data to be averaged in WeightedAverage; add values first"
            )
        return self.numerator / self.denominator


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _array(where: str, name: str, value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "numpy"):
        return np.asarray(value.numpy())
    raise DTypeError(
        f"{where}.update: {name} must be a numpy array or a Variable: got {type(value).__name__}"
    )


def _number(where: str, name: str, value: Any) -> float:
    """A number, also from an array or a Variable that has just one."""
    if isinstance(value, (bool, int, float, np.generic)):
        return float(value)
    if isinstance(value, np.ndarray) or hasattr(value, "numpy"):
        found = _array(where, name, value).reshape(-1)
        if found.size == 1 and found.dtype.kind in "biuf":
            return float(found[0])
    raise ArgumentError(
        f"{where}.update: {name} must be a number (int, float) or an array of one: got {type(value).__name__}"
    )
