"""Data by name: the built-in digits, MNIST, or a folder with IDX files, as a training and a test split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DataError

BUILT_IN = ("digits", "mnist")


@dataclass(frozen=True)
class DataSplits:
    """A training and a test split: each item is (picture float32 [1, 28, 28] from 0 to 1, label int64
    [1])."""

    name: str
    train: Any
    test: Any
    classes: tuple[str, ...]
    shape: tuple[int, ...]


def fetch_data(name: str, tell: Callable[[str], None]) -> None:
    """Download the missing files of ``name``; ``tell`` receives the progress, once for each percent.

    A failed download raises nothing: ``load_data`` then names the missing files and where to put them.
    """
    from engine.core.errors import EngineError
    from engine.vision.datasets import MNIST

    if name != "mnist":
        return
    told = ""

    def progress(file: str, done: int, total: int) -> None:
        nonlocal told
        text = f"Downloading {file}: " + (f"{100 * done // total} %" if total else f"{done // 1024} KB")
        if text != told:
            told = text
            tell(text)

    for mode in ("train", "test"):
        if not MNIST.present(mode):
            try:
                MNIST.fetch(mode, progress)
            except EngineError:
                return


def load_data(name: str, samples: int = 0) -> DataSplits:
    """The splits called ``name``; the pictures are fed as ToTensor gives them, 0 to 1, not normalised.

    Args:
        name: ``digits``, ``mnist`` or the path of a folder with IDX files.
        samples: take only the first so many training pictures; 0 takes all.

    Raises:
        ArgumentError: no such data.
        DataError: the files are absent or not what they claim to be, or the splits' pictures differ in
            shape.
    """
    from engine.io import Subset
    from engine.vision import datasets
    from engine.vision.transforms import ToTensor

    transform = ToTensor()
    if name == "digits":
        train: Any = datasets.Digits(mode="train", transform=transform)
        test: Any = datasets.Digits(mode="test", transform=transform)
    elif name == "mnist":
        train = datasets.MNIST(mode="train", transform=transform)
        test = datasets.MNIST(mode="test", transform=transform)
    elif Path(name).expanduser().is_dir():
        folder = str(Path(name).expanduser())
        train = datasets.IDXFolder(folder, mode="train", transform=transform)
        test = datasets.IDXFolder(folder, mode="test", transform=transform)
    else:
        raise ArgumentError(
            f"data: no such data: got {name!r}; choose {', '.join(BUILT_IN)}, or the path of a folder with "
            "IDX files"
        )
    classes = class_names(train, test)
    shape = _picture_shape(name, train, test)
    if samples and samples < len(train):
        train = Subset(train, range(samples))
    return DataSplits(name, train, test, classes, shape)


def _picture_shape(name: str, train: Any, test: Any) -> tuple[int, ...]:
    """The shape of a picture, which both splits share. Raises DataError."""
    shape, measured = (tuple(np.shape(split[0][0])) for split in (train, test))
    if shape != measured:
        raise DataError(
            f"data: the test pictures have another shape than the training pictures: {list(measured)} "
            f"against {list(shape)} in {name}; give test files with pictures of the same size"
        )
    return shape


def class_names(*splits: Any) -> tuple[str, ...]:
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
