"""UCI housing as readers: functions that give an iterator of (features [13], value [1])."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.reader.decorator import Reader
from engine.text.datasets import UCIHousing

__all__ = ["feature_names", "fetch", "test", "train"]

feature_names = [
    "CRIM",
    "ZN",
    "INDUS",
    "CHAS",
    "NOX",
    "RM",
    "AGE",
    "DIS",
    "RAD",
    "TAX",
    "PTRATIO",
    "B",
    "LSTAT",
    "convert",
]


def train() -> Reader:
    """The first 80% of the districts: features and value as float64.

    The file is found, or downloaded, as by ``text.UCIHousing``; its errors are those of this call.
    """
    return _reader("train")


def test() -> Reader:
    """The other districts, as ``train`` gives its own."""
    return _reader("test")


def fetch() -> None:
    """Put the file where the readers find it, unless it is there."""
    UCIHousing()


def _reader(mode: str) -> Reader:
    rows = UCIHousing(mode=mode).data

    def reader() -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
        for row in rows:
            yield row[:-1], row[-1:]

    return reader
