"""Labels of a folder of images without class folders: ``labels.csv`` there, with a row for each image.

Labels of a folder that can't be written are stored among the user's data, and found there again.
A file that names an image in a sub-folder, as ``spring/1.png``, gives the classes of all images below the
folder. ``metadata.csv`` counts as well where it has both columns, as in Hugging Face's image folders. Other
columns are kept as they are.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from engine.core.errors import ArgumentError, DataError
from engine.files.atomic import atomic_write, make_folder
from engine.files.reading import read_error
from engine.training.sources.images.class_names import (
    CLASSES_FILE,
    class_list,
    folder_of_class,
    read_class_names,
)
from resources.regular_files import is_plain_file, open_regular
from resources.user_folders import user_folder

LABELS_FILE, METADATA_FILE = "labels.csv", "metadata.csv"
FILE_COLUMNS = ("file_name", "file", "filename", "image")
LABEL_COLUMNS = ("label", "class")
MOST_BYTES = 64_000_000
_SEPARATORS = (",", ";", "\t")
_BOM = b"\xef\xbb\xbf"
_NAMED = 9


class UnlabelledImages(ArgumentError):
    """A folder of images that nothing gives classes; ``files`` are their names."""

    def __init__(self, message: str, files: Iterable[str]) -> None:
        super().__init__(message)
        self.files = tuple(files)


@dataclass(frozen=True)
class LabelTable:
    """A table of labels: its header, its rows by the name of the file, and the columns of file and label."""

    path: Path
    header: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]
    file: int
    label: int
    separator: str = ","

    @classmethod
    def empty(cls, folder: Path) -> LabelTable:
        """What ``labels.csv`` is before the first label; elsewhere where the folder can't be written."""
        path = folder / LABELS_FILE if os.access(folder, os.W_OK) else stored_labels(folder)
        return cls(path, (FILE_COLUMNS[0], LABEL_COLUMNS[0]), {}, 0, 1)

    @property
    def labels(self) -> dict[str, str]:
        """The label of each file that has one."""
        return {name: row[self.label] for name, row in self.rows.items() if row[self.label]}

    def changed(self, labels: Mapping[str, str]) -> LabelTable:
        """The table with other labels for these files; an empty one removes the label."""
        rows = dict(self.rows)
        for name, label in labels.items():
            row = list(rows.get(name, [""] * len(self.header)))
            row[self.file], row[self.label] = name, label
            if label or len(row) > 2:
                rows[name] = tuple(row)
            else:
                rows.pop(name, None)
        return replace(self, rows=rows)

    def write(self) -> None:
        """Write the file, whole or not at all; where ``classes.txt`` has the order of the classes, new ones
        are
        appended there first. Raises DataError, SaveError."""
        folder = self.path.parent
        _refuse_link(self.path)
        known = read_class_names(folder)
        more = [label for label in dict.fromkeys(self.labels.values()) if label not in set(known)]
        if known and more:
            _refuse_link(folder / CLASSES_FILE)
            atomic_write(folder / CLASSES_FILE, lambda file: file.write(class_list([*known, *more])))
        text = io.StringIO()
        writer = csv.writer(text, delimiter=self.separator, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows(self.rows.values())
        try:
            data = text.getvalue().encode()
        except UnicodeEncodeError as error:
            name = ascii(error.object[error.start : error.end])
            raise DataError(
                f"{self.path}: a file name that is not UTF-8: {name}; rename this image"
            ) from None
        make_folder(folder)
        atomic_write(self.path, lambda file: file.write(data))


def stored_labels(folder: Path) -> Path:
    """The file among the user's data with labels of a folder that can't be written; it may not exist."""
    where = folder.resolve()
    name = "".join(each for each in where.name if each.isascii() and each.isalnum())[:40]
    digest = hashlib.sha256(os.fsencode(where)).hexdigest()[:16]
    return user_folder("data") / "labels" / f"{name or 'images'}-{digest}" / LABELS_FILE


def label_file(folder: Path) -> Path | None:
    """The file with the labels of the images in ``folder``, there or among the user's data; None where there
    is
    none."""
    if (folder / LABELS_FILE).exists():
        return folder / LABELS_FILE
    other, stored = folder / METADATA_FILE, stored_labels(folder)
    if is_plain_file(other) and has_both_columns(other):
        return other
    return stored if is_plain_file(stored) else None


def has_both_columns(path: Path) -> bool:
    """Whether the first line of a file names a column of files and one of labels."""
    try:
        with open_regular(path) as file:
            line = file.readline(1 << 16).removeprefix(_BOM).decode("utf-8", "replace")
        header = _names(next(csv.reader([line], delimiter=_separator(line)), []))
    except (OSError, csv.Error):
        return False
    return None not in (_place(header, FILE_COLUMNS), _place(header, LABEL_COLUMNS))


def names_folders(path: Path) -> bool:
    """Whether a table of labels names an image in a sub-folder; False for what is not such a table."""
    if not is_plain_file(path) or not has_both_columns(path):
        return False
    try:
        text = _text(path)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_separator(text.partition("\n")[0]))
        file, _ = _columns(path, tuple(next(reader, [])))
        return any(len(row) > file and "/" in row[file] for row in reader)
    except (DataError, csv.Error):
        return False


def read_label_table(path: Path, files: Iterable[str]) -> LabelTable:
    """The labels in ``path``, of these images next to it, or below sub-folders.

    Raises:
        DataError: it is damaged, or names a file twice or a missing one; says in which line.
    """
    text = _text(path)
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=_separator(text.partition("\n")[0]), strict=True
    )
    known, lines = frozenset(files), dict[str, int]()
    rows: dict[str, tuple[str, ...]] = {}
    try:
        header = tuple(next(reader, []))
        file, label = _columns(path, header)
        for row in reader:
            if not any(row):
                continue
            where = f"{path}: line {reader.line_num}"
            if len(row) != len(header):
                raise DataError(
                    f"{where}: {len(row)} columns instead of {len(header)} as in line 1; fix or remove it"
                )
            name = row[file] if row[file] in known else row[file].strip()
            if name in lines:
                raise DataError(f"{where}: {name!r} appears in line {lines[name]} already; remove one")
            if name not in known:
                raise DataError(f"{where}: {_unknown(name)}")
            lines[name] = reader.line_num
            row[file], row[label] = name, row[label].strip()
            rows[name] = tuple(row)
    except csv.Error as error:
        raise DataError(
            f"{path}: line {reader.line_num}: not a row of a CSV file: {error}; fix or remove it"
        ) from None
    table = LabelTable(path, header, rows, file, label, reader.dialect.delimiter)
    _require_class_names(path, table.labels, lines)
    return table


def ordered_classes(folder: Path, labels: Mapping[str, str]) -> tuple[str, ...]:
    """The classes of these labels: as ``classes.txt`` in the folder orders them, else by number or name.

    Raises:
        DataError: a label that ``classes.txt`` does not list.
    """
    found = set(labels.values())
    listed = read_class_names(folder)
    if listed:
        unknown = next((label for label in sorted(found) if label not in listed), None)
        if unknown is not None:
            raise DataError(
                f"{folder}: {CLASSES_FILE} does not list the label {unknown!r}: it has "
                f"{', '.join(listed[:_NAMED])}; write it there, or remove {CLASSES_FILE}"
            )
        return tuple(listed)
    if all(label.isdecimal() for label in found):
        return tuple(sorted(found, key=lambda label: (int(label), label)))
    return tuple(sorted(found))


def refuse_both(folder: Path) -> None:
    """Refuse class folders with a table of labels next to them. Raises DataError."""
    tables = [folder / name for name in (LABELS_FILE, METADATA_FILE)]
    found = next((path for path in tables if is_plain_file(path) and has_both_columns(path)), None)
    if found is not None:
        raise DataError(
            f"{folder}: both sub-folders with images and {found.name}: only one of them can give the "
            f"classes; remove {found.name}, put all images next to it, or name those in sub-folders in it, "
            "as folder/1.png"
        )


def unlabelled_message(folder: Path, count: int, found: Path | None) -> str:
    """What is said of a folder of images without a label: both layouts that have them."""
    images = f"{count} image{'s' * (count > 1)}"
    lacks = f"no folder for each class and no {LABELS_FILE}"
    if found is not None:
        lacks = f"no label in {found.name}"
    return (
        f"data: {folder}: {images}, but {lacks}; label them on the page Data, or put the images of each "
        f"class into a folder with its name, as {folder.name}/cat and {folder.name}/dog, or list them in "
        f"{folder.name}/{LABELS_FILE} with the columns {FILE_COLUMNS[0]} and {LABEL_COLUMNS[0]}; Predict "
        "takes them without labels"
    )


def _text(path: Path) -> str:
    _refuse_link(path)
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise read_error(path, error) from error
    if len(data) > MOST_BYTES:
        raise DataError(f"{path}: too large: over {MOST_BYTES // 1_000_000} MB; give a line for each image")
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path}: line {line}: not UTF-8; save the file with the encoding UTF-8") from None


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise DataError(f"{path}: a link to elsewhere: {path.readlink()}; replace it by the file")


def _separator(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _names(header: Iterable[str]) -> list[str]:
    return [name.strip().lower() for name in header]


def _place(header: list[str], names: Iterable[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def _columns(path: Path, header: tuple[str, ...]) -> tuple[int, int]:
    names = _names(header)
    file, label = _place(names, FILE_COLUMNS), _place(names, LABEL_COLUMNS)
    if file is None or label is None:
        seen = repr(", ".join(header[:_NAMED])[:200]) if any(names) else "it is empty"
        absent = FILE_COLUMNS[0] if file is None else LABEL_COLUMNS[0]
        raise DataError(
            f"{path}: line 1: no column {absent}: {seen}; name the columns {FILE_COLUMNS[0]} and "
            f"{LABEL_COLUMNS[0]}"
        )
    return file, label


def _unknown(name: str) -> str:
    if "\\" in name or name.startswith("/") or ".." in name.split("/"):
        return f"not the name of an image in this folder: {name[:200]!r}; give names such as folder/1.png"
    return f"no such image in this folder: {name[:200]!r}; fix the name, or remove the line"


def _require_class_names(path: Path, labels: Mapping[str, str], lines: Mapping[str, int]) -> None:
    right = set()
    for name, label in labels.items():
        if label in right:
            continue
        try:
            folder_of_class(label)
        except ArgumentError as error:
            raise DataError(f"{path}: line {lines[name]}: {error}") from None
        right.add(label)
