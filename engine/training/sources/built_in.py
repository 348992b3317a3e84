"""The data sets by name (digits, MNIST, FashionMNIST), their download, and folders of IDX files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

# By name the class in engine.vision.datasets; only what is asked for is imported.
_CLASSES = {"digits": "Digits", "mnist": "MNIST", "fashion-mnist": "FashionMNIST"}
_DOWNLOADED = ("mnist", "fashion-mnist")


def grey_splits(name: str, kind: str) -> tuple[Any, Any]:
    """The training and the test split of a data set of ours, or of a folder with IDX files.

    Raises:
        DataError, FormatError: files are absent or not what they claim to be.
    """
    from engine.vision import datasets

    if kind == "idx":
        folder = str(Path(name).expanduser())
        return datasets.IDXFolder(folder, mode="train"), datasets.IDXFolder(folder, mode="test")
    made = getattr(datasets, _CLASSES[kind])
    return made(mode="train"), made(mode="test")


def fetch_data(name: str, report: Callable[[str], None]) -> None:
    """Download the missing files of ``name``; ``report`` receives the progress, once for each percent.

    A failed download raises nothing: ``load_data`` then names the missing files and where to put them.
    """
    if name not in _DOWNLOADED:
        return
    from engine.core.errors import EngineError
    from engine.vision import datasets

    chosen = getattr(datasets, _CLASSES[name])
    last = ""

    def progress(file: str, done: int, total: int) -> None:
        nonlocal last
        text = f"Downloading {file}: " + (f"{100 * done // total} %" if total else f"{done // 1024} KB")
        if text != last:
            last = text
            report(text)

    for mode in ("train", "test"):
        if not chosen.present(mode):
            try:
                chosen.fetch(mode, progress)
            except EngineError:
                return


def names_of_classes(*splits: Any) -> tuple[str, ...]:
    """The classes that the splits name, else the labels 0 to the highest one in them (at least 0 to 9)."""
    named = [tuple(map(str, split.classes)) for split in splits if hasattr(split, "classes")]
    if named:
        return max(named, key=len)
    highest = 9
    for split in splits:
        labels = getattr(split, "labels", None)
        if labels is not None and len(labels):
            highest = max(highest, int(np.max(labels)))
    return tuple(str(label) for label in range(highest + 1))
