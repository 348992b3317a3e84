"""VOC2012: photographs with the class of every pixel."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from engine.core.errors import DataError, FormatError
from engine.core.values.dtype import default_dtype
from engine.files.data.archives import readable, text_lines
from engine.io.dataset import Dataset
from engine.vision.datasets.chosen import chosen_backend, chosen_mode
from engine.vision.datasets.download import download as fetch
from engine.vision.datasets.locate import cache_folder, data_folders
from engine.vision.image import decoded
from resources.regular_files import open_regular

_ARCHIVE, _MD5 = "VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd"
_MIRROR = "https://dataset.bj.bcebos.com/voc/"
_ROOT = "VOCdevkit/VOC2012"
# The lists that Paddle takes for its modes.
_LISTS = {"train": "trainval", "test": "train", "valid": "val"}
_LIMIT = 1 << 26  # bytes in one image


class VOC2012(Dataset):
    """Items are (image, classes of its pixels), as PIL images, or with the ``'cv2'`` backend as arrays of
    the default dtype; ``transform`` is applied to the image.

    Args:
        data_file: the archive, not compressed; by default the one in ``$MODEL_STUDIO_DATA/voc2012`` or in
            this user's cache folder, else it is downloaded there.
        mode: ``'train'``, ``'valid'`` or ``'test'``.
        transform: applied to every image.
        download: fetch the archive where it is absent.
        backend: ``'pil'`` or ``'cv2'``; default: that of ``set_image_backend``.

    Raises:
        ConditionError: another mode. ArgumentError: another backend.
        DataError: the archive is absent and can't be downloaded.
        FormatError: it is damaged, compressed, or lacks a file.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.flag = _LISTS[chosen_mode("VOC2012", mode, _LISTS)]
        self.backend = chosen_backend("VOC2012", backend)
        self.transform = transform
        self.data_file = os.fspath(_located(download) if data_file is None else data_file)
        self._places = self._members()
        names = f"{_ROOT}/ImageSets/Segmentation/{self.flag}.txt"
        listed = "".join(text_lines(self.data_file, self._read(names))).split()
        self.data = [f"{_ROOT}/JPEGImages/{name}.jpg" for name in listed]
        self.labels = [f"{_ROOT}/SegmentationClass/{name}.png" for name in listed]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        data: Any  # an image of PIL, or an array with cv2
        label: Any
        data, label = (self._image(names[idx]) for names in (self.data, self.labels))
        if self.backend == "cv2":
            data, label = np.array(data), np.array(label)
        if self.transform is not None:
            data = self.transform(data)
        if self.backend == "cv2":
            dtype = default_dtype().name
            return data.astype(dtype), label.astype(dtype)
        return data, label

    def __len__(self) -> int:
        return len(self.data)

    def _members(self) -> dict[str, tuple[int, int]]:
        """Where each file of the archive begins, and how long it is."""
        with (
            readable(f"{self.data_file} (a .tar, not compressed)"),
            open_regular(self.data_file) as opened,
            tarfile.open(fileobj=opened, mode="r:") as archive,
        ):
            return {m.name: (m.offset_data, m.size) for m in archive if m.isfile()}

    def _read(self, name: str) -> bytes:
        """The content of a file; opened anew each time, so that several processes may read."""
        start, size = self._places.get(name, (0, -1))
        if not 0 <= size <= _LIMIT:
            raise FormatError(f"{self.data_file}: it has no file {name!r}; get {_ARCHIVE}")
        with readable(self.data_file), open_regular(self.data_file) as archive:
            archive.seek(start)
            return archive.read(size)

    def _image(self, name: str) -> Image.Image:
        return decoded(io.BytesIO(self._read(name)), f"{self.data_file}: {name}")


def _located(may_download: bool) -> Path:
    folders = data_folders("voc2012")
    for folder in folders:
        if (folder / _ARCHIVE).is_file():
            return folder / _ARCHIVE
    if not may_download:
        raise DataError(
            f"VOC2012: {_ARCHIVE} is not on this machine: looked in {', '.join(map(str, folders))}, and "
            "downloading is switched off; put it there"
        )
    return fetch([_MIRROR + _ARCHIVE], cache_folder("voc2012") / _ARCHIVE, _MD5)
