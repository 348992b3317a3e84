"""Two models' answers to the same samples: accuracy, classes, what changed; by NumPy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core.errors import ArgumentError
from engine.quantization.report import MOST_CHANGED, MOST_CLASSES, Accuracy, Changed, ClassAccuracy


@dataclass(frozen=True)
class Comparison:
    """Fields of a report that follow from answers; see :class:`QuantizationReport`."""

    difference: float
    accuracy: Accuracy | None = None
    per_class: ClassAccuracy | None = None
    confusion_difference: tuple[tuple[int, ...], ...] | None = None
    changed: tuple[Changed, ...] = ()
    changed_count: int = 0


def compare(
    before: NDArray[Any],
    after: NDArray[Any],
    labels: NDArray[np.int64] | None = None,
    classes: Sequence[str] = (),
    places: NDArray[np.int64] | None = None,
) -> Comparison:
    """How the scores ``after`` [samples, classes] differ from those ``before`` quantization.

    Args:
        labels: the class of each sample, of int64 [samples]; without it, the values that need it are omitted.
        classes: their names; those without one are called by their numbers.
        places: the samples' places in the test data; their order here unless given.

    Raises:
        ArgumentError: the scores differ in shape, or there are none.
    """
    if before.shape != after.shape or not before.size:
        raise ArgumentError(
            f"quantize: the quantized model answers in another shape: {list(after.shape)} against "
            f"{list(before.shape)}; give a model whose first output has scores"
        )
    difference = float(np.abs(after.astype(np.float64) - before.astype(np.float64)).max())
    if labels is None or before.ndim != 2:
        return Comparison(difference)
    first, second = before.argmax(axis=1), after.argmax(axis=1)
    differ = np.flatnonzero(first != second)
    changed = tuple(
        Changed(int(i if places is None else places[i]), int(labels[i]), int(first[i]), int(second[i]))
        for i in differ[:MOST_CHANGED]
    )
    accuracy = Accuracy(share_right(first, labels), share_right(second, labels), len(labels))
    width = max(before.shape[1], int(labels.max()) + 1)
    if width > MOST_CLASSES:
        return Comparison(difference, accuracy, changed=changed, changed_count=len(differ))
    names = [*classes[:width], *map(str, range(len(classes), width))]
    tables = [_confusion(labels, answers, width) for answers in (first, second)]
    of_class = [_by_class(table) for table in tables]
    return Comparison(
        difference,
        accuracy,
        ClassAccuracy(tuple(names), *of_class),
        tuple(tuple(int(n) for n in row) for row in tables[1] - tables[0]),
        changed,
        len(differ),
    )


def share_right(answers: NDArray[Any], labels: NDArray[np.int64]) -> float:
    """The share of ``answers`` that are the ``labels``."""
    return float((answers == labels).mean())


def _confusion(labels: NDArray[np.int64], answers: NDArray[Any], width: int) -> NDArray[np.int64]:
    table = np.zeros((width, width), np.int64)
    np.add.at(table, (labels, answers), 1)
    return table


def _by_class(table: NDArray[np.int64]) -> tuple[float | None, ...]:
    right, seen = np.diag(table), table.sum(axis=1)
    return tuple(float(r / n) if n else None for r, n in zip(right, seen, strict=True))
