"""Temporary working folders of a process: next to a file, or among the system's temporary files.

Each holds a lock while its creator lives (:mod:`resources.locks`). Creating the next one of that name in
the same place removes the folders of killed processes, and nothing else.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resources.locks import Holder, Lock, holder_of, take
from resources.replacing import hidden_prefix

_NAME = re.compile(r"\.(.+)\.[0-9a-f]{16}\.work", re.DOTALL)
_LOCK = "lock"
_STALE_SECONDS = 3600.0
_TRIES = 20


@dataclass(frozen=True)
class Scratch:
    """A folder of our own, from :func:`make_scratch`."""

    path: Path
    lock: Lock

    def remove(self) -> None:
        """Remove it with all that is in it; what can't be removed now goes with the next one."""
        _remove(self.path)
        # The lock file is removed last: until then the folder counts as abandoned, even if too many open
        # files or the disk prevented its deletion.
        self.lock.release(keep=not _is_empty(self.path))
        with suppress(OSError):
            self.path.rmdir()


def make_scratch(place: Path | None = None, name: str = "model-studio") -> Scratch:
    """A new folder for work on ``name`` in ``place``; without a place among the system's temporary files.

    Raises:
        OSError: it can't be made there.
    """
    place = Path(tempfile.gettempdir()) if place is None else place
    remove_left(place, name)
    for _ in range(_TRIES):
        path = place / f".{hidden_prefix(name)}.{secrets.token_hex(8)}.work"
        path.mkdir(mode=0o700)
        try:
            lock = take(path / _LOCK)
        except FileNotFoundError:
            continue  # taken for an abandoned one before it was locked
        except OSError:
            shutil.rmtree(path, ignore_errors=True)
            raise
        if not isinstance(lock, Holder):
            return Scratch(path, lock)
    raise BlockingIOError(f"{place}: another process removes new folders")


def remove_left(place: Path, name: str) -> None:
    """Remove the folders for work on ``name`` in ``place`` whose makers were killed."""
    stem = hidden_prefix(name)
    with suppress(OSError):
        for found in os.listdir(place):
            match = _NAME.fullmatch(found)
            if match and match[1] == stem and _is_left(place / found):
                _remove(place / found)
                shutil.rmtree(place / found, ignore_errors=True)


def _remove(folder: Path) -> None:
    """Remove what is in a folder, all but its lock."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            elif path.name != _LOCK:
                with suppress(OSError):
                    path.unlink()


def _is_empty(folder: Path) -> bool:
    """Whether there is nothing but its lock in a folder; False where that can't be seen now."""
    try:
        return set(os.listdir(folder)) <= {_LOCK}
    except OSError:
        return False


def _is_left(path: Path) -> bool:
    try:
        status = path.lstat()
        if not stat.S_ISDIR(status.st_mode) or (os.name != "nt" and status.st_uid != os.geteuid()):
            return False
        if not (path / _LOCK).exists():
            with suppress(OSError):
                # Killed before it was locked, or at its very end. One who makes it just now tries again.
                path.rmdir()
            return status.st_mtime < time.time() - _STALE_SECONDS
        return holder_of(path / _LOCK) is None
    except OSError:
        return False
