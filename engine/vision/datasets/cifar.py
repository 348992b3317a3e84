"""CIFAR-10 and CIFAR-100: small colour images of things, from their binary archives."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from PIL import Image

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.files.data.archives import tar_files
from engine.io.dataset import Dataset
from engine.vision.datasets.chosen import chosen_backend
from engine.vision.datasets.download import download as fetch
from engine.vision.datasets.locate import cache_folder, data_folders

_PIXELS = 3 * 32 * 32


class Cifar10(Dataset):
    """Items are (image, class). The image is a PIL image of 32 x 32, or a float32 array [32, 32, 3] of 0
    to 255 with the ``'cv2'`` backend, and then what ``transform`` makes of it; the class is an int64 array.

    Differs from Paddle: the binary version of the archive is read (``cifar-10-binary.tar.gz``), not the one
    of pickled files, which could execute anything.

    Args:
        data_file: the archive; by default the one in ``$MODEL_STUDIO_DATA/cifar`` or in this user's cache
            folder, else it is downloaded there.
        mode: ``'train'`` or ``'test'``.
        transform: applied to every image.
        download: fetch the archive where it is absent.
        backend: ``'pil'`` or ``'cv2'``; default: that of ``set_image_backend``.

    Raises:
        ArgumentError: another mode or backend.
        DataError: the archive is absent and can't be downloaded.
        FormatError: it is damaged, or not the binary version.
    """

    ARCHIVE: ClassVar[str] = "cifar-10-binary.tar.gz"
    MD5: ClassVar[str] = "c32a1d4ab5d03f1284b67883e8d87530"
    MIRRORS: ClassVar[tuple[str, ...]] = ("https://www.cs.toronto.edu/~kriz/",)
    FILES: ClassVar[dict[str, tuple[str, ...]]] = {
        "train": tuple(f"data_batch_{n}.bin" for n in range(1, 6)),
        "test": ("test_batch.bin",),
    }
    LABELS: ClassVar[int] = 1  # bytes before the pixels; the last one is the class

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        where = type(self).__name__
        if not isinstance(mode, str) or mode.lower() not in ("train", "test"):
            raise ArgumentError(f"{where}: mode should be 'train' or 'test': got {mode!r}; choose one")
        self.mode = mode.lower()
        self.backend = chosen_backend(where, backend)
        self.transform = transform
        self.data_file = os.fspath(self._locate(download) if data_file is None else data_file)
        records = self._records()
        self.images = records[:, self.LABELS :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        self.labels = records[:, self.LABELS - 1].astype(np.int64)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        image: Any = np.ascontiguousarray(self.images[idx])
        if self.backend == "pil":
            image = Image.fromarray(image)
        if self.transform is not None:
            image = self.transform(image)
        if self.backend == "cv2":
            image = image.astype("float32")
        return image, np.array(self.labels[idx])

    def __len__(self) -> int:
        return len(self.labels)

    @classmethod
    def _locate(cls, may_download: bool) -> Path:
        folders = data_folders("cifar")
        for folder in folders:
            if (folder / cls.ARCHIVE).is_file():
                return folder / cls.ARCHIVE
        if not may_download:
            raise DataError(
                f"{cls.__name__}: the archive is not on this machine: looked for {cls.ARCHIVE} in "
                f"{', '.join(map(str, folders))}, and downloading is switched off; put it there"
            )
        urls = [mirror + cls.ARCHIVE for mirror in cls.MIRRORS]
        return fetch(urls, cache_folder("cifar") / cls.ARCHIVE, cls.MD5)

    def _records(self) -> np.ndarray:
        """The records of this mode, uint8 [count, LABELS + pixels]."""
        wanted, size = self.FILES[self.mode], self.LABELS + _PIXELS
        files = tar_files(self.data_file, lambda name: os.path.basename(name) in wanted)
        found = {os.path.basename(name): data for name, data in files if data}
        missing = [name for name in wanted if name not in found]
        if missing or any(len(data) % size for data in found.values()):
            problem = f"{', '.join(missing)} missing" if missing else "files of broken length"
            raise FormatError(
                f"{self.data_file}: not the binary version of the data set: {problem}; get {self.ARCHIVE}"
            )
        whole = b"".join(found[name] for name in wanted)
        return np.frombuffer(whole, np.uint8).reshape(-1, size)


class Cifar100(Cifar10):
    """As ``Cifar10``, with 100 classes.

    Differs from Paddle: the binary version of the archive is read (``cifar-100-binary.tar.gz``), not the one
    of pickled files.
    """

    ARCHIVE = "cifar-100-binary.tar.gz"
    MD5 = "03b5dce01913d631647c71ecec9e9cb8"
    FILES: ClassVar[dict[str, tuple[str, ...]]] = {"train": ("train.bin",), "test": ("test.bin",)}
    LABELS = 2  # the coarse class, then the class
