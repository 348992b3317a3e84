"""Atomic writing: whatever interrupts a save leaves the old file or the new one, never half of one.

:mod:`resources.replacing` does the work; here its errors become a :class:`SaveError` that says what to do.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from engine.core.errors import SaveError
from engine.files.plain import StrPath
from engine.files.reading import FEWER_FILES, TOO_MANY
from resources.replacing import replaced_file, sync_folder

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


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


def make_folder(path: StrPath, mode: int = 0o777) -> Path:
    """Create the folder and its parents if they do not exist, to survive a power failure; returns the path.

    ``mode`` is that of a new folder, before the user's mask; its parents have the usual one.

    Raises:
        SaveError: the folder can't be created, or the path names a file.
    """
    folder = Path(path)
    with saving(path):
        absent = [place for place in (folder, *folder.parents) if not place.exists()]
        os.makedirs(path, mode, exist_ok=True)
        for place in reversed(absent):
            sync_folder(place.parent)
    return folder


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
        with replaced_file(target) as file:
            yield file


def atomic_write(path: StrPath, writer: Callable[[BinaryIO], object]) -> None:
    """Write ``path`` atomically with ``writer(file)``. Raises SaveError as :func:`atomic_file`."""
    with atomic_file(path) as file:
        writer(file)
