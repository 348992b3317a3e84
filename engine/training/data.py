"""Data by name or path, as a training and a test split that a DataLoader reads."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.core.errors import DataError
from engine.training.resolve import with_kind
from engine.training.sources.built_in import fetch_data
from engine.training.sources.images.cache import Report
from engine.training.sources.images.vary import Vary
from engine.training.sources.opening import BUILT_IN, Source, kind_of, open_source
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import Prepare, preparation
from engine.training.sources.preparing.prepared import Prepared, first_of
from engine.training.sources.spec import DataSpec
from engine.training.sources.splits.division import divide, require_classes

if TYPE_CHECKING:
    from engine.training.config import TrainingConfig

__all__ = ["BUILT_IN", "DataSplits", "fetch_data", "load_data", "read_images", "splits_of"]

_REPORTED = 0.5  # seconds


@dataclass(frozen=True)
class DataSplits:
    """A training and a test split: each item is (float32 of ``shape``, label int64 [1]), or its target is
    float32 [k], scaled, where numbers are to be predicted.

    Images are [C, H, W], from 0 to 1 unless they are normalised; a row of a table is a vector, a sequence
    [steps, values]. ``spec`` says what the data is. Where there is a ``validation`` split, the best
    checkpoint is chosen on it, else on the test split. ``skipped`` names the images that can't be read, which
    are in no split, as are the ``unlabelled`` samples.
    """

    name: str
    train: Prepared
    test: Prepared
    classes: tuple[str, ...]
    shape: tuple[int, ...]
    prepare: Prepare
    spec: DataSpec
    validation: Prepared | None = None
    skipped: tuple[str, ...] = ()
    unlabelled: int = 0

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


def splits_of(
    source: Source, samples: int, options: DataOptions, surveyed: bool = False, report: Report | None = None
) -> DataSplits:
    """The splits of a source that is open.

    Image files are decoded once, unless they have been before: the damaged ones are in no split.

    Args:
        surveyed: they are only looked at, so that what stops a training is not refused.
        report: is given how many of how many image files were read.

    Raises:
        DataError: as ``load_data``. SizesDiffer: images of several sizes, and no ``resize``. DamagedImages:
            more of them can't be read than may be.
    """
    if source.kind == "images" and not surveyed:
        from engine.training.sources.images.sizes import require_one_size

        require_classes(source, options)
        if not options.resize:
            require_one_size(source)
    division = divide(source, options)
    if not surveyed:
        division = division.sound(options.damaged_share, report)
    elif options.normalize == "statistics":
        division = division.readable()
    rows, test_rows, chosen = division.rows, division.test_rows, division.train
    prepare = preparation(rows, division.measured, options, source.spec)
    shape, measured = prepare.shape(rows.shape), prepare.shape(test_rows.shape)
    if shape != measured and not (surveyed and rows.is_image):
        raise DataError(
            f"data: the test samples have another shape than the training samples: {list(measured)} against "
            f"{list(shape)} in {Path(source.name).name}; give test files of the same size, or choose Resize "
            "(resize) for images"
        )
    vary = Vary.of(options) if options.varies and rows.is_image else None
    training = first_of(Prepared(rows, chosen, source.classes, prepare, vary), samples)
    spec = replace(
        source.spec.filled(prepare.fill), shape=shape, samples=len(training), feeds=training.feeds()
    )
    return DataSplits(
        source.name,
        training,
        Prepared(test_rows, division.test, source.classes, prepare),
        source.classes,
        shape,
        prepare,
        spec,
        Prepared(rows, division.validation, source.classes, prepare) if len(division.validation) else None,
        division.skipped,
        source.unlabelled_count,
    )


def read_images(
    config: TrainingConfig, report: Callable[[str], None], check: Callable[[], None] = lambda: None
) -> None:
    """Decode the image files of a training, so that ``load_data`` finds them decoded; no other data is read.

    Args:
        report: receives the progress, twice a second at most.
        check: called after every few images; an error that it raises ends the reading.

    Raises:
        ArgumentError, DataError: no such data.
    """
    name, options = config.data, DataOptions.of(with_kind(config))
    if not Path(name).expanduser().is_dir() or kind_of(name) != "images":
        return
    from engine.training.sources.images.sizes import image_sizes

    source = open_source(name, options)
    found = None if options.resize else image_sizes(source)
    if found is not None and found.distinct > 1:
        return  # which load_data refuses
    last = time.monotonic()

    def progress(done: int, total: int) -> None:
        nonlocal last
        check()
        if time.monotonic() - last >= _REPORTED:
            last = time.monotonic()
            report(f"Reading images: {done:,} of {total:,}")

    for rows in filter(None, (source.train, source.test)):
        rows.find_damaged(progress)
