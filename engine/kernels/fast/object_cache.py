"""Object code of compiled kernels on disk, in a folder that only its owner may write.

A file is 32 bytes of SHA-256 over the key and the code, then the code. A file that does not match, whatever
wrote it, is deleted and compiled again, never executed. Files are replaced whole, so a process that is killed
while it writes leaves the old state. The folder is bounded: those that were not used for the longest time go
first.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
from contextlib import suppress
from pathlib import Path

from resources.replacing import replaced_file, temporary_file
from resources.user_folders import user_folder

LIMIT = 64 << 20
LARGEST = 4 << 20
_CLEANED_TO = 0.75  # of the limit, after a cleaning
_SUFFIX = ".kernel"

_log = logging.getLogger(__name__)


def user_cache() -> ObjectCache | None:
    """The cache of this person; None, and a line in the log, where there is no safe place for one."""
    return private_folder(user_folder("cache") / "kernels")


def private_folder(folder: Path) -> ObjectCache | None:
    """Pieces of code or words in ``folder``; None, and a line in the log, where it is not safe."""
    try:
        return ObjectCache(folder)
    except OSError as error:
        _log.warning(
            "kernels: nothing is cached: %s: %s; each process compiles and measures anew",
            folder,
            error.strerror,
        )
        return None


class ObjectCache:
    """Pieces of code by key, a hexadecimal digest.

    Raises OSError where ``folder`` can't be created, is a link, or can be written by others.
    """

    def __init__(self, folder: Path, limit: int = LIMIT) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _require_private(folder)
        self.folder, self.limit = folder, limit
        self._held: int | None = None  # bytes in the folder, as far as this process knows

    def read(self, key: str) -> bytes | None:
        """The code, checked; None if there is none, or if it was changed."""
        path = self._path(key)
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
            with os.fdopen(descriptor, "rb") as file:
                found = os.fstat(file.fileno())
                if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST or not _ours(found):
                    return None
                content = file.read(LARGEST + 1)
        except OSError:
            return None
        code = content[32:]
        if not code or content[:32] != _seal(key, code):
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # used now
        return code

    def write(self, key: str, code: bytes) -> None:
        """Store the code. If the disk is full or the folder is gone, the code is just not cached."""
        if len(code) + 32 > LARGEST:
            return
        with suppress(OSError), replaced_file(self._path(key)) as file:
            file.write(_seal(key, code) + code)
        self._count(code)

    def keep(self, key: str, code: bytes) -> bytes:
        """Store the code unless another process has stored some, which is returned then."""
        target = self._path(key)
        with suppress(OSError), temporary_file(target) as (file, temporary):
            file.write(_seal(key, code) + code)
            file.flush()
            os.fsync(file.fileno())
            try:
                os.link(temporary, target)
            except FileExistsError:
                return self.read(key) or code
            except OSError:  # a file system without links: the last one stays
                os.replace(temporary, target)
        self._count(code)
        return code

    def _count(self, code: bytes) -> None:
        if self._held is None:
            self._held = sum(size for _, size, _ in self._files())
        else:
            self._held += len(code) + 32
        if self._held > self.limit:
            self._clean()

    def _clean(self) -> None:
        files = sorted(self._files())
        held = sum(size for _, size, _ in files)
        for _, size, path in files:
            if held <= self.limit * _CLEANED_TO:
                break
            with suppress(OSError):
                path.unlink()
                held -= size
        self._held = held

    def _files(self) -> list[tuple[float, int, Path]]:
        """Time of the last use, size and path of each piece of code."""
        found = []
        with suppress(OSError):
            for path in self.folder.glob(f"*{_SUFFIX}"):
                with suppress(OSError):
                    status = path.lstat()
                    found.append((status.st_mtime, status.st_size, path))
        return found

    def _path(self, key: str) -> Path:
        return self.folder / (key + _SUFFIX)


def _seal(key: str, code: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + code).digest()


def _ours(status: os.stat_result) -> bool:
    """Whether this user owns it, and other users may not write it."""
    if not hasattr(os, "getuid"):
        return True  # Windows: a user's folders are private by their access lists
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _require_private(folder: Path) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NotADirectoryError(20, "it is not a folder", str(folder))
    if not _ours(status):
        raise PermissionError(13, "others may write to it: give it to yourself and chmod 700", str(folder))
    if hasattr(os, "getuid") and stat.S_IMODE(status.st_mode) != 0o700:
        folder.chmod(0o700)
