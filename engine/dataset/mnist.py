"""MNIST as readers: functions that give an iterator of (784 numbers from -1 to 1, label)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from engine.vision.datasets import MNIST

Reader = Callable[[], Iterator[tuple[np.ndarray, int]]]


def train() -> Reader:
    """The digits of the training set: float32 [784] from -1 to 1, and the label 0 to 9.

    The files are found, or downloaded, as by ``vision.datasets.MNIST``; its errors are those of this call.
    """
    return _reader("train")


def test() -> Reader:
    """The digits of the test set, as ``train`` gives them."""
    return _reader("test")


def fetch() -> None:
    """Put the files of both sets where ``train`` and ``test`` find them, unless they are there."""
    for mode in ("train", "test"):
        if not MNIST.present(mode):
            MNIST.fetch(mode)


def _reader(mode: str) -> Reader:
    data = MNIST(mode=mode)

    def reader() -> Iterator[tuple[np.ndarray, int]]:
        for image, label in zip(data.images, data.labels.tolist(), strict=True):
            yield image.reshape(-1).astype(np.float32) / np.float32(255) * 2 - 1, label

    return reader
