"""CIFAR as readers: functions that give an iterator of (3072 numbers from 0 to 1, label)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.reader.decorator import Reader
from engine.vision.datasets import Cifar10, Cifar100

__all__ = ["fetch", "test10", "test100", "train10", "train100"]


def train10(cycle: bool = False) -> Reader:
    """CIFAR-10's training set: float32 [3072], all red values, then green, then blue; over and over with
    ``cycle``.

    The archive is found, or downloaded, as by ``vision.datasets.Cifar10``; its errors are those of this call.
    """
    return _reader(Cifar10, "train", cycle)


def test10(cycle: bool = False) -> Reader:  # noqa: PT028 - the name is Paddle's
    """CIFAR-10's test set, as ``train10`` gives its own."""
    return _reader(Cifar10, "test", cycle)


def train100() -> Reader:
    """CIFAR-100's training set, as ``train10`` gives its own."""
    return _reader(Cifar100, "train", False)


def test100() -> Reader:
    """CIFAR-100's test set, as ``train10`` gives its own."""
    return _reader(Cifar100, "test", False)


def fetch() -> None:
    """Put the archives where the readers find them, unless they are there."""
    for data in (Cifar10, Cifar100):
        data()


def _reader(data: type[Cifar10], mode: str, cycle: bool) -> Reader:
    found = data(mode=mode)

    def reader() -> Iterator[tuple[np.ndarray[Any, Any], int]]:
        while True:
            for image, label in zip(found.images, found.labels.tolist(), strict=True):
                yield (image.transpose(2, 0, 1).reshape(-1) / 255.0).astype(np.float32), label
            if not cycle:
                return

    return reader
