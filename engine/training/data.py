"""Data by name or path, as a training and a test split that a DataLoader reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.built_in import fetch_data
from engine.training.sources.joined import JoinedRows, labels_by_name
from engine.training.sources.opening import BUILT_IN, Source, open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.prepare import Prepare, preparation
from engine.training.sources.prepared import Prepared, first_of
from engine.training.sources.rows import Rows
from engine.training.sources.spec import DataSpec
from engine.training.sources.split import divided, group_column, only, shuffled
from engine.training.sources.vary import Vary
from resources.settings.data import STORED

__all__ = ["BUILT_IN", "DataSplits", "fetch_data", "load_data", "splits_of"]


@dataclass(frozen=True)
class DataSplits:
    """A training and a test split: each item is (float32 of ``shape``, label int64 [1]), or its target is
    float32 [k], scaled, where numbers are to be predicted.

    Images are [C, H, W], from 0 to 1 unless they are normalised; a row of a table is a vector, a sequence
    [steps, values]. ``spec`` says what the data is. Where there is a ``validation`` split, the best
    checkpoint is chosen on it, else on the test split.
    """

    name: str
    train: Prepared
    test: Prepared
    classes: tuple[str, ...]
    shape: tuple[int, ...]
    prepare: Prepare
    spec: DataSpec
    validation: Prepared | None = None

    @property
    def measured(self) -> Prepared:
        """The split that is measured after each epoch."""
        return self.test if self.validation is None else self.validation


def load_data(name: str, samples: int = 0, options: DataOptions | None = None) -> DataSplits:
    """The splits called ``name``; images are fed as they are, 0 to 1, unless ``options`` say otherwise.

    Args:
        name: ``digits``, ``mnist``, ``fashion-mnist``, or the path of a folder with IDX files, a folder of
            images, or an NPZ, HDF5 or CSV file.
        samples: take only the first so many training samples; 0 takes all.

    Raises:
        ArgumentError: no such data.
        DataError: it is absent or not what it claims to be, or the splits' samples differ in shape.
    """
    options = options or DataOptions()
    return splits_of(open_source(name, options), samples, options)


def splits_of(source: Source, samples: int, options: DataOptions, surveyed: bool = False) -> DataSplits:
    """The splits of a source that is open.

    Args:
        surveyed: they are only looked at, so that what stops a training is not refused.

    Raises:
        DataError: as ``load_data``. SizesDiffer: images of several sizes, and no ``resize``.
    """
    if source.kind == "images" and not surveyed:
        from engine.training.sources.image_sizes import require_one_size

        require_classes(source, options)
        if not options.resize:
            require_one_size(source)
    rows, test_rows, train, validation, test = _divided(source, options)
    chosen = train
    if options.extra_data:
        rows, chosen = _with_more(rows, chosen, source, options)
    prepare = preparation(rows, chosen, options, source.spec)
    shape, measured = prepare.shape(rows.shape), prepare.shape(test_rows.shape)
    if shape != measured:
        raise DataError(
            f"data: the test samples have another shape than the training samples: {list(measured)} against "
            f"{list(shape)} in {Path(source.name).name}; give test files of the same size, or choose Resize "
            "(resize) for images"
        )
    vary = Vary.of(options) if options.varies and rows.is_image else None
    training = first_of(Prepared(rows, chosen, source.classes, prepare, vary), samples)
    spec = replace(source.spec.filled(prepare.fill), shape=shape, samples=len(training))
    return DataSplits(
        source.name,
        training,
        Prepared(test_rows, test, source.classes, prepare),
        source.classes,
        shape,
        prepare,
        spec,
        Prepared(source.train, validation, source.classes, prepare) if len(validation) else None,
    )


def _divided(source: Source, options: DataOptions) -> tuple[Rows, Rows, np.ndarray, np.ndarray, np.ndarray]:
    """The rows for training and those for the test; which are for training, validation and test."""
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
    divide = partial(
        divided, seed=options.split_seed, where=where, how=options.split, groups=groups, by_class=is_folder
    )
    test_rows = rows
    if source.test is None:
        train, test = divide(rows.labels, options.test_share)
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
        train, validation = divide(only(rows.labels, train), options.validation_share)
    return rows, test_rows, train, validation, test


def require_classes(source: Source, options: DataOptions) -> None:
    """Refuse a folder of images with a single class, from which nothing can be learned. Raises DataError."""
    labels = [each.labels for each in (source.train, source.test) if each is not None]
    found = np.unique(np.concatenate(labels))
    if len(found) < 2 and options.kind != STORED:
        raise DataError(
            f"data {source.name}: only one class has images: {source.classes[int(found[0])]!r}, "
            f"{sum(map(len, labels))} of them; a model tells at least two apart: put the images of each "
            "class into a folder with its name"
        )


def _with_more(
    rows: Rows, chosen: np.ndarray, source: Source, options: DataOptions
) -> tuple[Rows, np.ndarray]:
    """The rows with those of ``options.extra_data`` behind them, all of which are for the training."""
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
