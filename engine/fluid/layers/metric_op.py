"""Metrics of a batch: ``accuracy`` and ``auc``."""

from __future__ import annotations

from typing import Any

from engine.core import mode as modes
from engine.fluid.layers.adapting import adapter, ones_at
from engine.ops.training import metrics as counted
from engine.program.build.builder import current_builder
from engine.static import metrics
from engine.tensor import creation, manipulation, math
from engine.tensor.reductions import reduction


@adapter
def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of samples whose class is among the ``k`` largest of ``input``: float32 [1].

    The numbers of right samples and of all are written into ``correct`` and ``total``: int32 [1].
    """
    if correct is None and total is None:
        return metrics.accuracy(input, label, k)
    counts = [_number() for _ in range(2)]
    share = metrics.accuracy(input, label, k, *counts)
    for wanted, count in zip((correct, total), counts, strict=True):
        if wanted is not None:
            creation.assign(manipulation.reshape(count, [1]), wanted)
    return share


def _number() -> Any:
    """Where an operator writes an int32 without dimensions."""
    builder = current_builder()
    if builder is None:
        return creation.create_tensor("int32")
    name = builder.program.unique_name("accuracy.tmp")
    return builder.block.create_var(name, shape=(), dtype="int32", stop_gradient=True)


@adapter
def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    topk: int = 1,
    slide_steps: int = 1,
) -> Any:
    """The area under the curve over all runs, over the last ones, and the Variables that keep the counts.

    In a guard the counts are those of the call.
    """
    if modes.is_static():
        return metrics.auc(input, label, curve, num_thresholds, topk, slide_steps)
    bins, areas, kept = num_thresholds + 1, [], []
    for steps in (slide_steps, 0):
        size = [(1 + steps) * bins + 1] if steps else [1, bins]
        stats = [creation.zeros(size, "int64") for _ in range(2)]
        found = counted.auc(
            input, label, *stats, curve=curve, num_thresholds=num_thresholds, slide_steps=steps
        )
        areas.append(found[0])
        kept += stats
    return areas[1], areas[0], kept


@adapter
def mean_iou(input: Any, label: Any, num_classes: int) -> Any:
    """The mean over classes of intersection over union, and the wrong and the right elements of each class.

    ``input`` and ``label`` are classes in any one shape: float32 [1], int32 [classes], int32 [classes]. A
    wrong element counts for both classes; a class that is nowhere does not count.
    """
    found, wanted = (ones_at(manipulation.reshape(v, [-1]), num_classes, False) for v in (input, label))
    right = reduction.sum(found * wanted, 0)
    wrong = reduction.sum(found + wanted, 0) - right * 2.0
    union = right + wrong
    seen = math.cast(union > 0, "float32")
    mean = reduction.sum(right / (union + (1.0 - seen))) / reduction.sum(seen)
    return mean, math.cast(wrong, "int32"), math.cast(right, "int32")
