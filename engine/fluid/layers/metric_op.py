"""Metrics of a batch: ``accuracy`` and ``auc``."""

from __future__ import annotations

from typing import Any

from engine.fluid.layers.adapting import adapter, ones_at
from engine.fluid.renamed.functions import functions, row
from engine.static import metrics
from engine.tensor import manipulation, math
from engine.tensor.reductions import reduction

# fmt: off
ROWS = (
    row("accuracy", metrics.accuracy, "input, label, k: int = 1, correct=None, total=None",
        "The share of samples whose class is among the ``k`` largest of ``input``: float32 [1]."),
    row("auc", metrics.auc,
        "input, label, curve: str = 'ROC', num_thresholds: int = 4095, topk: int = 1, slide_steps: int = 1",
        "The area under the curve over all runs, over the last ones, and the Variables that keep the "
        "counts."),
)
# fmt: on
globals().update(functions(ROWS, __name__))


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
