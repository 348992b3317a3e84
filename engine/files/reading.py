"""What is said of a file that the system does not let us read: the path, the cause, and what to do."""

from __future__ import annotations

import errno

from engine.core.errors import DataError
from engine.files.plain import StrPath

# No more files can be opened, by this process or by all.
TOO_MANY = (errno.EMFILE, errno.ENFILE)
FEWER_FILES = "close other files and programs, or raise the limit on open files (ulimit -n)"

_REMEDIES = {
    errno.EACCES: "give yourself permission to read it",
    errno.EPERM: "give yourself permission to read it",
    errno.EINVAL: "choose a file",
    errno.EISDIR: "choose a file",
    errno.EFBIG: "choose a smaller file",
    errno.EIO: "check the disk, or take a copy of it",
    errno.EMFILE: FEWER_FILES,
    errno.ENFILE: FEWER_FILES,
}


def read_error(path: StrPath, cause: OSError, what: str = "can't be read") -> DataError:
    """The DataError for ``cause``. Keeps ``errno``."""
    remedy = _REMEDIES.get(cause.errno or 0, "check the disk and your permissions on it")
    error = DataError(f"{path}: {what}: {cause.strerror or cause}; {remedy}")
    error.errno = cause.errno
    error.filename = str(path)
    return error
