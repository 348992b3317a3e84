"""A file of data that stays open while a training reads from it, piece by piece, in any order.

It is read, not mapped: where a mapped file becomes shorter, the system kills the process that looks at what
is missing. A file that another one replaces is read to the end.
"""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from threading import Lock
from typing import Any

from engine.core.errors import DataError
from engine.files.plain import StrPath
from engine.files.reading import read_error
from resources.regular_files import open_regular


class ShorterError(DataError):
    """The file ends before what it had when it was opened."""


class StoredFile:
    """An open file.

    Raises:
        OSError: it can't be opened, or is not a regular file.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = Path(path)
        with open_regular(path, buffering=0) as file:
            self.length = os.fstat(file.fileno()).st_size
            self._descriptor = os.dup(file.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._lock = Lock()
        if hasattr(os, "posix_fadvise"):
            # With read-ahead, batches of a drawn order took 40 times as long from a disk.
            os.posix_fadvise(self._descriptor, 0, 0, os.POSIX_FADV_RANDOM)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredFile, (self.path,)

    def read(self, place: int, count: int) -> bytearray:
        """``count`` bytes from ``place`` on. Raises as ``read_into``."""
        data = bytearray(count)
        self.read_into(memoryview(data), place)
        return data

    def read_into(self, view: memoryview, place: int) -> None:
        """Fill ``view`` with the bytes from ``place`` on.

        Raises:
            ShorterError: there are fewer. DataError: it can't be read.
        """
        try:
            while len(view):
                count = self._read(view, place)
                if count == len(view):
                    return
                if not count:
                    length = os.fstat(self._descriptor).st_size
                    raise shorter_error(self.path, length, self.length, "bytes")
                view, place = view[count:], place + count
        except OSError as error:
            if isinstance(error, DataError):
                raise
            raise read_error(self.path, error) from error

    if hasattr(os, "preadv"):

        def _read(self, view: memoryview, place: int) -> int:
            return os.preadv(self._descriptor, [view], place)

    else:  # Windows

        def _read(self, view: memoryview, place: int) -> int:
            with self._lock:  # the place is that of all threads
                os.lseek(self._descriptor, place, os.SEEK_SET)
                data = os.read(self._descriptor, len(view))
            view[: len(data)] = data
            return len(data)

    def bytes_from(self, place: int) -> int:
        """How many bytes the file has from ``place`` on now."""
        return max(0, os.fstat(self._descriptor).st_size - place)


def shorter_error(path: StrPath, left: int, before: int, what: str) -> ShorterError:
    """For a file of which a part is missing that was there when it was opened."""
    return ShorterError(
        f"{path} became shorter: {left:,} of {before:,} {what}; restore it, then resume the run"
    )
