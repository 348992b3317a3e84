"""Image folders: a sub-folder a class, also below train/ and test/, or labels in ``labels.csv``; images are
read
batch by batch."""

from __future__ import annotations

import os
import stat
import threading
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.core.errors import DataError
from engine.files.reading import read_error
from engine.training.sources.images.cache import DecodedImages
from engine.training.sources.images.class_names import CLASSES_FILE, class_of_folder, read_class_names
from engine.training.sources.images.labels import (
    LabelTable,
    UnlabelledImages,
    label_file,
    names_folders,
    ordered_classes,
    read_label_table,
    unlabelled_message,
)
from engine.training.sources.options import DataOptions
from engine.training.sources.preparing.prepare import resized
from engine.training.sources.rows import Rows
from resources.regular_files import open_regular
from resources.settings.data import STORED

if TYPE_CHECKING:
    from PIL.Image import Image as PillowImage

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff", ".webp")
FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")
MOST_FILES = 5_000_000
MOST_VALUES = 40_000_000
"""Pixels times channels of an image; more are not decoded."""
MOST_BYTES = 200_000_000
MOST_REDUCED = 200_000_000
"""The same of an image that is resized; one at a time."""
GREY_MODES = ("1", "L", "LA", "I", "I;16", "I;16B", "I;16L", "F")
_LOOKED_AT = 64
_SPREAD = 256
_one_large = threading.Lock()
TEST_FOLDERS = ("test", "val", "valid", "validation")


def class_folders(folder: Path) -> dict[str, list[str]]:
    """The images below each direct sub-folder, by its name; paths relative to ``folder``, sorted.

    Links are not followed. Raises DataError.
    """
    found: dict[str, list[str]] = {}
    count = 0
    for name in sorted(_entries(folder, folders=True)):
        files = []
        waiting = [name]
        while waiting:
            place = waiting.pop()
            waiting += [f"{place}/{inner}" for inner in _entries(folder / place, folders=True)]
            files += [
                f"{place}/{file}"
                for file in _entries(folder / place, folders=False)
                if file.lower().endswith(SUFFIXES)
            ]
        found[name] = sorted(files)
        count += len(files)
        if count > MOST_FILES:
            raise DataError(f"{folder}: too many images: over {MOST_FILES}; split the folder")
    return found


def _entries(folder: Path, folders: bool) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [
                entry.name
                for entry in entries
                if not entry.name.startswith(".")
                and (entry.is_dir(follow_symlinks=False) if folders else entry.is_file(follow_symlinks=False))
            ]
    except OSError as error:
        raise read_error(folder, error) from error


def has_images(folder: Path) -> bool:
    """Whether a sub-folder of the folder has an image in it, looked for without reading all of it."""
    for name in _entries(folder, folders=True):
        for place, folders, files in os.walk(folder / name):
            folders[:] = [each for each in folders if not os.path.islink(os.path.join(place, each))]
            if any(file.lower().endswith(SUFFIXES) for file in files):
                return True
    return False


def images_in(folder: Path) -> list[str]:
    """The names of the images in the folder itself, sorted; links are not followed."""
    return sorted(name for name in _entries(folder, folders=False) if name.lower().endswith(SUFFIXES))


def labelled_by(folder: Path) -> Path | None:
    """The table that gives the images of a folder their classes, instead of its sub-folders; None where there
    is
    none."""
    path = label_file(folder)
    return path if path is not None and (names_folders(path) or not has_images(folder)) else None


def images_of(folder: Path, table: Path | None) -> list[str]:
    """The images that ``table`` can name: those in the folder itself, and below its sub-folders where it
    names
    such; paths relative to ``folder``, sorted. Links are not followed. Raises DataError."""
    files = images_in(folder)
    if table is not None and names_folders(table):
        files += [file for each in class_folders(folder).values() for file in each]
    return sorted(files)


def open_image_folder(folder: Path, options: DataOptions) -> tuple[Rows, Rows | None, tuple[str, ...]]:
    """The images of a folder: those for training, those for testing where there are ``train`` and ``test``
    (or ``val``) in it, and the classes: by ``classes.txt`` where there is one, else by name.

    Images that ``exclude`` names, by path below the split's folder or by pattern, are omitted. They are grey
    where ``color`` is grey, or auto and all that are looked at are.

    Raises:
        DataError: no images, or a class that ``classes.txt`` does not list.
    """
    names = {name.lower(): name for name in _entries(folder, folders=True)}
    test = next((names[name] for name in TEST_FOLDERS if name in names), None)
    splits = [folder]
    if test is not None and "train" in names and _entries(folder / names["train"], folders=True):
        splits = [folder / names["train"], folder / test]
    found = [class_folders(split) for split in splits]
    listed = read_class_names(folder)
    classes = listed or sorted({class_of_folder(name) for each in found for name in each})
    number = {name: index for index, name in enumerate(classes)}
    for each in found:
        unknown = next(
            (name for name, files in each.items() if files and class_of_folder(name) not in number), None
        )
        if unknown is not None:
            raise DataError(
                f"{folder}: {CLASSES_FILE} does not list the folder {unknown!r}: it has "
                f"{', '.join(classes[:9])}; "
                "write it there, or move the folder away"
            )
    rows = []
    for split, each in zip(splits, found, strict=True):
        samples = [
            (file, number[class_of_folder(name)])
            for name in each
            for file in each[name]
            if not is_excluded(file, options.exclude)
        ]
        files, labels = [file for file, _ in samples], [label for _, label in samples]
        if not files:
            raise DataError(
                f"{split}: there are no images in its sub-folders; put those of each class into a "
                "folder with "
                f"its name, as {', '.join(SUFFIXES[:4])}"
            )
        grey = _is_grey(splits[0], found[0], options)
        rows.append(ImageRows(split, files, np.asarray(labels, np.int64), grey, options.resize, options.fit))
    return rows[0], rows[1] if len(rows) > 1 else None, tuple(classes)


def open_labelled_images(folder: Path, options: DataOptions) -> tuple[Rows, tuple[str, ...], tuple[str, ...]]:
    """The images of a folder whose labels are in ``labels.csv`` there: those with a label, the classes, and
    the names of the images without a label. Images that ``exclude`` names are omitted.

    Raises:
        DataError: the labels can't be read. UnlabelledImages: no image has a label.
    """
    path = label_file(folder)
    files = images_of(folder, path)
    table = read_label_table(path, files) if path is not None else LabelTable.empty(folder)
    labels, classes = table.labels, ordered_classes(folder, table.labels)
    number = {name: index for index, name in enumerate(classes)}
    there = [file for file in files if not is_excluded(file, options.exclude)]
    by_class: dict[str, list[str]] = {name: [] for name in classes}
    for file in there:
        if file in labels:
            by_class[labels[file]].append(file)
    chosen = [file for each in by_class.values() for file in each]
    if not chosen:
        raise UnlabelledImages(unlabelled_message(folder, len(files), path), files)
    grey = _is_grey(folder, by_class, options)
    numbers = np.asarray([number[labels[file]] for file in chosen], np.int64)
    rows = ImageRows(folder, chosen, numbers, grey, options.resize, options.fit)
    return rows, classes, tuple(file for file in there if file not in labels)


def _is_grey(folder: Path, classes: dict[str, list[str]], options: DataOptions) -> bool:
    if options.color != "auto":
        return options.color == "grey"
    return _all_grey(folder, classes, options.kind != STORED)


def is_excluded(file: str, patterns: Sequence[str]) -> bool:
    """Whether the path of an image below its folder is one of the patterns, or fits one."""
    return any(file == pattern or fnmatchcase(file, pattern) for pattern in patterns)


def _all_grey(folder: Path, classes: dict[str, list[str]], spread: bool) -> bool:
    """Whether the first images of the classes are grey; what can't be read says nothing.

    Args:
        spread: look at more of them, all over the classes.
    """
    from PIL import Image

    looked = [files[0] for files in classes.values() if files][:_LOOKED_AT]
    if spread:
        files = [file for each in classes.values() for file in each]
        looked += files[:: max(1, len(files) // _SPREAD)]
    for name in looked:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with open_regular(folder / name) as file, Image.open(file, formats=FORMATS) as image:
                    if image.mode not in GREY_MODES:
                        return False
        except Exception:
            continue
    return True


class ImageRows(Rows):
    """Images in files, each decoded when it is asked for: uint8 [H, W, 1] or [H, W, 3].

    All must have the size of the first that can be read, unless they are resized.
    """

    def __init__(
        self,
        folder: Path,
        files: list[str],
        labels: np.ndarray,
        grey: bool,
        resize: int = 0,
        fit: str = "stretch",
    ) -> None:
        self.folder, self.files, self.labels = folder, files, labels
        self.is_image = True
        self._grey, self._resize, self._fit = grey, resize, fit
        self._decoded: DecodedImages | None = None
        self.shape = self._first_shape()

    def _first_shape(self) -> tuple[int, ...]:
        problem: DataError | None = None
        for index in range(min(len(self.files), _LOOKED_AT)):
            try:
                return self.decode(index).shape
            except DataError as error:
                problem = problem or error
        assert problem is not None
        raise problem

    def where(self, index: int) -> str:
        return self.files[index]

    def read(self, indices: np.ndarray) -> list[np.ndarray]:
        images = [self.decode(int(index)) for index in indices]
        if not self._resize:
            for index, image in zip(indices, images, strict=True):
                if image.shape != self.shape:
                    raise DataError(
                        f"{self.folder / self.files[index]}: another size than the first image: "
                        f"{size_words(image.shape)} instead of {size_words(self.shape)}; choose Resize "
                        "(resize), or remove it"
                    )
        return images

    def read_resized(self, indices: np.ndarray) -> np.ndarray | list[np.ndarray]:
        if self._decoded is None:
            return self.read(indices)
        indices = np.asarray(indices, np.int64)
        images, stored = self._decoded.take(indices)
        others = np.flatnonzero(~stored)
        for place, image in zip(others, self.read(indices[others]), strict=True):
            images[place] = resized(image, self._resize, self._fit) if self._resize else image
        return images

    def find_damaged(self, report: Callable[[int, int], None] | None = None) -> np.ndarray:
        """Which images can't be decoded. All are decoded once, and stored in the user's cache folder."""
        if self._decoded is None:
            shape = (self._resize, self._resize, self.shape[2]) if self._resize else self.shape
            form = f"{'grey' if self._grey else 'rgb'} {self._resize} {self._fit}"
            self._decoded = DecodedImages(self.folder, self.files, form, shape, self._for_cache, report)
        return self._decoded.damaged

    def readable(self, indices: np.ndarray) -> np.ndarray:
        """Those of these images that can be fed together. Raises DataError: there is none."""
        good = []
        problem: DataError | None = None
        for index in indices:
            try:
                self.read(np.asarray([index]))
                good.append(index)
            except DataError as error:
                problem = problem or error
        if problem is not None and not good:
            raise problem
        return np.asarray(good, np.int64)

    def _for_cache(self, index: int) -> np.ndarray:
        image = decode_quietly(self.folder / self.files[index], self._grey, self._resize)
        return resized(image, self._resize, self._fit) if self._resize else image

    def decode(self, index: int) -> np.ndarray:
        """One image, of whatever size. Raises DataError."""
        path = self.folder / self.files[index]
        return decode_image(path, self._grey, self._resize)


def size_words(shape: tuple[int, ...]) -> str:
    """Width and height as people say them: ``640 x 480``."""
    return f"{shape[1]} x {shape[0]}"


def decode_image(path: Path, grey: bool, resize: int = 0) -> np.ndarray:
    """The image in a file, turned as its camera says: uint8 [H, W, 1] where ``grey``, else [H, W, 3].

    Pillow's warnings are not shown: sizes are checked here, and odd metadata is harmless.

    Args:
        resize: a side; a photograph much larger than that is decoded to a part of its size.

    Raises:
        DataError: no regular file, no image, damaged, or with too many pixels.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return decode_quietly(path, grey, resize)


def decode_quietly(path: Path, grey: bool, resize: int) -> np.ndarray:
    """As ``decode_image``, where warnings are ignored already, as threads can't do each for itself."""
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode):
            raise DataError(f"{path}: no regular file; put an image in its place, or remove it")
        if found.st_size > MOST_BYTES:
            raise DataError(f"{path}: too large: {found.st_size} bytes, over {MOST_BYTES}; make it smaller")
        with open_regular(path, MOST_BYTES) as file, Image.open(file, formats=FORMATS) as image:
            if resize:
                image.draft(None, (2 * resize, 2 * resize))  # does nothing unless it is a JPEG
            values, most = image.width * image.height * len(image.getbands()), MOST_VALUES
            if resize:
                most = MOST_REDUCED
            if values > most:
                raise DataError(
                    f"{path}: too many pixels: {image.width} x {image.height}, over {most // 1_000_000} "
                    "million values; make it smaller, or remove it"
                )
            with _one_large if values > MOST_VALUES else nullcontext():
                if values > MOST_VALUES:
                    image = _reduced(image, resize)
                return as_pixels(ImageOps.exif_transpose(image), grey)
    except DataError:
        raise
    except UnidentifiedImageError:
        raise DataError(f"{path}: not an image; replace or remove it") from None
    except Image.DecompressionBombError:
        raise DataError(f"{path}: too many pixels; make it smaller, or remove it") from None
    except Exception as error:  # damaged files make the decoders raise errors of any class
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path}: can't be read: {said}; replace or remove it") from error


def _reduced(image: Any, resize: int) -> Any:
    """A very large image at a part of its size, at least twice the side that it is resized to."""
    factor = max(1, min(image.size) // (2 * resize))
    if image.mode in ("1", "P", "PA"):
        image = image.convert("RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB")
    exif = image.getexif()
    done = image.reduce(factor) if image.mode in ("L", "LA", "RGB", "RGBA", "CMYK", "F", "I") else image
    done.info["exif"] = exif.tobytes()
    return done


def as_pixels(image: PillowImage, grey: bool) -> np.ndarray:
    """A Pillow image of any mode: uint8 [H, W, 1] where ``grey``, else [H, W, 3]; transparent parts on white,
    16 bits as 8."""
    if image.mode.startswith("I") or image.mode == "F":
        deep = np.asarray(image).astype(np.float64)
        most = 65535.0 if deep.max(initial=0) > 255 else 255.0
        flat = np.clip(np.rint(deep * (255.0 / most)), 0, 255).astype(np.uint8)
        return flat[..., None] if grey else np.repeat(flat[..., None], 3, axis=2)
    if image.mode in ("LA", "PA", "RGBA", "La", "RGBa") or "transparency" in image.info:
        from PIL import Image

        clear = image.convert("RGBA")
        ground = Image.new("RGBA", clear.size, (255, 255, 255, 255))
        image = Image.alpha_composite(ground, clear).convert("RGB")
    pixels = np.asarray(image.convert("L" if grey else "RGB"))
    return pixels[..., None] if grey else pixels
