"""ContainerIndex: a container file that was checked once, of which single arrays are read afterwards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from engine.core.errors import DataError
from engine.files.native.checked import Expected, decode, load_checked, opened
from engine.files.native.image import ArrayPlace
from engine.files.native.installation import installation_key
from engine.files.native.tree import TreeError, from_stored, storage_dtype
from engine.files.plain import Array, StrPath
from engine.files.untrusted import guarded


@dataclass(frozen=True)
class ContainerIndex:
    """A file with its ``tree``, in which an :class:`ArrayPlace` is in place of each array.

    ``length`` and ``changed`` (nanoseconds) recognize the file that was checked.
    """

    path: Path
    tree: Any
    length: int
    changed: int

    def read(self, place: ArrayPlace) -> Array:
        """One array, of which nothing else is read.

        Raises:
            DataError: there is no such file any more, it can't be read, or it is another one now.
        """
        stored = storage_dtype(np.dtype(place.dtype))
        with opened(self.path) as (file, length):
            found = os.fstat(file.fileno()).st_mtime_ns
            if (length, found) != (self.length, self.changed):
                raise self._another()
            file.seek(place.offset)
            content = bytearray(file.read(place.size))
        if len(content) != place.size:
            raise self._another()
        array = np.frombuffer(content, stored) if content else np.empty(0, stored)
        try:
            return from_stored(array.reshape(place.shape), np.dtype(place.dtype))
        except TreeError as error:
            raise self._another() from error

    def _another(self) -> DataError:
        return DataError(f"{self.path}: the file was replaced since it was checked; read it again")


def index_container(path: StrPath, kind: str, max_version: int) -> ContainerIndex:
    """Check a file as :func:`engine.files.native.container.read_container` does, and find out where its
    arrays are; no array is held afterwards.

    Raises as that function.
    """
    expected = Expected(Path(path), kind, max_version)
    with opened(expected.path) as (file, length):
        changed = os.fstat(file.fileno()).st_mtime_ns
    block, data = load_checked(expected.path)
    own = block.is_signed_with(installation_key())
    if not own:
        guarded.check([guarded.Suspect(expected, block, len(data))])
    tree = decode(expected, block, data, own, places=True).tree
    return ContainerIndex(expected.path, tree, length, changed)
