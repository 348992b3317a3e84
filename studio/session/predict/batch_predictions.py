"""Predictions of many samples into a CSV file: of a folder of images, or a CSV, NPZ or NPY file."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from resources.regular_files import open_regular_text
from studio.session.predict.digit_images import ImageError, read_file
from studio.session.predict.image_fitting import placed, placings_of, read_for
from studio.session.predict.model_info import ModelInfo, Scores, Values
from studio.session.predict.model_input import DIGIT_SIDE, ModelInput, inputs_of, numbers_in
from studio.session.predict.predict_view import rank

if TYPE_CHECKING:
    from engine.training.exporting.raw_inputs import FedInputs
    from engine.training.sources.rows import Table

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm")
TABLES = (".csv", ".npz", ".npy")
MOST_FILES = 1_000_000
# With more classes only the most probable one is written.
MOST_COLUMNS = 100


@dataclass(frozen=True)
class Item:
    """One sample: its name in the table, and a function that reads its values (raising ImageError or
    ValueError). ``true`` is its class or numbers, where they are known."""

    name: str
    read: Callable[[], Values]
    true: tuple[str | float, ...] = ()


class RawItems(Sequence[Item]):
    """The rows of a table or the sequences of a file, named by their numbers from 0."""

    def __init__(self, fed: FedInputs) -> None:
        self._fed = fed

    def __len__(self) -> int:
        return len(self._fed)

    @overload
    def __getitem__(self, place: int) -> Item: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Item]: ...
    def __getitem__(self, place: int | slice) -> Item | Sequence[Item]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if place >= len(self):
            raise IndexError(place)
        true = self._fed.answers[place] if self._fed.answers else ()
        return Item(str(place), lambda: self._read(place), true)

    def _read(self, place: int) -> NDArray[Any]:
        if place in self._fed.problems:
            raise ValueError(self._fed.problems[place])
        return np.asarray(self._fed.values[place])


def items_in(
    path: Path, asked: ModelInput, tell_read: Callable[[FedInputs], None] = lambda fed: None
) -> Sequence[Item]:
    """What there is to predict in a folder of images (with its folders), a CSV, NPZ or NPY file.

    Args:
        tell_read: receives what was read of a table or of sequences, with the counts of what is missing.

    Raises:
        ArgumentError, FormatError, OSError: it can't be read, or holds nothing that the input takes.
    """
    found: Sequence[Item]
    is_image = asked.form in ("digit", "picture")
    if not asked.form and asked.raw is None:
        raise _refused(f"{path}: the model can't be fed: {asked.why_not}; choose another model")
    if path.is_dir():
        if not is_image:
            raise _refused(f"{path}: the model takes numbers, no images; give a CSV, NPZ or NPY file")
        found = [_in_folder(path, file, asked) for file in _images_in(path)]
    elif asked.raw is not None and path.suffix.lower() in TABLES:
        fed = asked.raw.file(path)
        tell_read(fed)
        found = RawItems(fed)
    elif path.suffix.lower() == ".csv":
        found = _rows(path, asked)
    elif path.suffix.lower() in TABLES:
        found = _arrays(path, asked)
    else:
        raise _refused(f"{path}: neither a folder nor one of {', '.join(TABLES)}; give such a one")
    if not found:
        raise _refused(f"{path}: there is nothing to predict in it; give a folder with images, or a table")
    return found


def holds_many(path: Path) -> bool:
    """Whether ``items_in`` reads it: a folder or a table, no image."""
    return path.is_dir() or path.suffix.lower() in TABLES


def _images_in(folder: Path) -> list[Path]:
    found: list[Path] = []
    # Links to folders are not followed: they may lead in a circle.
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            if name.lower().endswith(IMAGE_SUFFIXES) and not name.startswith("."):
                found.append(Path(here) / name)
        if len(found) > MOST_FILES:
            raise _refused(f"{folder}: over {MOST_FILES} images; give a folder with fewer")
    return found


def _in_folder(folder: Path, file: Path, asked: ModelInput) -> Item:
    """An image of a folder; its sub-folder may be its class."""
    name = file.relative_to(folder)
    item = image_item(file, asked, str(name))
    return replace(item, true=(name.parts[0],)) if len(name.parts) > 1 else item


def image_item(file: Path, asked: ModelInput, name: str = "") -> Item:
    """An image file, placed for ``asked`` in the usual way when it is read.

    Raises:
        ArgumentError: the model takes no image.
    """
    if asked.form not in ("digit", "picture"):
        raise _refused(
            f"{file}: the model takes no image but {asked.dtype} {list(asked.shape)}: {asked.name}; give a "
            "CSV, NPZ or NPY file"
        )

    def read() -> NDArray[Any]:
        values = read_for(asked, read_file(file), str(file))
        return placed(values, asked, placings_of(asked)[0], False, str(file))

    return Item(name or str(file), read)


def _rows(path: Path, asked: ModelInput) -> list[Item]:
    with open_regular_text(path, encoding="utf-8-sig", errors="replace") as file:
        lines = [(number, line) for number, line in enumerate(file, 1) if line.strip()]
    flat = asked if asked.form == "numbers" else _flat(asked)

    def reader(line: str) -> Callable[[], NDArray[Any]]:
        def read() -> NDArray[Any]:
            values = numbers_in(line, flat)
            return values if flat is asked else _as_image(values.reshape(asked.height, asked.width))

        return read

    if len(lines) > 1:
        try:
            numbers_in(lines[0][1], flat)
        except ValueError:
            lines = lines[1:]  # a heading
    return [Item(str(number), reader(line)) for number, line in lines]


def _flat(asked: ModelInput) -> ModelInput:
    """An image as numbers in a row."""
    if asked.channels != 1:
        raise _refused(
            f"{asked.name}: a row of a table is not an image in colour; give a folder or an NPZ file"
        )
    return ModelInput(asked.name, "float32", (asked.height * asked.width,))


def _arrays(path: Path, asked: ModelInput) -> list[Item]:
    """The samples of the first array whose shape is that of the input, with a sample on each place; else the
    one sample that an array without a place for it is."""
    found: list[Table] = []
    if path.suffix.lower() == ".npy":
        from engine.files.data.npy import open_npy

        found = [open_npy(path)]
    else:
        from engine.training.sources.npz import NpzFile

        archive = NpzFile(path)
        found = [archive.table(name) for name, member in archive.members.items() if len(member.shape) > 1]
    for array in found:
        if array.dtype.kind == "c":
            raise _refused(f"{path}: complex numbers: {asked.name} takes real ones; save their real part")
        if (last := _fits(array.shape[1:], asked)) is not None:
            return [Item(str(n), _sample(array, n, asked, last)) for n in range(array.shape[0])]
    for array in found:
        if (last := _fits(array.shape, asked)) is not None:
            return [Item("0", _sample(array, None, asked, last))]
    shapes = ", ".join(str(list(array.shape)) for array in found) or "none"
    raise _refused(
        f"{path}: no array of samples of {list(asked.shape)}: it holds {shapes}; save one with a sample on "
        "each place of its first axis"
    )


def _fits(shape: Sequence[int], asked: ModelInput) -> bool | None:
    """Whether the channels of a sample of this shape come last where the input has them first; None where it
    does not fit."""
    wanted, here = ([size for size in sizes if size != 1] for sizes in (asked.shape, shape))
    if here == wanted or (asked.form == "digit" and math.prod(here) == DIGIT_SIDE**2):
        return False
    last = asked.layout == "CHW" and asked.channels > 1 and here == [*wanted[1:], *wanted[:1]]
    return True if last else None


def _sample(array: Table, place: int | None, asked: ModelInput, last: bool) -> Callable[[], NDArray[Any]]:
    """Reads the sample at a place of an array; None for an array that is one sample."""

    def read() -> NDArray[Any]:
        every = np.arange(array.shape[0]) if place is None else np.asarray([place])
        values: NDArray[Any] = array.take(every) if place is None else array.take(every)[0]
        if asked.form == "numbers":
            return values
        if asked.channels > 1 and asked.layout == "CHW" and not last:
            values = np.moveaxis(values.reshape(asked.shape), 0, -1)
        elif asked.channels == 1:
            values = values.reshape(asked.height, asked.width)
        return _as_image(values)

    return read


def _as_image(values: NDArray[Any]) -> NDArray[Any]:
    """0 to 1, from bytes or from numbers up to 255."""
    found = values.astype(np.float32)
    return found / np.float32(255.0) if values.dtype == np.uint8 or found.max(initial=0.0) > 1.0 else found


def write_predictions(
    out: Path,
    items: Sequence[Item],
    info: ModelInfo,
    scores: Scores,
    tell: Callable[[int, int], None] = lambda done, total: None,
    stopped: Callable[[], bool] = lambda: False,
    take: Callable[[Item, NDArray[np.float64] | None, str], None] = lambda item, scores, problem: None,
) -> tuple[int, int]:
    """Write a table with a row for each item: its name, class, probability, those of all classes, and why it
    could not be predicted.

    The file appears when all is done; where ``stopped()`` becomes True what there is until then is written
    next to it, as ``NAME.partial.csv``. ``take`` gets each item with its scores, or with its problem.

    Returns:
        How many were predicted, and how many could not be.

    Raises:
        SaveError: it can't be written. Whatever the model raises but for a sample that does not fit.
    """
    from engine.core.errors import FormatError
    from engine.files.atomic import atomic_write

    text = io.StringIO()
    table = csv.writer(text)
    names = list(info.classes) if 0 < len(info.classes) <= MOST_COLUMNS else []
    columns = ["class", "probability", *(f"p({name})" for name in names)]
    if info.raw is not None and info.predicts_numbers:
        columns = list(info.raw.spec.targets)
    table.writerow(["name", *columns, "problem"])
    done = failed = 0
    for place, item in enumerate(items):
        if stopped():
            out = out.with_name(f"{out.stem}.partial{out.suffix}")
            break
        tell(place, len(items))
        try:
            found = scores(item.read())
        except FormatError:  # the model gives no scores, of this sample or any other
            raise
        except (ImageError, ValueError) as error:
            failed += 1
            table.writerow([item.name, *[""] * len(columns), str(error)])
            take(item, None, str(error))
            continue
        done += 1
        take(item, found, "")
        table.writerow([item.name, *_answer(found, info, names), ""])
    tell(len(items), len(items))
    data = text.getvalue().encode("utf-8", "surrogateescape")
    atomic_write(out, lambda file: file.write(data))
    return done, failed


def _answer(scores: NDArray[np.float64], info: ModelInfo, names: list[str]) -> Iterator[str]:
    """Class, probability and the probabilities of all; of a model that gives numbers, those."""
    if info.predicts_numbers:
        yield from (f"{score:.9g}" for score in scores)
        return
    if len(scores) == 1:
        yield from (f"{scores[0]:.9g}", "", *[""] * len(names))
        return
    ranking = rank(scores, info.classes)
    yield from (ranking[0][0], f"{ranking[0][1]:.6g}")
    shares = dict(ranking)
    yield from (f"{shares.get(name, 0.0):.6g}" for name in names)


def _refused(message: str) -> Exception:
    from engine.core.errors import ArgumentError

    return ArgumentError(message)


def only_input(info: ModelInfo) -> ModelInput:
    """The input of a model that has one. Raises ArgumentError where it has several."""
    asked = inputs_of(info)
    if len(asked) != 1:
        names = ", ".join(each.name for each in asked)
        raise _refused(
            f"{info.prefix}: it takes {len(asked)} inputs ({names}): one array can't feed it; give an NPZ "
            "file with an array for each"
        )
    return asked[0]
