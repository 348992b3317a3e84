"""MNIST, FashionMNIST and folders of one's own in the same format (IDX files)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from engine.core.errors import ArgumentError, DataError, EngineError
from engine.vision.datasets.download import Progress, download
from engine.vision.datasets.grey_images import GreyImages
from engine.vision.datasets.idx import read_idx
from engine.vision.datasets.locate import cache_folder, data_folders, find_pair, idx_names


def read_pair(
    image_path: str | os.PathLike[str], label_path: str | os.PathLike[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The images (uint8 [count, H, W]) and labels (int64 [count]) of two IDX files.

    Raises:
        DataError: a file can't be read, or they hold different numbers of items.
        FormatError: a file is not an IDX file, truncated, too long or of another element type.
    """
    images = read_idx(image_path, dimensions=3)
    labels = read_idx(label_path, dimensions=1)
    if len(images) != len(labels):
        raise DataError(
            f"{os.fspath(image_path)}: images and labels don't belong together: {len(images)} images, "
            f"{len(labels)} labels in {os.fspath(label_path)}; take both files from the same data set"
        )
    return images, labels.astype(np.int64)


class MNIST(GreyImages):
    """Handwritten digits, 28 x 28, with labels 0 to 9 (see ``GreyImages`` for what an item is).

    The files are the given ones, else those in ``$MODEL_STUDIO_DATA/mnist`` or in this user's cache folder,
    else they are downloaded there. How many digits there are, their headers say.

    Args:
        image_path, label_path: the two IDX files, gzip-compressed or plain.
        mode: ``'train'`` or ``'test'``.
        transform: applied to every image.
        download: fetch the files where they are absent.
        backend: ``'pil'`` or ``'cv2'``; default: that of ``set_image_backend``.

    Raises:
        ArgumentError: another mode or backend, one path without the other.
        DataError: the files are absent and can't be downloaded, can't be read, or don't belong together.
        FormatError: a file is damaged, truncated or not in IDX format.
    """

    NAME: ClassVar[str] = "mnist"
    MIRRORS: ClassVar[tuple[str, ...]] = (
        "https://dataset.bj.bcebos.com/mnist/",
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    )
    MD5: ClassVar[dict[str, str]] = {
        "train-images-idx3-ubyte.gz": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "train-labels-idx1-ubyte.gz": "d53e105ee54ea40749a09fcbcd1e9432",
        "t10k-images-idx3-ubyte.gz": "9fb629c4189551a2d022fa330f9573f3",
        "t10k-labels-idx1-ubyte.gz": "ec29112dd5afa0611ce80d1b7f02629c",
    }
    classes: tuple[str, ...] = tuple("0123456789")

    def __init__(
        self,
        image_path: str | os.PathLike[str] | None = None,
        label_path: str | os.PathLike[str] | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, transform, backend)
        if (image_path is None) != (label_path is None):
            raise ArgumentError(
                f"{type(self).__name__}: images and labels belong together: got image_path={image_path!r}, "
                f"label_path={label_path!r}; give both files or none"
            )
        if image_path is None or label_path is None:
            image_path, label_path = self._locate(self.mode, download)
        self.image_path, self.label_path = os.fspath(image_path), os.fspath(label_path)
        self.images, self.labels = read_pair(image_path, label_path)
        if self.labels.max() >= len(self.classes):
            raise DataError(
                f"{self.label_path}: labels must be 0 to {len(self.classes) - 1}: the highest is "
                f"{self.labels.max()}; read other data with IDXFolder"
            )

    @classmethod
    def present(cls, mode: str = "train") -> bool:
        """True where the files of this split lie on this machine, so that nothing would be downloaded."""
        return find_pair(data_folders(cls.NAME), mode) is not None

    @classmethod
    def fetch(cls, mode: str = "train", progress: Progress | None = None) -> tuple[Path, Path]:
        """Downloads the two files of a split into the cache folder (checksummed, atomically); returns their
        paths.

        Raises:
            DataError: no mirror gives them.
            SaveError: the cache folder can't be written.
        """
        names = [name for name in cls.MD5 if name.startswith("train" if mode == "train" else "t10k")]
        folder = cache_folder(cls.NAME)
        paths = [
            download([mirror + name for mirror in cls.MIRRORS], folder / name, cls.MD5[name], progress)
            for name in sorted(names)
        ]
        return paths[0], paths[1]

    @classmethod
    def _locate(cls, mode: str, may_download: bool) -> tuple[Path, Path]:
        folders = data_folders(cls.NAME)
        found = find_pair(folders, mode)
        if found is not None:
            return found
        cause: EngineError | None = None
        if may_download:
            try:
                return cls.fetch(mode)
            except EngineError as error:
                cause = error
        wanted = " and ".join(idx_names(mode, what)[1] for what in ("images", "labels"))
        raise DataError(
            f"{cls.__name__}: the files are not on this machine: looked in {', '.join(map(str, folders))}"
            + (f", and {cause}" if cause else ", and downloading is switched off")
            + f"; put {wanted} (or the same without .gz) into {folders[0]}, or set MODEL_STUDIO_DATA to "
            f"the folder that has them in a subfolder called {cls.NAME}"
        ) from cause


class FashionMNIST(MNIST):
    """Images of clothes in MNIST's format; arguments and errors are those of ``MNIST``."""

    NAME = "fashion-mnist"
    MIRRORS = (
        "https://dataset.bj.bcebos.com/fashion_mnist/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
    )
    MD5: ClassVar[dict[str, str]] = {
        "train-images-idx3-ubyte.gz": "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "train-labels-idx1-ubyte.gz": "25c81989df183df01b3e8a0aad5dffbe",
        "t10k-images-idx3-ubyte.gz": "bef4ecab320f06d8554ea6380940ec79",
        "t10k-labels-idx1-ubyte.gz": "bb300cfdad3c16e7a12a480ee83cd310",
    }
    classes = (
        "T-shirt/top",
        "Trouser",
        "Pullover",
        "Dress",
        "Coat",
        "Sandal",
        "Shirt",
        "Sneaker",
        "Bag",
        "Ankle boot",
    )


class IDXFolder(GreyImages):
    """A folder of one's own with IDX files named as MNIST's, gzip-compressed or plain.

    Known names: ``train-images-idx3-ubyte``, ``train-images.idx3-ubyte``, ``train-images.idx``, the same with
    ``labels`` and ``idx1``; ``t10k`` or ``test`` instead of ``train``; each with or without ``.gz``.

    Raises:
        DataError: the folder or its files are absent, or images and labels don't belong together.
        FormatError: a file is damaged, truncated or not in IDX format.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, transform, backend)
        self.folder = os.fspath(folder)
        found = find_pair([Path(folder)], self.mode)
        if found is None:
            problem = "has no such files" if Path(folder).is_dir() else "is not a folder"
            images, labels = (idx_names(self.mode, what) for what in ("images", "labels"))
            raise DataError(
                f"{self.folder}: no {self.mode} data: this {problem}; it needs {images[0]} and {labels[0]} "
                "(gzip-compressed too)"
            )
        self.image_path, self.label_path = map(os.fspath, found)
        self.images, self.labels = read_pair(*found)
        self.classes = tuple(str(label) for label in range(max(int(self.labels.max()), 9) + 1))
