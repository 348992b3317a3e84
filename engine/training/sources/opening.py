"""Opens the data that a name or a path stands for: what lies there decides which kind of source it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.files.content import CONTAINER, content_of
from engine.training.sources.array_names import FoundArrays, find_arrays, find_lengths
from engine.training.sources.options import DataOptions
from engine.training.sources.rows import FunctionRows, Rows, Table, TableRows
from engine.training.sources.sequences import MaskedSequences
from engine.training.sources.several_inputs import input_names
from engine.training.sources.spec import DataSpec
from engine.training.sources.targets import read_answers
from resources.settings.data import STORED

BUILT_IN = ("digits", "mnist", "fashion-mnist")
HDF5 = (".h5", ".hdf5", ".hdf", ".he5")
CSV = (".csv", ".tsv", ".txt")
WHAT = "a folder with IDX files, a folder of images, or an NPZ, HDF5 or CSV file"


@dataclass(frozen=True)
class Source:
    """Samples as they lie there.

    ``kind`` is digits, mnist, fashion-mnist, idx, images, npz, hdf5 or csv; ``test`` is None where the source
    has one split only; ``columns`` names the inputs of a table. ``label_file`` has the labels of images,
    where class folders don't; ``unlabelled`` names the images without one, which are in no split.
    """

    name: str
    kind: str
    train: Rows
    test: Rows | None
    classes: tuple[str, ...]
    spec: DataSpec
    columns: tuple[str, ...] = ()
    groups: Callable[[str], np.ndarray] | None = None
    label_file: str = ""
    unlabelled: tuple[str, ...] = ()

    @property
    def unlabelled_count(self) -> int:
        """How many samples have no label, and are in no split."""
        rows = [self.train, *([self.test] if self.test is not None else [])]
        return len(self.unlabelled) + sum(int((each.labels < 0).sum()) for each in rows)


def kind_of(name: str) -> str:
    """What lies at a name or path, from its name, or from what a folder holds.

    Raises:
        ArgumentError: nothing that can be read. DataError: the folder can't be read.
    """
    if name in BUILT_IN:
        return name
    path = Path(name).expanduser()
    if path.is_dir():
        from engine.training.sources.images.folder import has_images, images_in
        from engine.training.sources.images.labels import UnlabelledImages, label_file, unlabelled_message
        from engine.vision.datasets.locate import find_pair

        if find_pair([path], "train") is not None or find_pair([path], "test") is not None:
            return "idx"
        if has_images(path):
            return "images"
        if files := images_in(path):
            if label_file(path) is not None:
                return "images"
            raise UnlabelledImages(unlabelled_message(path, len(files), None), files)
        raise ArgumentError(
            f"data: nothing to learn from in this folder: {path}; it needs IDX files such as "
            "train-images-idx3-ubyte, a sub-folder with images for each class, or images with labels.csv"
        )
    suffix = path.suffix.lower()
    for kind, suffixes in (("npz", (".npz",)), ("hdf5", HDF5), ("csv", CSV)):
        if suffix in suffixes and path.exists():
            if kind == "hdf5" and content_of(path) == CONTAINER:
                raise ArgumentError(
                    f"data: a file that Model Studio wrote, such as a model or checkpoint, is not data: got "
                    f"{name!r}; choose {WHAT}"
                )
            return kind
    choose = f"choose {', '.join(BUILT_IN)}, or the path of {WHAT}"
    if path.exists():
        raise ArgumentError(f"data: no such file type: got {name!r}; {choose}")
    raise ArgumentError(f"data: no such data: got {name!r}; {choose}")


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
    return Source(name, kind, rows[0], rows[1], classes, _of_images(name, rows[0], classes, options))


def _images(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.images.folder import (
        has_images,
        labelled_by,
        open_image_folder,
        open_labelled_images,
    )
    from engine.training.sources.images.labels import refuse_both

    folder = Path(name).expanduser()
    table = labelled_by(folder)
    if table is None and has_images(folder):
        refuse_both(folder)
        train, test, classes = open_image_folder(folder, options)
        return Source(name, kind, train, test, classes, _of_images(name, train, classes, options))
    train, classes, unlabelled = open_labelled_images(folder, options)
    spec = _of_images(name, train, classes, options)
    where = "" if table is None else table.name if table.parent == folder else str(table)
    return Source(name, kind, train, None, classes, spec, unlabelled=unlabelled, label_file=where)


def _of_images(name: str, rows: Rows, classes: tuple[str, ...], options: DataOptions) -> DataSpec:
    """What images with classes are. Raises DataError: another kind or task is asked for."""
    for setting, wanted, fitting in (
        ("kind", options.kind, ("auto", "images", STORED)),
        ("task", options.task, ("auto", "classes")),
    ):
        if wanted not in fitting:
            raise DataError(
                f"data {name}: the samples are images with classes: {setting} {wanted} does not fit; choose "
                f"{setting} {' or '.join(fitting[:2])}"
            )
    return DataSpec(
        "images", "classes", rows.shape, classes, kind_reason="image files", task_reason="they have classes"
    )


def _npz(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.npz import NpzFile

    file = NpzFile(Path(name).expanduser())
    shapes = {key: member.shape for key, member in file.members.items()}
    return _of_arrays(name, kind, shapes, file.table, file.array, options)


def _hdf5(name: str, kind: str, options: DataOptions) -> Source:
    from engine.files.untrusted.hdf5_layout import Hdf5Table, open_hdf5

    datasets = open_hdf5(Path(name).expanduser())
    usable = {key: item for key, item in datasets.items() if isinstance(item, Hdf5Table)}
    for wanted in (options.input_name, options.label_name):
        if isinstance(datasets.get(wanted), str):
            raise DataError(f"{name}: {wanted} can't be read: {datasets[wanted]}; choose another")
    if not usable:
        said = "; ".join(f"{key}: {why}" for key, why in list(datasets.items())[:5]) or "there is none"
        raise DataError(f"{name}: no dataset in it can be read: {said}; save inputs and labels as numbers")
    shapes = {key: item.shape for key, item in usable.items()}
    return _of_arrays(name, kind, shapes, lambda key: usable[key], lambda key: usable[key].whole(), options)


def _of_arrays(
    name: str,
    kind: str,
    shapes: Mapping[str, tuple[int, ...]],
    table_of: Callable[[str], Table],
    array_of: Callable[[str], np.ndarray],
    options: DataOptions,
) -> Source:
    """The samples of a file with arrays of these shapes. Raises DataError: they can't be samples."""
    several = [part.strip() for part in options.label_name.split(",")]
    chosen = several if len(several) > 1 and options.label_name not in shapes else [options.label_name]
    first, *further = input_names(options.input_name, shapes)
    pairs = [find_arrays(name, shapes, first, each) for each in chosen]
    found, splits = pairs[0], 2 if all(each.test for each in pairs) else 1
    inputs = [found.train[0], *([found.test[0]] if found.test is not None and splits > 1 else [])]
    given = [_joined_columns(name, [array_of(each.train[1]) for each in pairs])]
    if splits > 1:
        given.append(_joined_columns(name, [array_of(each.test[1]) for each in pairs if each.test]))
    names = [each.train[1] for each in pairs]
    answers = read_answers(name, given, options.task, names, varied=options.kind != STORED)
    lengths = find_lengths(shapes, found) if options.kind != STORED else (None, None)
    tables = [table_of(each) for each in inputs]
    masked = lengths[0] is not None
    if masked:
        tables = [
            _with_lengths(name, table, key, array_of) for table, key in zip(tables, lengths, strict=False)
        ]
        longest = max(int(table.shape[1]) for table in tables)
        tables = [table.widened(longest) for table in tables if isinstance(table, MaskedSequences)]
    rows = [
        TableRows(
            table,
            answers.labels[split],
            f"{Path(name).name} {inputs[split]}",
            options.kind,
            answers.targets_of(split),
            masked,
            first,
            bool(further),
        )
        for split, table in enumerate(tables)
    ]
    others = [find_arrays(name, shapes, each, chosen[0]) for each in further]
    for split, one in enumerate(rows):
        one.others = tuple(
            TableRows(
                table_of(key),
                one.labels,
                f"{Path(name).name} {key}",
                STORED,
                array=array,
                several=True,
            )
            for array, key in zip(further, [_of_split(name, each, split) for each in others], strict=True)
        )
    form = rows[0].form
    spec = DataSpec(
        form.kind,
        answers.task,
        rows[0].shape,
        answers.classes,
        answers.names,
        masked=masked,
        kind_reason=form.reason,
        task_reason=answers.reason,
    )

    def groups(key: str) -> np.ndarray:
        if key not in shapes:
            raise DataError(f"{name}: there is no array {key!r} of groups: {', '.join(shapes)}; choose one")
        return np.asarray(np.unique(array_of(key).reshape(-1), return_inverse=True)[1], np.int64)

    return Source(
        name, kind, rows[0], rows[1] if len(rows) > 1 else None, answers.classes, spec, groups=groups
    )


def _of_split(name: str, found: FoundArrays, split: int) -> str:
    """The array of the inputs of a split. Raises DataError: only the training samples have one."""
    if split == 0:
        return found.train[0]
    if found.test is None:
        raise DataError(
            f"{name}: {found.train[0]} has no array for the test samples, which other inputs have; add it"
        )
    return found.test[0]


def _joined_columns(name: str, arrays: list[np.ndarray]) -> np.ndarray:
    """Several arrays of targets as the columns of one."""
    if len(arrays) == 1:
        return arrays[0]
    if len({len(array) for array in arrays}) > 1 or any(array.dtype.kind not in "buif" for array in arrays):
        seen = ", ".join(f"{array.dtype} {list(array.shape)}" for array in arrays)
        raise DataError(f"{name}: several targets must be numbers of the same samples: {seen}; choose others")
    return np.concatenate([array.reshape(len(array), -1) for array in arrays], axis=1)


def _with_lengths(
    name: str, table: Table, key: str | None, array_of: Callable[[str], np.ndarray]
) -> MaskedSequences:
    if key is None:
        raise DataError(f"{name}: only the training sequences have lengths; add lengths_test")
    return MaskedSequences(table, array_of(key), f"{Path(name).name} {key}")


def _csv(name: str, kind: str, options: DataOptions) -> Source:
    from engine.training.sources.tables.table import open_csv

    table = open_csv(Path(name).expanduser(), options)
    answers, rows = table.answers, table.rows
    names = tuple(column.name for column in table.columns if column.role == "input")
    spec = DataSpec(
        rows.form.kind,
        answers.task,
        rows.shape,
        answers.classes,
        answers.names,
        () if options.kind == STORED else table.columns,
        kind_reason=rows.form.reason,
        task_reason=answers.reason,
    )
    return Source(name, kind, rows, None, answers.classes, spec, names, table.groups)
