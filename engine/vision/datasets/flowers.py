"""Flowers102: photographs of flowers in 102 classes."""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError, FormatError
from engine.core.values.dtype import default_dtype
from engine.files.atomic import atomic_write, make_folder
from engine.files.data.archives import readable
from engine.io.dataset import Dataset
from engine.vision.datasets.chosen import chosen_backend, chosen_mode
from engine.vision.datasets.download import download as fetch
from engine.vision.datasets.locate import cache_folder, data_folders
from engine.vision.datasets.matlab import read_matrices
from engine.vision.image import decoded
from resources.regular_files import open_regular

_MIRROR = "http://paddlemodels.bj.bcebos.com/flowers/"
_FILES = {
    "102flowers.tgz": "52808999861908f626f3c1f4e79d11fa",
    "imagelabels.mat": "e0620be6f572b9609742df49c70aed4d",
    "setid.mat": "a5357ecc9cb78c4bef273ce3793fc85c",
}
# As in Paddle, which trains with the largest of the three sets, the one that its authors call the test set.
_SETS = {"train": "tstid", "test": "trnid", "valid": "valid"}
_IMAGE = re.compile(r"(?:.*/)?(image_\d{5}\.jpg)")
_LIMIT = 1 << 26  # bytes in one photograph


class Flowers(Dataset):
    """Items are (image, class). The image is a PIL image, or with the ``'cv2'`` backend an array of the
    default dtype, and then what ``transform`` makes of it; the class is an int64 array [1] from 1 to 102.

    The photographs are unpacked next to the archive once.

    Args:
        data_file: the archive ``102flowers.tgz``; by default the one in ``$MODEL_STUDIO_DATA/flowers`` or in
            this user's cache folder, else it is downloaded there. So for the two others.
        label_file: ``imagelabels.mat``.
        setid_file: ``setid.mat``, which says what belongs to which set.
        mode: ``'train'``, ``'valid'`` or ``'test'``.
        transform: applied to every image.
        download: fetch the files where they are absent.
        backend: ``'pil'`` or ``'cv2'``; default: that of ``set_image_backend``.

    Raises:
        ConditionError: another mode. ArgumentError: another backend.
        DataError: a file is absent and can't be downloaded.
        FormatError: a file is damaged.
    """

    def __init__(
        self,
        data_file: str | os.PathLike[str] | None = None,
        label_file: str | os.PathLike[str] | None = None,
        setid_file: str | os.PathLike[str] | None = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        wanted = _SETS[chosen_mode("Flowers", mode, _SETS)]
        self.backend = chosen_backend("Flowers", backend)
        self.transform = transform
        archive, labels, sets = (
            Path(given) if given is not None else _located(name, download)
            for given, name in zip((data_file, label_file, setid_file), _FILES, strict=True)
        )
        self.labels = _row(labels, "labels")
        self.indexes = _row(sets, wanted)
        self.data_path = _unpacked(archive)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        number = int(self.indexes[idx])
        path = self.data_path / f"image_{number:05d}.jpg"
        image: Any = decoded(path, str(path))
        if self.backend == "cv2":
            image = np.array(image)
        if self.transform is not None:
            image = self.transform(image)
        if self.backend == "cv2":
            image = image.astype(default_dtype().name)
        return image, np.array([self.labels[number - 1]], np.int64)

    def __len__(self) -> int:
        return len(self.indexes)


def _located(name: str, may_download: bool) -> Path:
    folders = data_folders("flowers")
    for folder in folders:
        if (folder / name).is_file():
            return folder / name
    if not may_download:
        raise DataError(
            f"Flowers: {name} is not on this machine: looked in {', '.join(map(str, folders))}, and "
            "downloading is switched off; put it there"
        )
    return fetch([_MIRROR + name], cache_folder("flowers") / name, _FILES[name])


def _row(path: Path, name: str) -> np.ndarray:
    """The numbers of the matrix ``name`` [1, count] in a file."""
    found = read_matrices(path).get(name)
    if found is None or found.ndim != 2 or len(found) != 1:
        raise FormatError(f"{path}: it has no row of numbers called {name!r}; download it again")
    row: np.ndarray = found[0]
    return row


def _unpacked(archive: Path) -> Path:
    """The folder ``NAME/jpg`` next to ``NAME.tgz``, filled from it unless that was done before."""
    folder = archive.with_suffix("") / "jpg"
    complete = folder / ".complete"
    if complete.exists():
        return folder
    make_folder(folder)
    with readable(str(archive)), open_regular(archive) as packed, tarfile.open(fileobj=packed) as opened:
        for member in opened:
            name = _IMAGE.fullmatch(member.name)
            if name is None or not member.isfile() or not 0 < member.size <= _LIMIT:
                continue
            file = opened.extractfile(member)
            if file is not None:
                (folder / name[1]).write_bytes(file.read())
    atomic_write(complete, lambda file: file.write(b""))
    return folder
