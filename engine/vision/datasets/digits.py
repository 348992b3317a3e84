"""The built-in data set: handwritten-like digits, drawn from strokes when first asked for."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, SaveError
from engine.files.atomic import atomic_file, make_folder
from engine.vision.datasets.draw import SIZE, VERSION, draw_digits, labels_of
from engine.vision.datasets.grey_images import GreyImages
from engine.vision.datasets.locate import cache_folder
from engine.vision.datasets.strokes import fingerprint
from resources.regular_files import read_regular

COUNTS = {"train": 10_000, "test": 2_000}
_MOST = 1_000_000
_CHUNK = 256
_WORTH_CACHING = 1_000
_MAX_CACHE_FILES = 8


class Digits(GreyImages):
    """Digits 0 to 9, each equally often, in MNIST's form (28 x 28, centre of mass in the middle).

    What an item is, ``GreyImages`` says.

    Nothing is drawn before it is asked for: a batch draws its own digits, a single item the 256 around it. A
    digit depends on ``mode``, ``seed`` and its index alone, so a smaller ``count`` gives the first ones of a
    larger, and the same on every machine. A data set that was drawn whole is stored in this user's cache
    folder; without a usable cache it is drawn again.

    Args:
        mode: ``'train'`` or ``'test'``; the two never share a digit. Training digits are deformed further, so
            that what is trained on them reads real ones; test digits are about as hard as MNIST's.
        count: how many; default 10,000 for training and 2,000 for testing.
        seed: another seed, other digits.
        transform: applied to every image.
        backend: ``'pil'`` or ``'cv2'``; default: that of ``set_image_backend``.

    Raises:
        ArgumentError: another mode or backend; ``count`` or ``seed`` no integer or out of range.
    """

    classes: tuple[str, ...] = tuple("0123456789")

    def __init__(
        self,
        mode: str = "train",
        count: int | None = None,
        seed: int = 0,
        transform: Callable[[Any], Any] | None = None,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, transform, backend)
        count = COUNTS[self.mode] if count is None else count
        for name, value, low, high in (("count", count, 1, _MOST), ("seed", seed, 0, (1 << 63) - 1)):
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, np.integer))
                or not low <= value <= high
            ):
                raise ArgumentError(f"Digits: {name} must be an integer from {low} to {high}: got {value!r}")
        self.seed = int(seed)
        self.labels = labels_of(self.mode, int(count), self.seed)
        self._drawn = np.zeros(int(count), np.bool_)
        self._images = np.zeros((int(count), SIZE, SIZE), np.uint8)
        self._missing = int(count)
        self._cache_tried = False
        self._lock = threading.Lock()

    @property
    def images(self) -> np.ndarray:  # type: ignore[override]
        """All images, uint8 [count, 28, 28]; draws those that are still missing."""
        self._draw(np.arange(len(self.labels)))
        return self._images

    @property
    def ready(self) -> int:
        """How many images are drawn already."""
        return len(self.labels) - self._missing

    def _pixels(self, indices: np.ndarray) -> np.ndarray:
        if self._missing:
            if len(indices) == 1:
                start = int(indices[0]) // _CHUNK * _CHUNK
                self._draw(np.arange(start, min(start + _CHUNK, len(self.labels))))
            else:
                self._draw(indices)
        chosen: np.ndarray = self._images[indices]
        return chosen

    def _draw(self, indices: np.ndarray) -> None:
        with self._lock:
            if self._missing and not self._cache_tried:
                self._cache_tried = True
                self._load()
            absent = np.zeros(len(self.labels), bool)  # np.unique imports masked arrays for it
            absent[indices] = True
            wanted = np.flatnonzero(absent & ~self._drawn)
            if len(wanted) == 0:
                return
            self._images[wanted] = draw_digits(self.mode, self.seed, wanted, self.labels[wanted])
            self._drawn[wanted] = True
            self._missing -= len(wanted)
            if not self._missing:
                self._save()

    # -- the cache: an .npy file with the SHA-256 of all its bytes behind it
    # --------------------------------------
    def _cache_file(self) -> Path | None:
        if len(self.labels) < _WORTH_CACHING:
            return None
        drawing = f"v{VERSION}-{fingerprint()[:12]}"
        return cache_folder("digits") / f"{self.mode}-{len(self.labels)}-seed{self.seed}-{drawing}.npy"

    def _load(self) -> None:
        path = self._cache_file()
        if path is None:
            return
        with suppress(OSError, ValueError):
            size = path.stat().st_size
            if not 0 <= size - self._images.nbytes <= 1024:
                return
            data = read_regular(path, size)
            if hashlib.sha256(data[:-32]).digest() != data[-32:]:
                return
            images = np.load(io.BytesIO(data), allow_pickle=False)
            if images.shape != self._images.shape or images.dtype != np.uint8:
                return
            self._images = images
            self._drawn[:] = True
            self._missing = 0
            os.utime(path)

    def _save(self) -> None:
        path = self._cache_file()
        if path is None:
            return
        buffer = io.BytesIO()
        np.save(buffer, self._images, allow_pickle=False)
        # A cache that can't be written (no such disk, no permission) only costs the time to draw again.
        with suppress(OSError, SaveError):
            make_folder(path.parent)
            with atomic_file(path) as file:
                file.write(buffer.getbuffer())
                file.write(hashlib.sha256(buffer.getbuffer()).digest())
            files = sorted(path.parent.glob("*.npy"), key=lambda file: file.stat().st_mtime)
            for old in files[:-_MAX_CACHE_FILES]:
                old.unlink()
