"""Opens the data that a name or a path stands for: what lies there decides which kind of source it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.training.sources.array_names import find_arrays
from engine.training.sources.labels import number_labels
from engine.training.sources.options import DataOptions
from engine.training.sources.rows import ArrayTable, FunctionRows, Rows, Table, TableRows

BUILT_IN = ("digits", "mnist", "fashion-mnist")
HDF5 = (".h5", ".hdf5", ".hdf", ".he5")
CSV = (".csv", ".tsv", ".txt")
WHAT = "a folder with IDX files, a folder of images, or an NPZ, HDF5 or CSV file"


@dataclass(frozen=True)
class Source:
    """Samples as they lie there.

    ``kind`` is digits, mnist, fashion-mnist, idx, images, npz, hdf5 or csv; ``test`` is None where the source
    has one split only; ``columns`` names the inputs of a table.
    """

    name: str
    kind: str
    train: Rows
    test: Rows | None
    classes: tuple[str, ...]
    columns: tuple[str, ...] = ()


def kind_of(name: str) -> str:
    """What lies at a name or path, from its name, or from what a folder holds.

    Raises:
        ArgumentError: nothing that can be read. DataError: the folder can't be read.
    """
    if name in BUILT_IN:
        return name
    path = Path(name).expanduser()
    if path.is_dir():
        from engine.training.sources.image_folder import has_images
        from engine.vision.datasets.locate import find_pair

        if find_pair([path], "train") is not None or find_pair([path], "test") is not None:
            return "idx"
        if has_images(path):
            return "images"
        raise ArgumentError(
            f"data: nothing to learn from in this folder: {path}; it needs IDX files such as "
            "train-images-idx3-ubyte, or a sub-folder with images for each class"
        )
    suffix = path.suffix.lower()
    for kind, suffixes in (("npz", (".npz",)), ("hdf5", HDF5), ("csv", CSV)):
        if suffix in suffixes and path.is_file():
            return kind
    there = "no such file type" if path.exists() else "no such data"
    raise ArgumentError(f"data: {there}: got {name!r}; choose {', '.join(BUILT_IN)}, or the path of {WHAT}")


def open_source(name: str, options: DataOptions | None = None) -> Source:
    """The samples called ``name``, or at that path.

    Raises:
        ArgumentError: no such data. DataError, FormatError: it can't be read; says why, and what to do.
    """
    kind = kind_of(name)
    opened: dict[str, Callable[[str, str, DataOptions], Source]] = {
        "idx": _grey,
        "images": _images,
        "npz": _npz,
        "hdf5": _hdf5,
        "csv": _csv,
    }
    return opened.get(kind, _grey)(name, kind, options or DataOptions())


def _grey(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.built_in import grey_splits, names_of_classes

    splits = grey_splits(name, kind)
    classes = names_of_classes(*splits)
    rows = []
    for split in splits:
        first = split._pixels(np.zeros(1, np.int64))
        where = f"{kind if kind != 'idx' else Path(name).name} {split.mode}"
        rows.append(FunctionRows(split._pixels, split.labels, (*first.shape[1:], 1), where))
    return Source(name, kind, rows[0], rows[1], classes)


def _images(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.image_folder import open_image_folder

    train, test, classes = open_image_folder(Path(name).expanduser(), options.color, options.resize)
    return Source(name, kind, train, test, classes)


def _npz(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.npz import NpzFile

    file = NpzFile(Path(name).expanduser())
    shapes = {key: member.shape for key, member in file.members.items()}
    found = find_arrays(name, shapes, options.input_name, options.label_name)
    splits = [found.train, *([found.test] if found.test else [])]
    pairs: list[tuple[str, Table, np.ndarray]] = [
        (inputs, ArrayTable(file.array(inputs)), file.array(labels)) for inputs, labels in splits
    ]
    return _of_tables(name, kind, pairs)


def _hdf5(name: str, kind: str, options: DataOptions) -> Source:
    from engine.files.hdf5_layout import Hdf5Table, open_hdf5

    datasets = open_hdf5(Path(name).expanduser())
    usable = {key: item for key, item in datasets.items() if isinstance(item, Hdf5Table)}
    for wanted in (options.input_name, options.label_name):
        if isinstance(datasets.get(wanted), str):
            raise DataError(f"{name}: {wanted} can't be read: {datasets[wanted]}; choose another")
    if not usable:
        said = "; ".join(f"{key}: {why}" for key, why in list(datasets.items())[:5]) or "there is none"
        raise DataError(f"{name}: no dataset in it can be read: {said}; save inputs and labels as numbers")
    shapes = {key: item.shape for key, item in usable.items()}
    found = find_arrays(name, shapes, options.input_name, options.label_name)
    splits = [found.train, *([found.test] if found.test else [])]
    return _of_tables(
        name, kind, [(inputs, usable[inputs], usable[labels].whole()) for inputs, labels in splits]
    )


def _of_tables(name: str, kind: str, pairs: list[tuple[str, Table, np.ndarray]]) -> Source:
    labels, classes = number_labels(name, *(given for _, _, given in pairs))
    rows = [
        TableRows(table, numbers, f"{Path(name).name} {inputs}")
        for (inputs, table, _), numbers in zip(pairs, labels, strict=True)
    ]
    return Source(name, kind, rows[0], rows[1] if len(rows) > 1 else None, classes)


def _csv(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.csv_table import CsvFile

    file = CsvFile(Path(name).expanduser(), options.label_name)
    (labels,), classes = number_labels(name, file.labels)
    columns = tuple(file.columns.names[column] for column in file.columns.inputs)
    return Source(name, kind, TableRows(file, labels, Path(name).name), None, classes, columns)
