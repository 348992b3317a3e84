"""Opens files for reading: only regular files, and no more of them than a limit.

A pipe in the place of a file would block its reader forever, a device would fill the memory, and opening one
may have an effect (a tape rewinds).
"""

from __future__ import annotations

import errno
import io
import os
import stat
from functools import cache
from pathlib import Path
from typing import BinaryIO, TextIO, overload

# Opening a pipe waits for its writer, and a terminal would become that of this process, unless these are
# given; for regular files they mean nothing.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# Files of the kernel have no length before they are read, and some never end.
_KERNEL = (
    "/proc",
    "/sys",
    "/sys/fs/cgroup",
    "/sys/kernel/debug",
    "/sys/kernel/tracing",
    "/sys/kernel/security",
)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
SMALL_FILE = 10_000_000
"""Bytes that a file of settings, text or code may have, where its reader states no limit."""
LARGE_FILE = 16 << 30
"""Bytes that a file of data may have which a reader takes as a whole."""


class NotRegularError(OSError):
    """The path is not a regular file: it is a folder, a pipe, a device, a socket or a file of the kernel."""


@overload
def open_regular(path: str | os.PathLike[str], limit: int | None = None) -> io.BufferedReader: ...
@overload
def open_regular(path: str | os.PathLike[str], limit: int | None = None, *, buffering: int) -> BinaryIO: ...
def open_regular(path: str | os.PathLike[str], limit: int | None = None, *, buffering: int = -1) -> BinaryIO:
    """Open a regular file for reading; a link to one is followed. Nothing else is opened, nor waited for.

    Args:
        path: the file.
        limit: refuse a file of more bytes. A file that grows later is the caller's: :func:`read_regular`.
        buffering: as that of ``open``.

    Raises:
        NotRegularError: it is something else. OSError: it can't be opened, or has more bytes.
    """
    require_regular(path, os.stat(path), limit)
    file = open(  # noqa: SIM115
        path, "rb", buffering, opener=lambda name, flags: os.open(name, flags | _AT_ONCE)
    )
    try:
        require_regular(path, os.fstat(file.fileno()), limit)  # another one may have taken its name
    except OSError:
        file.close()
        raise
    return file


def open_regular_text(
    path: str | os.PathLike[str],
    limit: int | None = None,
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    newline: str | None = None,
) -> TextIO:
    """As :func:`open_regular`, for text."""
    return io.TextIOWrapper(open_regular(path, limit), encoding, errors, newline)


def read_regular(path: str | os.PathLike[str], limit: int = SMALL_FILE) -> bytes:
    """All bytes of a regular file; at most one more than it had when it was opened is read.

    Raises:
        OSError: as :func:`open_regular`, or another program wrote to it meanwhile.
    """
    with open_regular(path, limit) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(size + 1)
    if len(data) != size:
        how = "grew" if len(data) > size else "became shorter"
        raise OSError(errno.EIO, f"it {how} while it was read", os.fspath(path))
    return data


def read_regular_text(
    path: str | os.PathLike[str], limit: int = SMALL_FILE, *, encoding: str = "utf-8", errors: str = "strict"
) -> str:
    """As :func:`read_regular`, as text with ``\\n`` at the end of each line."""
    return io.TextIOWrapper(io.BytesIO(read_regular(path, limit)), encoding, errors).read()


def path_problem(path: str | os.PathLike[str]) -> str:
    """Why the path is not that of a regular file: it does not exist, or is something else. Empty if it is."""
    try:
        require_regular(path, os.stat(path))
    except NotRegularError as error:
        return f"is {error.strerror}"
    except (OSError, ValueError):  # a name that is too long, or with a zero
        return "does not exist"
    return ""


def is_plain_file(path: Path) -> bool:
    """Whether a file lies here itself: no link to one, no pipe, no folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def require_regular(path: str | os.PathLike[str], status: os.stat_result, limit: int | None = None) -> None:
    """Raise as :func:`open_regular` for a path of this status."""
    kind = next((kind for matches, kind in _KINDS if matches(status.st_mode)), "")
    if not kind and status.st_dev in _kernel_devices():
        kind = "a file of the kernel"
    if kind or not stat.S_ISREG(status.st_mode):
        code = errno.EISDIR if stat.S_ISDIR(status.st_mode) else errno.EINVAL
        raise NotRegularError(code, f"{kind or 'something else'}, not a regular file", os.fspath(path))
    if limit is not None and status.st_size > limit:
        raise OSError(
            errno.EFBIG, f"the file has {status.st_size:,} bytes, at most {limit:,} are read", os.fspath(path)
        )


@cache
def _kernel_devices() -> frozenset[int]:
    """The devices of the kernel's file systems; a folder of this name on an ordinary disk doesn't count."""
    found = {_device(name) for name in _KERNEL} - {_device("/"), None}
    return frozenset(device for device in found if device is not None)


def _device(name: str) -> int | None:
    try:
        return os.stat(name).st_dev
    except OSError:
        return None
