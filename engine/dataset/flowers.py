"""Flowers102 as readers: functions that give an iterator of (image, label from 0 to 101)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from engine.dataset import image
from engine.reader.decorator import Reader, map_readers, xmap_readers
from engine.vision.datasets import Flowers
from resources.regular_files import read_regular

__all__ = ["fetch", "test", "test_mapper", "train", "train_mapper", "valid"]

_SHORT, _SIZE = 256, 224
_MEAN = (103.94, 116.78, 123.68)  # of blue, green, red
_THREADS = 4

Mapper = Callable[[Any], Any]


def _mapped(training: bool, sample: tuple[bytes, int]) -> tuple[np.ndarray[Any, Any], int]:
    """The bytes of a photograph as float32 [3 * 224 * 224]: blue, green, red, less their means.

    The shorter side becomes 256; then the middle is cut out, or in training any part, half of them mirrored.
    """
    data, label = sample
    found = image.simple_transform(image.load_image_bytes(data), _SHORT, _SIZE, training, mean=_MEAN)
    return found.reshape(-1), label


train_mapper: Mapper = partial(_mapped, True)
test_mapper: Mapper = partial(_mapped, False)


def train(
    mapper: Mapper = train_mapper, buffered_size: int = 1024, use_xmap: bool = True, cycle: bool = False
) -> Reader:
    """``mapper`` of (bytes of the photograph, label) for each one of the training set, over and over with
    ``cycle``.

    The files are found, or downloaded, as by ``vision.datasets.Flowers``; its errors are those of this call.
    ``use_xmap`` maps in threads, ``buffered_size`` samples ahead.
    """
    return _reader("train", mapper, buffered_size, use_xmap, cycle)


def test(
    mapper: Mapper = test_mapper,  # noqa: PT028 - the name is Paddle's
    buffered_size: int = 1024,  # noqa: PT028
    use_xmap: bool = True,  # noqa: PT028
    cycle: bool = False,  # noqa: PT028
) -> Reader:
    """The test set, as ``train`` gives its own."""
    return _reader("test", mapper, buffered_size, use_xmap, cycle)


def valid(mapper: Mapper = test_mapper, buffered_size: int = 1024, use_xmap: bool = True) -> Reader:
    """The validation set, as ``train`` gives its own."""
    return _reader("valid", mapper, buffered_size, use_xmap, False)


def fetch() -> None:
    """Put the files where the readers find them, unless they are there."""
    Flowers(mode="train")


def _reader(mode: str, mapper: Mapper, buffered_size: int, use_xmap: bool, cycle: bool) -> Reader:
    data = Flowers(mode=mode)

    def photographs() -> Iterator[tuple[bytes, int]]:
        while True:
            for number in data.indexes.tolist():
                path = data.data_path / f"image_{number:05d}.jpg"
                yield read_regular(path), int(data.labels[number - 1]) - 1
            if not cycle:
                return

    if use_xmap:
        return xmap_readers(mapper, photographs, _THREADS, buffered_size)
    return map_readers(mapper, photographs)
