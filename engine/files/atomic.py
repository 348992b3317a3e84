"""Atomic writing: a kill, a full disk or a missing permission leaves the old file or the new one, never half
of one.

The temporary file stands beside the target (a rename is atomic only within one file system), is flushed and
synced, takes the target's place by a rename, and then the folder is synced so that the rename survives a
power cut.
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

_TEMPORARY_END = ".tmp"
_STALE_SECONDS = 3600.0

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
# A file system that can't sync a folder says so with one of these; the rename itself has succeeded.
_NO_FOLDER_SYNC = (errno.EINVAL, errno.EBADF, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.ENOSYS)


def save_error(path: str | os.PathLike[str], cause: OSError) -> SaveError:
    """The SaveError for ``cause``: names the path, the cause and what to do; keeps ``errno``."""
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
    if cause.errno == errno.ENAMETOOLONG:
        return reason, "choose a shorter name"
    return reason, "check the disk or choose another folder"


@contextmanager
def saving(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns an OSError of the body into the SaveError that names ``path``."""
    try:
        yield
    except SaveError:
        raise
    except OSError as cause:
        raise save_error(path, cause) from cause


def make_folder(path: str | os.PathLike[str]) -> Path:
    """Creates the folder and its parents where absent.

    Raises:
        SaveError: the folder can't be created, or the path names a file.
    """
    with saving(path):
        os.makedirs(path, exist_ok=True)
    return Path(path)


@contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of ``path`` when the body ends, and vanishes if the body raises.

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
            # There may be no old file, and some file systems have no modes.
            with suppress(OSError):
                os.chmod(temporary, os.stat(target).st_mode & 0o7777)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        sync_folder(target.parent)


def atomic_write(path: str | os.PathLike[str], writer: Callable[[BinaryIO], object]) -> None:
    """Writes ``path`` atomically: ``writer(file)`` fills the temporary file. Raises as
    :func:`atomic_file`."""
    with atomic_file(path) as file:
        writer(file)


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """Creates ``path`` (which must not exist); on leaving, its bytes are on the disk, or the file is gone
    again."""
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
    """Makes renames in ``folder`` survive a power cut, where the system can (Windows has no such call)."""
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


def remove_stale_temporaries(folder: str | os.PathLike[str]) -> list[Path]:
    """Removes what killed writers left in ``folder`` more than an hour ago; returns the removed paths.

    Younger ones stay: they may belong to a writer that is alive, in this process or on another machine.
    """
    removed = []
    limit = time.time() - _STALE_SECONDS
    for path in Path(folder).glob(f".*{_TEMPORARY_END}"):
        with suppress(OSError):
            if path.stat().st_mtime < limit:
                path.unlink()
                removed.append(path)
    return removed
