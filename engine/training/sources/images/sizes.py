"""Sizes and modes of images in files, from their headers alone."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from engine.core.errors import DataError
from engine.training.sources.images.folder import FORMATS, ImageRows
from resources.regular_files import open_regular

if TYPE_CHECKING:
    from engine.training.sources.opening import Source

Size = tuple[int, int]
_SIDES = (8, 16, 24, 32, 48, 64, 96, 128)
_TURNED = (5, 6, 7, 8)  # orientations in which width and height are exchanged
_ORIENTATION = 0x0112


@dataclass
class ImageSizes:
    """What the headers of image files say.

    ``sizes`` counts images by (width, height) as they are displayed, ``modes`` by Pillow's mode (``L``,
    ``RGB``, ``RGBA``, ``P``, ``I;16``, ``CMYK``). ``others`` are files, with their mode, that are converted
    to what a model is fed: grey or red, green, blue of 8 bits. ``unreadable`` names files whose header can't
    be read.
    """

    sizes: Counter[Size] = field(default_factory=Counter)
    modes: Counter[str] = field(default_factory=Counter)
    others: list[tuple[str, str]] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)

    @property
    def distinct(self) -> int:
        """How many different sizes there are."""
        return len(self.sizes)

    @property
    def smallest(self) -> Size:
        """The size with the fewest pixels; (0, 0) where there is none."""
        return min(self.sizes, key=_pixels, default=(0, 0))

    @property
    def largest(self) -> Size:
        """The size with the most pixels."""
        return max(self.sizes, key=_pixels, default=(0, 0))

    @property
    def median(self) -> Size:
        """The median of the widths, and that of the heights."""
        if not self.sizes:
            return (0, 0)
        counts = list(self.sizes.values())
        width, height = (np.median(np.repeat([size[side] for size in self.sizes], counts)) for side in (0, 1))
        return int(width), int(height)

    def suggested_side(self) -> int:
        """The side to resize to: at most the shorter median side, and 128."""
        shorter = min(self.median)
        return max((side for side in _SIDES if side <= shorter), default=_SIDES[0])


class SizesDiffer(DataError):
    """Images of different sizes that are not resized; ``found`` has their sizes."""

    def __init__(self, message: str, found: ImageSizes) -> None:
        super().__init__(message)
        self.found = found
        self.smallest, self.largest, self.median = found.smallest, found.largest, found.median


def image_sizes(source: Source, report: Callable[[int, int], None] | None = None) -> ImageSizes | None:
    """The sizes of all image files of ``source``; None where it is not a folder of images.

    Args:
        report: is given how many of how many were read.
    """
    found = ImageSizes()
    parts = [rows for rows in (source.train, source.test) if isinstance(rows, ImageRows)]
    total, done = sum(map(len, parts)), 0
    for rows in parts:
        for name in rows.files:
            _add_header(found, rows, name)
            done += 1
            if report is not None:
                report(done, total)
    return found if parts else None


def _add_header(found: ImageSizes, rows: ImageRows, name: str) -> None:
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with open_regular(rows.folder / name) as file, Image.open(file, formats=FORMATS) as image:
                width, height = image.size
                turned = "exif" in image.info and image.getexif().get(_ORIENTATION) in _TURNED
                mode = image.mode
    except Exception:  # damaged files make the decoders raise errors of any class
        found.unreadable.append(name)
        return
    found.modes[mode] += 1
    if mode != ("L" if rows.shape[2] == 1 else "RGB"):
        found.others.append((name, mode))
    found.sizes[(height, width) if turned else (width, height)] += 1


def require_one_size(source: Source) -> None:
    """Refuse images of different sizes. Raises SizesDiffer."""
    found = image_sizes(source)
    if found is None or found.distinct < 2:
        return
    raise SizesDiffer(
        f"data {source.name}: images of {found.distinct} different sizes, from {_words(found.smallest)} to "
        f"{_words(found.largest)}: choose Resize (resize), e.g. {found.suggested_side()}",
        found,
    )


def _words(size: Sequence[int]) -> str:
    return f"{size[0]}x{size[1]}"


def _pixels(size: Size) -> Size:
    return size[0] * size[1], size[0]
