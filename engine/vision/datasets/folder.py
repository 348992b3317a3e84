"""Images in folders: a folder a class (``DatasetFolder``), or all below one (``ImageFolder``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import ArgumentError, DataError
from engine.io.dataset import Dataset
from engine.vision.image import get_image_backend, image_load

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def default_loader(path: str) -> Any:
    """The image in red, green, blue: a PIL image, or an array [H, W, 3] with the ``'cv2'`` backend."""
    image = image_load(path, backend="pil").convert("RGB")
    return np.asarray(image) if get_image_backend() == "cv2" else image


class DatasetFolder(Dataset):
    """Items are (image, number of its class); each folder directly below ``root`` is a class.

    Classes are numbered in the order of their names; the images of a class are sorted by path, those in
    folders below it too.

    Args:
        loader: makes an image of a path; by default ``default_loader``.
        extensions: what the names of images end with; by default those of common formats.
        transform: applied to every image.
        is_valid_file: says of a path whether it is an image, instead of ``extensions``.

    Differs from Paddle: ``is_valid_file`` is followed; Paddle 2.6 goes by the extensions all the same.

    Raises:
        DataError: no such folder, or no images in it.
        ArgumentError: ``extensions`` that are not a list.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root = root
        self.extensions = _checked(type(self).__name__, extensions)
        self.loader = loader or default_loader
        self.transform = transform
        folder = _folder(type(self).__name__, root)
        self.classes = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        wanted = is_valid_file or self._is_image
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in _files(folder / name)
            if wanted(path)
        ]
        if not self.samples:
            raise _nothing(type(self).__name__, folder, self.extensions)
        self.targets = [number for _, number in self.samples]

    def _is_image(self, path: str) -> bool:
        return path.lower().endswith(self.extensions)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        return (sample if self.transform is None else self.transform(sample)), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """Items are [image]: all images below ``root``, sorted by path. Arguments as for ``DatasetFolder``.

    Differs from Paddle: ``is_valid_file`` is followed; Paddle 2.6 goes by the extensions all the same.

    Raises:
        DataError: no such folder, or no images in it.
        ArgumentError: ``extensions`` that are not a list.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        loader: Callable[[str], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root = root
        self.extensions = _checked(type(self).__name__, extensions)
        self.loader = loader or default_loader
        self.transform = transform
        folder = _folder(type(self).__name__, root)
        wanted = is_valid_file or (lambda path: path.lower().endswith(self.extensions))
        self.samples = [path for path in _files(folder) if wanted(path)]
        if not self.samples:
            raise _nothing(type(self).__name__, folder, self.extensions)

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)


def _checked(where: str, extensions: Sequence[str] | None) -> tuple[str, ...]:
    if extensions is None:
        return IMG_EXTENSIONS
    if not isinstance(extensions, (list, tuple)):
        raise ArgumentError(f"{where}: `extensions` must be list or tuple: got {extensions!r}")
    return tuple(extension.lower() for extension in extensions)


def _folder(where: str, root: str | os.PathLike[str]) -> Path:
    folder = Path(root).expanduser()
    if not folder.is_dir():
        raise DataError(f"{where}: there is no such folder: {folder}; check the path")
    return folder


def _files(folder: Path) -> Iterator[str]:
    for root, _, names in sorted(os.walk(folder, followlinks=True)):
        for name in sorted(names):
            yield os.path.join(root, name)


def _nothing(where: str, folder: Path, extensions: tuple[str, ...]) -> DataError:
    return DataError(
        f"{where}: Found 0 files in subfolders of: {folder}; put images there, "
        f"Supported extensions are: {','.join(extensions)}"
    )
