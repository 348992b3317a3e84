"""CollectedImages: drawn and corrected images of a project, kept as an image folder that ``load_data``
reads.

``data/collected/`` in the project has a folder a class, a PNG file an image, and ``classes.txt`` with the
order of the classes. To collect is to add one file, so nothing that lies there is ever rewritten; where a
image comes from stands in its file. The data that an image was taken from is never written.
"""

from __future__ import annotations

import hashlib
import io
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from resources.locks import Holder, wait_for
from resources.regular_files import is_plain_file, open_regular

DIGITS = tuple("0123456789")
SOURCE_KEY = "Source"
LARGEST = 8192  # pixels of a side
_WAIT = 5.0  # seconds


@dataclass(frozen=True)
class CollectedImage:
    """One collected image: its file, its class, where it came from (empty where that is not known), and
    whether it has one channel."""

    path: Path
    label: str
    source: str
    grey: bool

    def pixels(self) -> NDArray[np.uint8]:
        """The image, uint8 [H, W] or [H, W, 3]. Raises DataError."""
        from engine.training.sources.images.folder import decode_image

        image = decode_image(self.path, self.grey)
        return image[..., 0] if self.grey else image


class CollectedImages:
    """The collected images in ``folder``, which appears with the first of them.

    Args:
        classes: the classes that there are before an image is collected, so that their numbers are those of
            the data that the images are about.
    """

    def __init__(self, folder: Path, classes: Sequence[str] = DIGITS) -> None:
        self.folder = folder
        self._classes = list(classes)

    def classes(self) -> list[str]:
        """The classes by number. Raises DataError where their list can't be read."""
        from engine.training.sources.images.class_names import read_class_names

        return read_class_names(self.folder) or list(self._classes)

    def collect(self, image: NDArray[np.uint8], label: int | str, source: str = "") -> int:
        """Keep an image; returns how many are kept then.

        The same image is kept once: under another label than before it is a correction, and moves.

        Args:
            image: uint8 [H, W], or [H, W, 3] in red, green, blue.
            label: the name of its class, or its number among ``classes``; a new name is a new class.
            source: where it came from, such as ``drawn`` or ``digits test 17``; of any length below 1000.

        Raises:
            ArgumentError: no such image or class. DataError: the list of classes can't be read, or a link
                is in the way. SaveError: it can't be written. InUseError: another
                process is writing there.
        """
        from engine.core.errors import DataError
        from engine.files.atomic import atomic_write, make_folder
        from engine.training.sources.images.class_names import CLASSES_FILE, class_list, folder_of_class

        data = _png(image, source)
        name = f"{_digest(image)}.png"
        with self._writing():
            known = self.classes()
            label = self._named(label, known)
            target = self.folder / folder_of_class(label) / name
            listed = self.folder / CLASSES_FILE
            linked = next((each for each in (listed, target.parent) if each.is_symlink()), None)
            if linked is not None:
                raise DataError(f"{linked}: a link to elsewhere: {os.readlink(linked)}; remove it")
            if label not in known or not listed.exists():
                if label not in known:
                    known.append(label)
                atomic_write(listed, lambda file: file.write(class_list(known)))
            make_folder(target.parent)
            atomic_write(target, lambda file: file.write(data))
            for other, copy in self._copies(image):
                if other != label:
                    copy.unlink(missing_ok=True)
            return self.count()

    def label_of(self, image: NDArray[np.uint8]) -> str:
        """The class under which the same image is kept; empty where it is not."""
        return next((label for label, path in self._copies(image) if path.exists()), "")

    def discard(self, image: NDArray[np.uint8]) -> None:
        """Keep an image no longer. Raises as ``collect``."""
        from engine.files.atomic import saving

        with self._writing():
            for _, path in self._copies(image):
                with saving(path):
                    path.unlink(missing_ok=True)

    def _copies(self, image: NDArray[np.uint8]) -> list[tuple[str, Path]]:
        """Where the image would be in each class that is a folder here."""
        from engine.training.sources.images.class_names import folder_of_class

        folders = [(label, self.folder / folder_of_class(label)) for label in self.classes()]
        name = f"{_digest(image)}.png"
        return [(label, place / name) for label, place in folders if not place.is_symlink()]

    def remove(self, image: CollectedImage) -> None:
        """Drop an image. Raises SaveError."""
        from engine.files.atomic import saving

        with self._writing(), saving(image.path):
            image.path.unlink(missing_ok=True)

    def count(self) -> int:
        """How many images are kept."""
        return sum(1 for _ in self._files())

    def images(self) -> list[CollectedImage]:
        """All collected images, by class; other files are skipped."""
        from PIL import Image

        from engine.training.sources.images.class_names import class_of_folder
        from engine.training.sources.images.folder import GREY_MODES

        found = []
        unfit = (OSError, ValueError, SyntaxError, Image.DecompressionBombError)
        for path in self._files():
            # Other formats may be called .png; there are some that Pillow starts a program for.
            with warnings.catch_warnings(), suppress(*unfit):
                warnings.simplefilter("ignore")  # how large it may be is checked where it is decoded
                with open_regular(path) as file, Image.open(file, formats=("PNG",)) as image:
                    source, grey = str(image.info.get(SOURCE_KEY, "")), image.mode in GREY_MODES
                    label = class_of_folder(path.parent.name)
                    found.append(CollectedImage(path, label, source, grey))
        return found

    def _files(self) -> Iterator[Path]:
        """The images; links, which may lead anywhere, are not followed."""
        for path in sorted(self.folder.glob("*/*.png")):
            if is_plain_file(path) and not path.parent.is_symlink():
                yield path

    @staticmethod
    def _named(label: int | str, known: Sequence[str]) -> str:
        from engine.core.errors import ArgumentError

        if isinstance(label, str):
            return label.strip()
        if isinstance(label, bool) or not 0 <= label < len(known):
            raise ArgumentError(
                f"collect: no such class: got {label!r}; give a number from 0 to {len(known) - 1}, or a name"
            )
        return known[label]

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Two windows of one project don't write at once."""
        from engine.core.errors import InUseError
        from engine.files.atomic import make_folder, saving

        make_folder(self.folder)
        with saving(self.folder):
            taken = wait_for(self.folder / ".lock", _WAIT)
        if isinstance(taken, Holder):
            raise InUseError(
                f"{self.folder}: images are being collected there by {taken}; try again when that has ended"
            )
        try:
            yield
        finally:
            taken.release()


def _png(image: Any, source: str) -> bytes:
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    from engine.core.errors import ArgumentError

    shape: tuple[int, ...] = getattr(image, "shape", ())
    kind = getattr(image, "dtype", None)
    fits = len(shape) == 2 or (len(shape) == 3 and shape[-1] == 3)
    if kind != np.uint8 or not fits or min(shape) < 1 or max(shape) > LARGEST:
        raise ArgumentError(
            f"collect: not an image: got {kind} {list(shape)}; give uint8 [H, W] or [H, W, 3] with sides up "
            f"to {LARGEST}"
        )
    if len(source) >= 1000:
        raise ArgumentError(f"collect: the source is too long: {len(source)} letters; give fewer than 1000")
    notes = PngInfo()
    notes.add_itxt(SOURCE_KEY, source)
    buffer = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(image)).save(buffer, "PNG", pnginfo=notes)
    return buffer.getvalue()


def _digest(image: NDArray[np.uint8]) -> str:
    whole = repr(image.shape).encode() + np.ascontiguousarray(image).tobytes()
    return hashlib.sha256(whole).hexdigest()[:16]
