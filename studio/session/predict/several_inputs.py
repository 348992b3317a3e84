"""Samples for a model that takes several inputs: the arrays of an NPZ file, one for each input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from resources.settings.data import STORED
from studio.session.predict.batch_predictions import Item, holds_many, image_item, items_in, only_input
from studio.session.predict.model_info import ModelInfo
from studio.session.predict.model_input import ModelInput, inputs_of

if TYPE_CHECKING:
    from engine.training.exporting.raw_inputs import FedInputs
    from engine.training.sources.rows import TableRows


def samples_in(
    path: Path, info: ModelInfo, tell_read: Callable[[FedInputs], None] = lambda fed: None
) -> Sequence[Item]:
    """What there is to predict in a file or folder for a model with one input or several.

    Args:
        tell_read: as ``items_in``.

    Raises:
        ArgumentError, FormatError, OSError: it can't be read, or holds nothing that the model takes.
    """
    if len(inputs_of(info)) > 1:
        return several_items(path, info)
    asked = only_input(info)
    return items_in(path, asked, tell_read) if holds_many(path) else [image_item(path, asked)]


def several_items(path: Path, info: ModelInfo) -> Sequence[Item]:
    """The samples of an NPZ file for a model with several inputs.

    An array is found by the name of its input, or by that of the array that the model was trained on, also
    with ``test`` or ``train`` added. The first input is prepared as in the training, the others are fed as
    they are stored.

    Raises:
        ArgumentError: not an NPZ file, an array is missing, or they have different numbers of samples.
        FormatError, DataError: the file can't be read.
    """
    from engine.core.errors import ArgumentError
    from engine.training.sources.array_names import array_called
    from engine.training.sources.npz import NpzFile
    from engine.training.sources.rows import TableRows

    asked = inputs_of(info)
    names = ", ".join(each.name for each in asked)
    if path.suffix.lower() != ".npz":
        raise ArgumentError(
            f"{path}: the model takes {len(asked)} inputs ({names}): give an NPZ file with an array for each"
        )
    feeds = info.raw.spec.feeds if info.raw is not None else ()
    arrays = [feed.array for feed in feeds] if len(feeds) == len(asked) else [""] * len(asked)
    archive = NpzFile(path)
    rows: list[TableRows] = []
    for each, array in zip(asked, arrays, strict=True):
        found = array_called(archive.members, each.name)
        if found is None and array:
            found = array_called(archive.members, array)
        if found is None:
            raise ArgumentError(
                f"{path}: no array {each.name!r}: it has {', '.join(archive.members) or 'none'}; the model "
                f"takes {names}: save an array for each"
            )
        table = archive.table(found)
        count = int(table.shape[0]) if table.shape else 0
        kind = info.raw.spec.kind if feeds and info.raw is not None and not rows else STORED
        rows.append(TableRows(table, np.zeros(count, np.int64), f"{path.name} {found}", kind, several=True))
    counts = [len(each) for each in rows]
    if len(set(counts)) > 1:
        listed = ", ".join(f"{each.name} {count}" for each, count in zip(asked, counts, strict=True))
        raise ArgumentError(
            f"{path}: the inputs have different numbers of samples: {listed}; give as many of each"
        )
    read = [
        _reader(each, one, info if place == 0 else None)
        for place, (each, one) in enumerate(zip(rows, asked, strict=True))
    ]
    return [Item(str(row), _sample(read, row)) for row in range(counts[0])]


def _sample(
    read: Sequence[Callable[[int], NDArray[Any]]], row: int
) -> Callable[[], tuple[NDArray[Any], ...]]:
    return lambda: tuple(each(row) for each in read)


def _reader(rows: TableRows, asked: ModelInput, first_of: ModelInfo | None) -> Callable[[int], NDArray[Any]]:
    """A function that reads the values of a sample as a person gives them."""
    from engine.training.sources.options import options_of_files
    from engine.training.sources.preparing.prepare import Prepare
    from engine.training.sources.preparing.prepared import as_stored

    prepare = Prepare(rows.is_image)
    if first_of is not None and rows.is_image:
        options = options_of_files(first_of.info)
        prepare = Prepare(True, options.resize, options.color, fit=options.fit)

    def read(row: int) -> NDArray[Any]:
        return as_given_by_person(as_stored(rows, np.asarray([row]), prepare)[0], asked)

    return read


def as_given_by_person(values: NDArray[Any], asked: ModelInput) -> NDArray[Any]:
    """What a model was fed in a training, as a person gives it: an image with its channels last."""
    if asked.form not in ("digit", "picture") or values.ndim != 3:
        return values
    return values[0] if values.shape[0] == 1 else np.ascontiguousarray(np.moveaxis(values, 0, -1))
