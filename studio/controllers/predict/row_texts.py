"""The columns of a row that a model is fed, as texts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from PySide6.QtCore import QObject

from resources import quantities
from studio.session.predict.model_input import ModelInput

if TYPE_CHECKING:
    from engine.training.sources.spec import Column


def column_texts(columns: Iterable[Column], values: ArrayLike) -> list[tuple[str, str]]:
    """The name of each column and the number that the model is fed; a word is fed as its place among those of
    training."""
    rows = []
    for column, value in zip(columns, np.reshape(values, -1).tolist(), strict=False):
        known = column.words and 1 <= value <= len(column.words)
        word = f"{column.words[int(value) - 1]} \u00b7 " if known else ""
        rows.append((column.name, f"{word}{quantities.value(value)}"))
    return rows


def row_texts(asked: ModelInput, values: ArrayLike, words: QObject) -> list[tuple[str, str]]:
    """(name, value) of each number of an input that is not an image, of each step of a sequence."""
    found = np.asarray(values)
    if asked.form == "sequence" and found.ndim == 2:
        return [
            (words.tr("step {0}").format(step), ", ".join(map(quantities.value, row[:4])))
            for step, row in enumerate(found.tolist())
        ]
    if asked.raw is not None and len(asked.raw.inputs) == found.size:
        return column_texts(asked.raw.inputs, found)
    places = np.ndindex(*found.shape)
    return [
        (", ".join(map(str, place)), quantities.value(value))
        for place, value in zip(places, found.reshape(-1).tolist(), strict=True)
    ]
