"""Decoded images in the user's cache folder: photographs are decoded once, not in each epoch.

One file holds the images of one data folder in one form: a head with their shape and a digest of the index,
the pixels, then the index: a key (of name, size and time of modification) and a checksum for each image. What
does not match, whatever wrote it, is decoded again. Files are replaced whole, and those that were not used
for the longest time are deleted first.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np

from engine.core.errors import DataError
from engine.kernels.cpu.cores import cores
from resources.regular_files import open_regular
from resources.replacing import replaced_file
from resources.user_folders import user_folder

LIMIT = 4 << 30
"""Bytes of all files together."""
LARGEST = 2 << 30
"""Bytes of one file; of more images only the keys are stored, and they are decoded when they are read."""
FREE = 1 << 30
"""Bytes that stay free on the disk."""
SUFFIX = ".images"
_MAGIC = b"MSIMAGE1"
_HEAD = struct.Struct("<8s4q16s")  # how many, their shape, digest of the index
_KEY = 16
_MOST = 5_000_000
_CHUNK = 64 << 20  # bytes of images that are decoded at once
_THREADS = 8

Report: TypeAlias = Callable[[int, int], None]
"""Is given how many of how many images were read."""


def cache_folder() -> Path:
    """Where decoded images are stored."""
    return user_folder("cache") / "images"


class DecodedImages:
    """The images of ``files`` below ``folder``, each decoded at least once: uint8 of one ``shape``.

    ``damaged`` says which of them can't be decoded.

    Args:
        form: says how they are decoded; another form, other images.
        decode: gives the image of a number. Raises DataError.
        report: receives the progress.
    """

    def __init__(
        self,
        folder: Path,
        files: Sequence[str],
        form: str,
        shape: tuple[int, ...],
        decode: Callable[[int], np.ndarray],
        report: Report | None = None,
    ) -> None:
        self._shape, self._decode = tuple(shape), decode
        name = hashlib.blake2b(os.fsencode(folder.resolve()) + form.encode(), digest_size=16).hexdigest()
        self._path = cache_folder() / (name + SUFFIX)
        self.damaged = np.zeros(len(files), np.bool_)
        keys = [_key(folder, file) for file in files]
        fits = _fits(self._path, len(files) * int(np.prod(shape)))
        stored = _Stored.read(self._path, self._shape)
        if stored is not None and fits and not stored.has_pixels:
            stored = None
        missing = [index for index, key in enumerate(keys) if stored is None or key not in stored.slots]
        if missing:
            stored = self._extended(stored, keys, missing, fits, report)
        with suppress(OSError):
            os.utime(self._path)
        self._stored = stored
        slots = {} if stored is None else stored.slots
        self._slots = np.asarray([slots.get(key, -1) for key in keys], np.int64)

    def take(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The images of these numbers, and which of them are stored; the others are to be decoded."""
        images = np.zeros((len(indices), *self._shape), np.uint8)
        found = np.zeros(len(indices), np.bool_)
        stored, slots = self._stored, self._slots[indices]
        if stored is None or not stored.has_pixels:
            return images, found
        with suppress(OSError), open_regular(self._path, buffering=0) as file:
            if file.read(_HEAD.size) != stored.head:
                return images, found  # another process has replaced it
            for place in np.argsort(slots, kind="stable"):
                if slots[place] >= 0:
                    found[place] = stored.read_into(file, int(slots[place]), images[place])
        return images, found

    def _extended(
        self, stored: _Stored | None, keys: list[bytes], missing: list[int], fits: bool, report: Report | None
    ) -> _Stored | None:
        """Decode the ``missing`` images, and replace the file by one that has them; None without a file."""
        decoded = self._decoded(missing, len(keys), report)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replaced_file(self._path) as file:
                writer = _Writer(file, self._shape if fits else (0, 0, 0))
                if stored is not None:
                    lost = self._copy(stored, keys, missing, writer)
                    missing.extend(lost)
                for index, image in decoded:
                    if keys[index]:
                        writer.add(keys[index], image)
                writer.finish()
        except OSError:
            for _ in decoded:  # which of them are damaged must be known
                pass
            return stored
        _evict(self._path)
        return _Stored.read(self._path, self._shape)

    def _copy(self, stored: _Stored, keys: list[bytes], missing: list[int], writer: _Writer) -> list[int]:
        """Copy the images that are stored; returns the numbers of those that can't be read any more."""
        lost = []
        image = np.zeros(self._shape, np.uint8)
        others = set(missing)
        with open_regular(self._path, buffering=0) as old:
            for index, key in enumerate(keys):
                if index in others:
                    continue
                if stored.has_pixels and not stored.read_into(old, stored.slots[key], image):
                    lost.append(index)
                else:
                    writer.add(key, image)
        return lost

    def _decoded(
        self, missing: list[int], total: int, report: Report | None
    ) -> Iterator[tuple[int, np.ndarray]]:
        """Each of these images that can be decoded, with its number; the others are marked as damaged."""
        size = max(1, min(256, _CHUNK // max(1, int(np.prod(self._shape)))))
        with ThreadPoolExecutor(min(_THREADS, cores())) as pool:
            begin = 0
            while begin < len(missing):  # it may grow meanwhile
                chunk = missing[begin : begin + size]
                begin += len(chunk)
                # For all threads at once: a filter of warnings is the process's.
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    images = list(pool.map(self._one, chunk))
                for index, image in zip(chunk, images, strict=True):
                    if image is None:
                        self.damaged[index] = True
                    elif image.shape == self._shape:
                        yield index, image
                if report is not None:
                    report(total - len(missing) + begin, total)

    def _one(self, index: int) -> np.ndarray | None:
        try:
            return self._decode(index)
        except DataError:
            return None


@dataclass
class _Stored:
    """The index of a file: where each image is, by its key."""

    head: bytes
    slots: dict[bytes, int]
    checks: np.ndarray
    has_pixels: bool

    @classmethod
    def read(cls, path: Path, shape: tuple[int, ...]) -> _Stored | None:
        """The index of the file at ``path``; None for a file that is absent, damaged or of another shape."""
        try:
            with open_regular(path) as file:
                head = file.read(_HEAD.size)
                if len(head) < _HEAD.size:
                    return None
                magic, count, *stored, digest = _HEAD.unpack(head)
                has_pixels = tuple(stored) == shape
                if magic != _MAGIC or not 0 <= count <= _MOST or not (has_pixels or stored == [0, 0, 0]):
                    return None
                begin = _HEAD.size + count * int(np.prod(stored))
                if os.fstat(file.fileno()).st_size != begin + count * (_KEY + 4):
                    return None
                file.seek(begin)
                index = file.read(count * (_KEY + 4))
        except OSError:
            return None
        if _digest(index) != digest:
            return None
        keys = (index[place : place + _KEY] for place in range(0, count * _KEY, _KEY))
        checks = np.frombuffer(index, "<u4", offset=count * _KEY)
        return cls(head, {key: slot for slot, key in enumerate(keys)}, checks, has_pixels)

    def read_into(self, file: Any, slot: int, image: Any) -> bool:
        """Read the image of this slot; False where it is not what was written."""
        file.seek(_HEAD.size + slot * image.nbytes)
        return bool(
            file.readinto(memoryview(image).cast("B")) == image.nbytes
            and zlib.crc32(image) == self.checks[slot]
        )


class _Writer:
    """Writes a file: images one after another, then the index, then the head."""

    def __init__(self, file: BinaryIO, shape: tuple[int, ...]) -> None:
        self._file, self._shape = file, shape
        self._keys: list[bytes] = []
        self._checks: list[int] = []
        file.write(bytes(_HEAD.size))

    def add(self, key: bytes, image: np.ndarray) -> None:
        """One more image; without a shape only its key."""
        stored: Any = np.ascontiguousarray(image) if self._shape[0] else np.zeros(0, np.uint8)
        self._file.write(memoryview(stored).cast("B"))
        self._keys.append(key)
        self._checks.append(zlib.crc32(stored))

    def finish(self) -> None:
        """Write index and head."""
        index = b"".join(self._keys) + np.asarray(self._checks, "<u4").tobytes()
        self._file.write(index)
        self._file.seek(0)
        self._file.write(_HEAD.pack(_MAGIC, len(self._keys), *self._shape, _digest(index)))


def _digest(index: bytes) -> bytes:
    return hashlib.blake2b(index, digest_size=16).digest()


def _key(folder: Path, file: str) -> bytes:
    """The key of an image file as it is now; empty where there is none."""
    try:
        found = os.lstat(folder / file)
    except (OSError, ValueError):
        return b""
    text = os.fsencode(file) + f"\0{found.st_size}\0{found.st_mtime_ns}".encode()
    return hashlib.blake2b(text, digest_size=_KEY).digest()


def _fits(path: Path, size: int) -> bool:
    """Whether a file of this size may be written."""
    folder = next((each for each in path.parents if each.is_dir()), None)
    if size > LARGEST or folder is None:
        return False
    try:
        return shutil.disk_usage(folder).free - size >= FREE
    except OSError:
        return False


def _evict(new: Path) -> None:
    """Delete the files that were not used for the longest time, while all together exceed the limit."""
    found = []
    for path in new.parent.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime_ns, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= LIMIT:
            return
        if path != new:
            with suppress(OSError):
                path.unlink()
                total -= size
