"""How the samples of a source are divided into splits, and which images are in none: the damaged ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.images.cache import Report
from engine.training.sources.images.folder import ImageRows
from engine.training.sources.opening import Source, open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import MEASURED
from engine.training.sources.rows import Rows
from engine.training.sources.splits.joined import JoinedRows, labels_by_name
from engine.training.sources.splits.split import divided, group_column, only, shuffled
from resources.settings.data import STORED

_NAMED = 5


class DamagedImages(DataError):
    """More images can't be read than may be; ``names`` are all of them."""

    def __init__(self, message: str, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = tuple(names)


@dataclass(frozen=True)
class Division:
    """Rows, and the numbers of those for training, validation and test. ``measured`` are the training rows
    from which mean and deviation are taken, ``skipped`` the names of images in no split."""

    name: str
    rows: Rows
    test_rows: Rows
    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray
    measured: np.ndarray
    skipped: tuple[str, ...] = ()

    def sound(self, share: float, report: Report | None = None) -> Division:
        """The same without damaged images.

        Images are divided before: repairing one, or a new damage, moves no other image to another split.

        Args:
            share: of all images that may be damaged; the limit is rounded up.

        Raises:
            DamagedImages: more are.
        """
        damaged, tested = self.rows.find_damaged(report), self.test_rows.find_damaged(report)
        if not damaged.any() and not tested.any():
            return self
        parts = [(self.rows, each, damaged) for each in (self.train, self.validation)]
        parts.append((self.test_rows, self.test, tested))
        names = [rows.where(int(row)) for rows, chosen, bad in parts for row in np.sort(chosen[bad[chosen]])]
        total = len(self.train) + len(self.validation) + len(self.test)
        shown = ", ".join(names[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
        if len(names) > math.ceil(share * total):
            raise DamagedImages(
                f"data {self.name}: {len(names)} of {total} images can't be read, over {share:.3g} of them: "
                f"{shown}; replace or remove them, or raise Damaged (damaged_share)",
                names,
            )
        train, validation, test = (chosen[~bad[chosen]] for _, chosen, bad in parts)
        for split, chosen in (("training", train), ("test", test)):
            if not len(chosen):
                raise DataError(
                    f"data {self.name}: no image for the {split} can be read: {shown}; replace them"
                )
        return replace(
            self, train=train, validation=validation, test=test, measured=train, skipped=tuple(names)
        )

    def readable(self) -> Division:
        """The same, where only images that can be read are measured; the others stay in their split.

        Raises:
            DataError: none can be read.
        """
        if not isinstance(self.rows, ImageRows):
            return self
        measured = self.measured[:MEASURED]
        return replace(self, measured=self.rows.readable(measured))


def divide(source: Source, options: DataOptions) -> Division:
    """The splits that ``options`` ask for. Raises ArgumentError, DataError."""
    rows, where = source.train, f"data {source.name}"
    column, groups, is_folder = group_column(options.split), None, source.kind == "images"
    if column and source.groups is None:
        raise DataError(
            f"{where}: split: only tables and files with arrays have groups: got {options.split!r}; choose "
            "random or order"
        )
    if column and source.groups is not None:
        groups = source.groups(column)
        if len(groups) != len(rows):
            raise DataError(
                f"{where}: split: {column} has {len(groups)} values for {len(rows)} samples; choose another"
            )
    parts = partial(
        divided, seed=options.split_seed, where=where, how=options.split, groups=groups, by_class=is_folder
    )
    test_rows = rows
    if source.test is None:
        train, test = parts(rows.labels, options.test_share)
    else:
        test_rows = source.test
        train, test = (np.flatnonzero(each.labels >= 0) for each in (rows, test_rows))
        if is_folder:  # they are stored class by class
            train = shuffled(train, options.split_seed)
        for split, chosen in (("training", train), ("test", test)):
            if not len(chosen):
                raise DataError(f"{where}: the {split} split has no sample with a label; give some")
    validation = np.zeros(0, np.int64)
    if options.validation_share:
        train, validation = parts(only(rows.labels, train), options.validation_share)
    if options.extra_data:
        rows, train = _with_more(rows, train, source, options)
    return Division(source.name, rows, test_rows, train, validation, test, train)


def require_classes(source: Source, options: DataOptions) -> None:
    """Refuse a folder of images with a single class, from which nothing can be learned. Raises DataError."""
    labels = [each.labels for each in (source.train, source.test) if each is not None]
    found = np.unique(np.concatenate(labels))
    if len(found) < 2 and options.kind != STORED:
        remedy = "put the images of each class into a folder with its name"
        if source.label_file:
            remedy = f"label images of a second class in {source.label_file}"
        raise DataError(
            f"data {source.name}: only one class has images: {source.classes[int(found[0])]!r}, "
            f"{sum(map(len, labels))} of them; a model needs at least two: {remedy}"
        )


def _with_more(
    rows: Rows, chosen: np.ndarray, source: Source, options: DataOptions
) -> tuple[Rows, np.ndarray]:
    """The rows with those of ``options.extra_data`` behind them, all of which are for the training."""
    if rows.others:
        raise DataError(
            "extra_data: samples with several inputs can't be added to: leave Extra data empty, or append "
            "the samples to the arrays of the data"
        )
    more = open_source(options.extra_data, options)
    for each in filter(None, (more.train, more.test)):
        if [column.name for column in more.spec.inputs] != [column.name for column in source.spec.inputs] or [
            column.words for column in more.spec.inputs
        ] != [column.words for column in source.spec.inputs]:
            raise DataError(
                f"extra_data: {options.extra_data} has other columns or words than the data; give the same "
                "columns with the same words, or append its rows to the data"
            )
        labels = each.labels
        if each.targets is None:
            labels = labels_by_name(each, more.classes, source.classes)
        begin = len(rows)
        rows = JoinedRows(rows, each, labels, bool(options.resize))
        chosen = np.concatenate([chosen, begin + np.flatnonzero(labels >= 0)])
    return rows, shuffled(chosen, options.split_seed)
