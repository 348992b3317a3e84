"""Opens untrusted files: a pipe in the place of a file would block its reader forever."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

# Opening a pipe waits for its writer, unless this is given; for files it means nothing.
_AT_ONCE = getattr(os, "O_NONBLOCK", 0)


def open_regular(path: Path) -> BinaryIO:
    """The file open for reading.

    Raises:
        OSError: it can't be opened, or it is a pipe or a device.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _AT_ONCE))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "a pipe or a device, no file", str(path))
    return file


def is_plain_file(path: Path) -> bool:
    """Whether a file lies here itself: no link to one, no pipe, no folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False
