"""Atomic writing: whatever interrupts a save leaves the old file or the new one, never half of one.

The temporary file lies beside the target, because a rename is atomic only within one file system. It is
flushed and synced, then renamed to the target, and the folder is synced so that the rename survives a power
failure.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engine.core.errors import SaveError
from engine.files.plain import StrPath
from engine.files.reading import FEWER_FILES, TOO_MANY

_TEMPORARY_END = ".tmp"
_STALE_SECONDS = 3600.0

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
# A file system that can't sync a folder says so with one of these; the rename itself has succeeded.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.ENOSYS)


def save_error(path: StrPath, cause: OSError) -> SaveError:
    """The SaveError for ``cause``; the message names the path, the cause and what to do. Keeps ``errno``."""
    path = Path(path)
    values, remedy = _explain(path, cause)
    error = SaveError(f"{path}: could not be saved: {values}; {remedy}. What was there before is unchanged")
    error.errno = cause.errno
    error.filename = str(path)
    return error


def _explain(path: Path, cause: OSError) -> tuple[str, str]:
    reason = cause.strerror or str(cause) or type(cause).__name__
    reason = reason[:1].lower() + reason[1:]
    if cause.errno in _FULL:
        free = ""
        with suppress(OSError):
            free = f" ({shutil.disk_usage(path.parent).free / 1e6:.1f} MB free)"
        return f"{reason}{free}", "free some space or choose a folder on another disk"
    if cause.errno == errno.EFBIG:
        return reason, "raise the limit on file sizes (ulimit -f) or choose another file system"
    if cause.errno in _DENIED:
        return reason, f"choose a folder that you may write to, or give yourself permission on {path.parent}"
    if cause.errno == errno.ENOENT:
        return f"{reason} ({path.parent})", "create the folder first or choose another one"
    if cause.errno in (errno.ENOTDIR, errno.EEXIST):
        return f"{reason} (a part of this path is a file, not a folder)", "choose another folder"
    if cause.errno == errno.EISDIR:
        return f"{reason} (the path is a folder)", "give the name of a file"
    if cause.errno in TOO_MANY:
        return reason, FEWER_FILES
    if cause.errno == errno.ENAMETOOLONG:
        return reason, "choose a shorter name"
    return reason, "check the disk or choose another folder"


@contextmanager
def saving(path: StrPath) -> Iterator[None]:
    """Turn an OSError of the body into a SaveError that names ``path``."""
    try:
        yield
    except SaveError:
        raise
    except OSError as cause:
        raise save_error(path, cause) from cause


def make_folder(path: StrPath) -> Path:
    """Create the folder and its parents if they do not exist; returns the path.

    Raises:
        SaveError: the folder can't be created, or the path names a file.
    """
    with saving(path):
        os.makedirs(path, exist_ok=True)
    return Path(path)


@contextmanager
def atomic_file(path: StrPath) -> Iterator[BinaryIO]:
    """A binary file that replaces ``path`` when the body ends, and is deleted if the body raises.

    A symbolic link stays a link: the file that it points to is replaced. An existing file keeps its mode.

    Raises:
        SaveError: any OSError on the way (full disk, no permission, no such folder, path is a folder).
    """
    with saving(path):
        target = Path(os.path.realpath(path))
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}{_TEMPORARY_END}"
        with durable_file(temporary) as file:
            yield file
        try:
            # There may be no old file, and some file systems have no permission bits.
            with suppress(OSError):
                os.chmod(temporary, os.stat(target).st_mode & 0o7777)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        sync_folder(target.parent)


def atomic_write(path: StrPath, writer: Callable[[BinaryIO], object]) -> None:
    """Write ``path`` atomically with ``writer(file)``. Raises SaveError as :func:`atomic_file`."""
    with atomic_file(path) as file:
        writer(file)


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """Create ``path``, which must not exist; at the end of the body its bytes are on the disk.

    If the body raises, the file is deleted. Raises OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise


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


def remove_stale_temporaries(folder: StrPath) -> list[Path]:
    """Delete temporary files in ``folder`` that are more than an hour old; returns their paths.

    Killed writers leave such files. Younger ones stay: their writer may be alive, perhaps on another machine.
    """
    removed = []
    limit = time.time() - _STALE_SECONDS
    for path in Path(folder).glob(f".*{_TEMPORARY_END}"):
        with suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
                removed.append(path)
    return removed
