"""EpochTable: what an evaluation found, from the event of an epoch. Light: lists of runs import it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from resources.metrics import balanced_accuracy, recalls

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class EpochTable:
    """The evaluation at the end of an epoch: ``counts`` [C, C] by true class and answer, and the samples that
    were read worst (dicts with index, label, predicted, probability)."""

    epoch: int
    step: int
    accuracy: float
    counts: NDArray[np.uint32]
    hardest: tuple[Mapping[str, Any], ...] = ()

    @property
    def recalls(self) -> list[float | None]:
        """The share of each class that was recognized; None for a class without samples."""
        return recalls(self.counts.tolist())

    @property
    def balanced_accuracy(self) -> float | None:
        """The mean of these shares: all classes count alike, however many samples they have."""
        return balanced_accuracy(self.counts.tolist())

    @property
    def correct(self) -> int:
        """How many images were read right."""
        return int(self.counts.trace())


def table_of(event: Mapping[str, Any]) -> EpochTable | None:
    """The table of an ``epoch`` event of a training or a journal, whose values are not believed; None where
    it holds none."""
    counts = event.get("confusion")
    if not isinstance(counts, Sequence) or not counts or not _is_square(counts):
        return None
    import numpy as np

    hardest = event.get("hardest")
    accuracy = event.get("validation_accuracy", float("nan"))
    epoch, step = event.get("epoch"), event.get("step")
    if type(epoch) is not int or type(step) is not int:
        return None
    return EpochTable(
        epoch,
        step,
        float(accuracy) if isinstance(accuracy, int | float) else float("nan"),
        np.asarray(counts, np.uint32),
        tuple(each for each in hardest if _is_hard(each, len(counts))) if isinstance(hardest, list) else (),
    )


_MOST = 2**32 - 1


def _is_square(counts: Sequence[Any]) -> bool:
    return all(
        isinstance(row, list)
        and len(row) == len(counts)
        and all(type(count) is int and 0 <= count <= _MOST for count in row)
        for row in counts
    )


def _is_hard(value: Any, classes: int) -> bool:
    return (
        isinstance(value, Mapping)
        and all(type(value.get(name)) is int for name in ("index", "label", "predicted"))
        and value["index"] >= 0
        and 0 <= value["label"] < classes
        and 0 <= value["predicted"] < classes
        and isinstance(value.get("probability"), int | float)
    )
