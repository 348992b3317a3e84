"""What a power cut leaves: file contents and names of a folder as far as they had been synced.

The strictest reading of POSIX: a file's content is on the disk once the file was synced, a name once its
folder was. Anything else may be there or not.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

from tests.robust.file_operations import Go, Operation

WAYS = ("nothing unsynced", "names only", "some of it")
"""Of what was not synced the disk has nothing; all names but no content; or a part drawn at random."""


# Taken before a test watches it: to look must not count as an operation.
_open, _close = os.open, os.close


def _bytes(path: Path) -> bytes:
    descriptor = _open(path, os.O_RDONLY)
    try:
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    finally:
        _close(descriptor)


class Disk:
    """Follows what happens below ``folder``, all of which is on the disk at first."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._contents: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._folders: set[int] = set()
        self._held: dict[int, int] = {}
        self._written: dict[int, Path] = {}
        for path in (folder, *folder.rglob("*")):
            self._hold(path)
            self._sync(path)

    def carry_out(self, operation: Operation, go: Go) -> Any:
        """Do the operation and note what it leaves on the disk."""
        path = Path(operation.path)
        fresh = operation.kind in ("open", "mkdir") and not os.path.lexists(path)
        result = go()
        if fresh:
            self._hold(path)
        elif operation.kind == "fsync":
            self._sync(path)
        return result

    def image(self, target: Path, way: str, draw: random.Random) -> None:
        """Write what a power cut would leave now into ``target``."""
        self._written = {}
        self._write(os.stat(self._folder).st_ino, target, way, draw, self._places())

    def _hold(self, path: Path) -> None:
        # An open file keeps its number: a later file can't be taken for it.
        descriptor = _open(path, os.O_RDONLY)
        self._held[os.fstat(descriptor).st_ino] = descriptor
        if path.is_dir():
            number = os.stat(path).st_ino
            self._names[number] = {}
            self._folders.add(number)

    def _sync(self, path: Path) -> None:
        number = os.stat(path).st_ino
        if path.is_dir():
            self._names[number] = {entry.name: entry.inode() for entry in os.scandir(path)}
        else:
            self._contents[number] = _bytes(path)

    def _places(self) -> dict[int, Path]:
        return {os.lstat(path).st_ino: path for path in (self._folder, *self._folder.rglob("*"))}

    def _write(
        self, number: int, target: Path, way: str, draw: random.Random, places: dict[int, Path]
    ) -> None:
        now = places.get(number)
        if number in self._written:
            os.link(self._written[number], target)
            return
        if number not in self._folders:
            self._written[number] = target
            target.write_bytes(self._content(number, now, way, draw))
            target.chmod(os.fstat(self._held[number]).st_mode & 0o777)
            return
        target.mkdir()
        names = self._names[number]
        if now is not None and (way == "names only" or (way == "some of it" and draw.random() < 0.5)):
            names = {entry.name: entry.inode() for entry in os.scandir(now)}
        for name, inside in sorted(names.items()):
            self._write(inside, target / name, way, draw, places)

    def _content(self, number: int, now: Path | None, way: str, draw: random.Random) -> bytes:
        synced = self._contents.get(number, b"")
        if way != "some of it" or now is None:
            return synced
        whole = _bytes(now)
        # What was appended since may be there in part; of other changes all that is known is that both exist.
        least = len(synced) if whole.startswith(synced) else 0
        return draw.choice([synced, whole, whole[: draw.randint(least, len(whole))]])
