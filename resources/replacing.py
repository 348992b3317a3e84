"""Files that are replaced whole: whatever interrupts a writer leaves the old file or the new one.

The temporary file is in the target's folder, because a rename is atomic only within one file system. It is
flushed and synced, then renamed to the target, and the folder is synced so that the rename survives a power
failure. Its writer holds a lock on it, which the system takes away with the process: the next writer removes
what a killed one left, and nothing that a living one works on.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from resources.locks import hold, lies_at

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)
_LONGEST = 140  # bytes of a name that are used; file systems allow 255 in all
_STALE_SECONDS = 3600.0
_TRIES = 20
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_LOOK = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# A file system that can't sync a folder says so with one of these; the rename itself has succeeded.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.ENOSYS)


def hidden_prefix(name: str) -> str:
    """The prefix of hidden files that belong to a file of that name: the name itself, a long one cut and made
    unique by its hash."""
    if len(os.fsencode(name)) <= _LONGEST:
        return name
    return f"{name[:20]}~{hashlib.sha256(os.fsencode(name)).hexdigest()[:32]}"


@contextmanager
def replaced_file(target: Path) -> Iterator[BinaryIO]:
    """A binary file that replaces ``target`` when the body ends, and is deleted if the body raises.

    An existing file keeps its mode. Raises OSError.
    """
    remove_abandoned(target.parent, target.name)
    with temporary_file(target) as (file, temporary):
        yield file
        _finish(file)
        if sys.platform == "win32":
            file.close()  # an open file can't be renamed there
        # There may be no old file, and some file systems have no permission bits.
        with suppress(OSError):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    sync_folder(target.parent)


@contextmanager
def temporary_file(target: Path, mode: int = 0o666) -> Iterator[tuple[BinaryIO, Path]]:
    """A new file in the folder of ``target``, and its path; deleted at the end unless renamed or linked.

    Raises OSError.
    """
    descriptor, path = _new(target, mode)
    moved = False
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file, path
            # Before the file is closed, and the lock with it: afterwards the name may be another's.
            moved = not path.exists()
    finally:
        if not moved:
            with suppress(OSError):
                os.unlink(path)


def _new(target: Path, mode: int) -> tuple[int, Path]:
    for _ in range(_TRIES):
        path = target.with_name(f".{hidden_prefix(target.name)}.{secrets.token_hex(8)}.tmp")
        descriptor = os.open(path, _NEW, mode)
        if sys.platform == "win32":
            return descriptor, path  # a locked byte would block its content
        with suppress(OSError):
            # Between the two calls another writer may have taken the file for abandoned.
            if hold(descriptor) is not False and lies_at(descriptor, path):
                return descriptor, path
        os.close(descriptor)
        with suppress(OSError):
            os.unlink(path)
    raise BlockingIOError(errno.EAGAIN, "another process removes new temporary files", str(target))


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """Create ``path``, which must not exist; at the end of the body its bytes are on the disk.

    If the body raises, the file is deleted. Raises OSError.
    """
    descriptor = os.open(path, _NEW, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            _finish(file)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


def _finish(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make renames in ``folder`` survive a power failure (Windows has no call for it). Raises OSError."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as cause:
        if cause.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(descriptor)


def remove_abandoned(folder: Path, name: str | None = None) -> list[Path]:
    """Delete temporary files in ``folder`` that killed writers left, of the file ``name`` or of any; returns
    their paths.

    Deletes only files that have the name of a temporary file, belong to this user and have no living writer.
    Where the system has no locks (and on Windows), these are the files older than an hour.
    """
    removed = []
    stem = None if name is None else hidden_prefix(name)
    with suppress(OSError):
        for found in os.listdir(folder):
            match = _TEMPORARY.fullmatch(found)
            if match and (stem is None or match[1] == stem) and _remove_if_abandoned(Path(folder, found)):
                removed.append(Path(folder, found))
    return removed


def _remove_if_abandoned(path: Path) -> bool:
    try:
        descriptor = os.open(path, _LOOK)
    except OSError:
        return False
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or (os.name != "nt" and status.st_uid != os.geteuid()):
            return False
        free = None if sys.platform == "win32" else hold(descriptor)
        if free is None:
            free = status.st_mtime < time.time() - _STALE_SECONDS
        if not free or not lies_at(descriptor, path):
            return False
        if sys.platform != "win32":
            os.unlink(path)
            return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    with suppress(OSError):  # an open file can't be removed there
        os.unlink(path)
        return True
    return False
