"""Data by name or path, as a training and a test split that a DataLoader reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from engine.training.sources.split import shuffled, stratified
from engine.training.sources.vary import Vary

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


def splits_of(source: Source, samples: int, options: DataOptions) -> DataSplits:
    """The splits of a source that is open. Raises DataError as ``load_data``."""
    train_rows, test_rows = source.train, source.test
    if test_rows is None:
        test_rows = train_rows
        chosen, tested = stratified(
            train_rows.labels, options.test_share, options.split_seed, f"data {source.name}"
        )
    else:
        chosen, tested = (np.flatnonzero(rows.labels >= 0) for rows in (train_rows, test_rows))
        if source.kind == "images":  # they lie there class by class
            chosen = shuffled(chosen, options.split_seed)
        for split, rows in (("training", chosen), ("test", tested)):
            if not len(rows):
                raise DataError(
                    f"data {source.name}: the {split} split has no sample with a label; give some"
                )
    if options.extra_data:
        train_rows, chosen = _with_more(train_rows, chosen, source, options)
    prepare = preparation(train_rows, chosen, options, source.spec)
    shape, measured = prepare.shape(train_rows.shape), prepare.shape(test_rows.shape)
    if shape != measured:
        raise DataError(
            f"data: the test samples have another shape than the training samples: {list(measured)} against "
            f"{list(shape)} in {Path(source.name).name}; give test files of the same size, or choose Resize "
            "(resize) for images"
        )
    vary = Vary.of(options) if options.varies and train_rows.is_image else None
    train = first_of(Prepared(train_rows, chosen, source.classes, prepare, vary), samples)
    test = Prepared(test_rows, tested, source.classes, prepare)
    spec = replace(source.spec.filled(prepare.fill), shape=shape, samples=len(train))
    return DataSplits(source.name, train, test, source.classes, shape, prepare, spec)


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
