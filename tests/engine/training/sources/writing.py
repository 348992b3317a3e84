"""Small files of every kind of source, as people have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np
from PIL import Image


def images(
    count: int, shape: tuple[int, ...], classes: int = 3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Images of ``classes`` classes that differ in their brightness, and their labels."""
    labels = np.arange(count) % classes
    noise = np.random.default_rng(seed).integers(0, 40, (count, *shape))
    return (noise + 80 * labels.reshape(-1, *[1] * len(shape))).astype(np.uint8), labels


def image_folder(folder: Path, names: Sequence[str] = ("ant", "bee"), count: int = 6, side: int = 8) -> Path:
    """A folder of colour images, a sub-folder a class."""
    for number, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        values, _ = images(count, (side, side, 3), 1, number)
        for index, value in enumerate(values):
            Image.fromarray(value + np.uint8(90 * number)).save(folder / name / f"{index}.png")
    return folder


def npz(path: Path, compressed: bool = False, **arrays: np.ndarray) -> Path:
    """An NPZ file with these arrays."""
    (np.savez_compressed if compressed else np.savez)(path, **arrays)
    return path


def hdf5(
    path: Path, chunks: tuple[int, ...] | None = None, pack: str | None = None, **arrays: np.ndarray
) -> Path:
    """An HDF5 file with these datasets; ``__`` in a name stands for a group."""
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            many = chunks is not None and array.ndim > 1
            file.create_dataset(
                name.replace("__", "/"),
                data=array,
                chunks=chunks if many else None,
                compression=pack if many else None,
                shuffle=many and pack is not None,
                fletcher32=many,
            )
    return path
