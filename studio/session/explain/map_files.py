"""Maps and activations as files: PNG images, and numbers as CSV and NPY."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.color_map import ABOVE, BELOW, color_parts, map_colors

LEAST_SIDE = 512  # pixels of the longer side of what is written, about
OPACITY = 0.8
# The strongest percent of many values gets the full colour: one pixel alone does not make all others pale.
FULL, MANY = 99.0, 100
# Where nothing was computed.
_ABSENT = (128, 128, 128)


def map_png(image: NDArray[Any], values: NDArray[np.float32]) -> bytes:
    """An image, and next to it the same with a map over it: orange speaks for the answer, blue against it.

    Args:
        image: 0 to 1, [height, width] or [height, width, channels].
        values: [height, width], NaN where nothing was computed.
    """
    pixels = np.clip(np.nan_to_num(np.asarray(image, np.float32)), 0.0, 1.0)
    pixels = np.repeat(pixels[..., None], 3, axis=2) if pixels.ndim == 2 else pixels[..., :3]
    if pixels.shape[2] < 3:
        pixels = np.repeat(pixels[..., :1], 3, axis=2)
    known = np.isfinite(values)
    sizes = np.abs(values[known]).astype(np.float64)
    limit = float(np.percentile(sizes, FULL)) if sizes.size > MANY else 0.0
    limit = limit or float(sizes.max(initial=0.0)) or 1.0
    shares = np.clip(np.where(known, values, 0.0) / limit, -1.0, 1.0)
    color = np.where((shares < 0)[..., None], *(np.array(color_parts(each)) / 255 for each in (BELOW, ABOVE)))
    strength = (np.abs(shares) * OPACITY)[..., None]
    # Pale under the map, so that its colours are seen on white strokes too.
    over = (0.55 * pixels + 0.1) * (1.0 - strength) + color * strength
    over = np.where(known[..., None], over, 0.5 * over + 0.5 * np.array(_ABSENT) / 255)
    gap = np.ones((len(pixels), max(1, pixels.shape[1] // 32), 3))
    return _png(np.concatenate([pixels, gap, over], axis=1))


def channels_png(channels: NDArray[np.float32], low: float | None, high: float | None) -> bytes:
    """Channels [channels, rows, columns] as images in a grid, from dark (low) to bright (high)."""
    palette = np.array([color_parts(color) for color in map_colors(True, 256)], np.uint8)
    begin = low if low is not None else 0.0
    width = (high - begin) if high is not None and high > begin else 1.0
    count, rows, columns = channels.shape
    across = max(1, math.ceil(math.sqrt(count * max(rows, 1) / max(columns, 1))))
    down = math.ceil(count / across)
    gap = max(1, max(rows, columns) // 16)
    grid = np.full((down * (rows + gap) - gap, across * (columns + gap) - gap, 3), 255, np.uint8)
    with np.errstate(invalid="ignore"):
        places = np.clip(np.nan_to_num((channels - begin) / width) * 255, 0, 255).astype(np.uint8)
    for place, channel in enumerate(palette[places]):
        top, left = place // across * (rows + gap), place % across * (columns + gap)
        grid[top : top + rows, left : left + columns] = channel
    return _png(grid / 255.0)


def _png(pixels: NDArray[Any]) -> bytes:
    """[height, width, 3] from 0 to 1; small ones with each pixel as a square of several."""
    from PIL import Image

    scale = max(1, round(LEAST_SIDE / max(pixels.shape[:2])))
    found = np.rint(np.clip(pixels, 0.0, 1.0) * 255).astype(np.uint8)
    found = found.repeat(scale, axis=0).repeat(scale, axis=1)
    file = io.BytesIO()
    Image.fromarray(found).save(file, "PNG")
    return file.getvalue()


def table_csv(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A table with a heading."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(names)
    table.writerows(rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def array_npy(values: NDArray[Any]) -> bytes:
    """An array as an NPY file."""
    file = io.BytesIO()
    np.save(file, values, allow_pickle=False)
    return file.getvalue()


@contextmanager
def files_into(folder: Path) -> Iterator[Callable[[str, bytes], None]]:
    """A function that writes a file by its name; all of them lie in ``folder`` once the body ends, none where
    it raises. Other files stay.

    Raises SaveError, which names the file in the folder.
    """
    from engine.core.errors import SaveError
    from engine.files.atomic import make_folder, save_error, saving
    from engine.files.scratch import folder_next_to

    if folder.exists():
        make_folder(folder)  # refuses a file
    absent = [place for place in folder.parents if not place.exists()]
    make_folder(folder.parent)
    names: list[str] = []

    try:
        with folder_next_to(folder) as work:
            made = make_folder(work / "files")

            def add(name: str, data: bytes) -> None:
                try:
                    write(made / name, data)
                except SaveError as error:
                    if isinstance(error.__cause__, OSError):
                        raise save_error(folder / name, error.__cause__) from error
                    raise
                names.append(name)

            yield add
            with saving(folder):
                if folder.exists():
                    for name in names:
                        os.replace(made / name, folder / name)
                else:
                    os.rename(made, folder)
    except BaseException:
        for place in absent:
            with suppress(OSError):
                place.rmdir()
        raise


def write(path: Path, data: bytes) -> None:
    """Write a file at once. Raises SaveError where it can't be."""
    from engine.files.atomic import atomic_write

    atomic_write(path, lambda file: file.write(data))
