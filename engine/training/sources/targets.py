"""Targets: what a source says of its samples, as classes or as numbers to predict, with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.labels import is_one_hot, number_labels
from engine.training.sources.rows import NO_LABEL
from engine.training.sources.spec import Task

FEW_INTEGERS = 100
"""Different integers of a column up to which they are classes."""


@dataclass(frozen=True)
class Answers:
    """What is to be predicted of the samples of each split.

    ``labels`` are class numbers, ``NO_LABEL`` where there is none. For numbers they are 0, ``classes`` is
    empty, ``targets`` has float32 [n, k] for each split and ``names`` what the k numbers are called.
    """

    task: Task
    reason: str
    labels: list[np.ndarray]
    classes: tuple[str, ...] = ()
    targets: list[np.ndarray] | None = None
    names: tuple[str, ...] = ()

    def targets_of(self, split: int) -> np.ndarray | None:
        """The numbers of one split; None for classes."""
        return self.targets[split] if self.targets is not None else None


def read_answers(
    where: str,
    arrays: Sequence[np.ndarray],
    task: str,
    names: Sequence[str],
    few: int = 0,
    varied: bool = True,
) -> Answers:
    """Classes or numbers from what a source says of its samples.

    Args:
        arrays: for each split [n], or [n, k] for several numbers.
        task: ``auto`` or the task that is asked for.
        names: of the k numbers.
        few: more different integers than this are numbers; 0 takes all integers for classes.
        varied: refuse a target that is the same in all samples.

    Raises:
        DataError: words that should be numbers, fractions that should be classes, or a constant target.
    """
    flat = [array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array for array in arrays]
    found, reason = _detected(flat, few) if task == "auto" else (task, "chosen with the setting task")
    if found == "classes":
        labels, classes = number_labels(where, *flat)
        if varied:
            _require_two_classes(where, labels, classes)
        return Answers("classes", reason, labels, classes)
    return _numbers(where, flat, names, reason, varied)


def _detected(arrays: Sequence[np.ndarray], few: int) -> tuple[str, str]:
    if any(array.dtype.kind not in "buif" for array in arrays):
        return "classes", "the target holds words"
    if any(array.ndim == 2 and not is_one_hot(array) for array in arrays):
        return "numbers", f"the target has {arrays[0].shape[1]} numbers for each sample"
    for array in arrays:
        if array.dtype.kind == "f":
            known = array[np.isfinite(array)]
            fractions = known[known != np.rint(known)]
            if len(fractions):
                return "numbers", f"the target has fractions, such as {fractions[0]:g}"
    values = np.concatenate([array.reshape(len(array), -1)[:, 0] for array in arrays])
    count = len(np.unique(values[np.isfinite(values)] if values.dtype.kind == "f" else values))
    if few and count > few:
        return "numbers", f"the target has {count} different integers, over {few}"
    return "classes", f"the target has {count} different integers" if arrays[0].ndim == 1 else "one-hot rows"


def _require_two_classes(where: str, labels: Sequence[np.ndarray], classes: Sequence[str]) -> None:
    used = np.unique(np.concatenate([each[each >= 0] for each in labels]))
    if len(used) == 1:
        raise DataError(
            f"{where}: the target is the same in all samples: {classes[int(used[0])]!r}; choose another "
            "target, or add samples of other classes"
        )


def _numbers(
    where: str, arrays: Sequence[np.ndarray], names: Sequence[str], reason: str, varied: bool
) -> Answers:
    labels, targets = [], []
    for array in arrays:
        if array.dtype.kind not in "buif" or array.ndim > 2:
            seen = next((str(value) for value in array.reshape(-1)[:50] if str(value)), "")
            raise DataError(
                f"{where}: the target can't be numbers: it holds words such as {seen!r:.60}; choose task "
                "classes, or another target"
            )
        values = np.asarray(array, np.float64).reshape(len(array), -1)
        endless = np.flatnonzero(np.isinf(values).any(axis=1))
        if len(endless):
            raise DataError(f"{where} row {int(endless[0])}: the target is infinite; fix or remove the row")
        unknown = np.isnan(values).any(axis=1)
        labels.append(np.where(unknown, NO_LABEL, 0).astype(np.int64))
        with np.errstate(over="ignore"):
            targets.append(values.astype(np.float32))
    width = targets[0].shape[1]
    if any(each.shape[1] != width for each in targets):
        raise DataError(
            f"{where}: the splits have different numbers of targets: {[each.shape[1] for each in targets]}; "
            "give the same in each"
        )
    called = tuple(names) if len(names) == width else tuple(f"{names[0]}[{place}]" for place in range(width))
    known = np.concatenate([each[label >= 0] for each, label in zip(targets, labels, strict=True)])
    if not len(known):
        raise DataError(f"{where}: no sample has a target; choose another array or column for it")
    if not np.isfinite(known).all():
        raise DataError(f"{where}: the target is beyond the range of float32; scale it down")
    for place, name in enumerate(called):
        if varied and (known[:, place] == known[0, place]).all():
            raise DataError(
                f"{where}: the target {name} is the same in all samples: {known[0, place]:g}; choose another "
                "target"
            )
    return Answers("numbers", reason, labels, (), targets, called)
