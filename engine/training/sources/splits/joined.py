"""Joined rows: samples of another source added to those of the first, as samples of its classes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.preparing.prepare import colored
from engine.training.sources.rows import NO_LABEL, Rows


class JoinedRows(Rows):
    """The rows of ``first``, then those of ``second`` in the same form.

    Args:
        labels: of the second, as numbers of the first's classes.
        resized: whether images get one size later on, so that theirs may differ.

    Raises:
        DataError: the second's samples can't be fed as the first's.
    """

    def __init__(self, first: Rows, second: Rows, labels: np.ndarray, resized: bool) -> None:
        same = first.shape == second.shape
        if first.is_image and second.is_image:
            same = resized or first.shape[:2] == second.shape[:2]
        if not same or first.is_image != second.is_image:
            raise DataError(
                f"extra_data: its samples have another shape: {list(second.shape)} against "
                f"{list(first.shape)}; "
                "give samples of the same form, or choose Resize (resize) for images"
            )
        if (first.targets is None) != (second.targets is None) or (
            first.targets is not None
            and second.targets is not None
            and first.targets.shape[1] != second.targets.shape[1]
        ):
            raise DataError(
                "extra_data: its targets are of another form than those of the data; give samples with the "
                "same targets, or choose the task"
            )
        if first.targets is not None and second.targets is not None:
            self.targets = np.concatenate([first.targets, second.targets])
        self._parts = (first, second)
        self.labels = np.concatenate([first.labels, labels])
        self.shape, self.is_image = first.shape, first.is_image
        self._color = {1: "grey", 3: "rgb"}.get(first.shape[-1], "auto") if first.is_image else "auto"

    def read(self, indices: np.ndarray) -> np.ndarray | list[np.ndarray]:
        return self._read(indices, lambda part, chosen: part.read(chosen))

    def read_resized(self, indices: np.ndarray) -> np.ndarray | list[np.ndarray]:
        return self._read(indices, lambda part, chosen: part.read_resized(chosen))

    def find_damaged(self, report: Callable[[int, int], None] | None = None) -> np.ndarray:
        return np.concatenate([part.find_damaged(report) for part in self._parts])

    def _read(
        self, indices: np.ndarray, read: Callable[[Rows, np.ndarray], Iterable[np.ndarray]]
    ) -> np.ndarray | list[np.ndarray]:
        indices = np.asarray(indices, np.int64)
        count = len(self._parts[0])
        samples: list[np.ndarray | None] = [None] * len(indices)
        for part, begin in zip(self._parts, (0, count), strict=True):
            places = np.flatnonzero((indices >= count) == bool(begin))
            if not len(places):
                continue
            for place, sample in zip(places, read(part, indices[places] - begin), strict=True):
                samples[place] = colored(sample[None], self._color)[0] if self.is_image else sample
        done = [sample for sample in samples if sample is not None]
        alike = len({(sample.shape, sample.dtype) for sample in done}) == 1
        return np.stack(done) if alike else done

    def where(self, index: int) -> str:
        count = len(self._parts[0])
        return self._parts[0].where(index) if index < count else self._parts[1].where(index - count)


def labels_by_name(rows: Rows, classes: Sequence[str], wanted: Sequence[str]) -> np.ndarray:
    """The labels of ``rows``, whose classes are ``classes``, as numbers of the classes ``wanted``.

    Raises:
        DataError: a class that has samples is not among them.
    """
    number = {name: place for place, name in enumerate(wanted)}
    unknown = [
        classes[label] for label in np.unique(rows.labels[rows.labels >= 0]) if classes[label] not in number
    ]
    if unknown:
        raise DataError(
            f"extra_data: it has a class that the data does not have: {unknown[0]!r}; the classes are "
            f"{', '.join(wanted[:12])}"
        )
    table = np.asarray([number.get(name, NO_LABEL) for name in classes] + [NO_LABEL], np.int64)
    return np.asarray(table[rows.labels])
