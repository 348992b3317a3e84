"""Lock files: which process works on a folder; the system takes the lock away with the process.

The lock is the kernel's (``flock``, on Windows a locked byte); the text in the file (process, host, start)
only names the holder. A file that a killed process left behind does not count. Where the file system has no
locks the text decides: a holder on another host, or a process that is still there, counts as one until the
file is removed. This module is outside the engine because lists of runs are shown without loading it.

Runs' folders, the files of a model, project files and temporary files are all locked by this code.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from resources.regular_files import require_regular

LOCK_NAME = "run.lock"
_TEXT_BYTES = 1000
_WINDOWS_BYTE = 1 << 20  # beyond the text, which others can't read while it is locked
_TRIES, _PAUSE = 20, 0.01  # one who only looks holds the lock for a moment


@dataclass(frozen=True)
class Holder:
    """Who holds a lock, as its file says; ``pid`` is 0 where that can't be read."""

    pid: int
    host: str
    since: str

    def __str__(self) -> str:
        if not self.pid:
            return "another process"
        return f"process {self.pid} on {self.host} since {self.since}"


class Lock:
    """A lock that this process holds, from :func:`take`."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor: int | None = descriptor

    def release(self, keep: bool = False) -> None:
        """Remove the file unless ``keep`` is true, and release the lock; releasing twice does nothing."""
        if self._descriptor is None:
            return
        descriptor, self._descriptor = self._descriptor, None
        try:
            if sys.platform != "win32" and not keep:
                # While it is held: afterwards the file may be another's.
                with suppress(OSError):
                    self.path.unlink()
            # Not by closing alone: a child process may have inherited the open file.
            with suppress(OSError):
                _unlock(descriptor)
        finally:
            with suppress(OSError):
                os.close(descriptor)
        if sys.platform == "win32" and not keep:
            with suppress(OSError):
                self.path.unlink()  # fails where another has it open


def wait_for(path: Path, seconds: float) -> Lock | Holder:
    """Take the lock at ``path``, waiting up to ``seconds``; return its holder on timeout.

    Raises:
        OSError: the file can't be made or written.
    """
    deadline = time.monotonic() + seconds
    while isinstance(taken := take(path), Holder) and time.monotonic() < deadline:
        pass  # take() itself pauses
    return taken


# A pipe in the place of a lock is not waited for.
_OTHERS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_OWN = os.O_RDWR | os.O_CREAT | _OTHERS


def take(path: Path) -> Lock | Holder:
    """Take the lock at ``path``, or return its holder. Never waits.

    Raises:
        OSError: the file can't be made or written.
    """
    for _ in range(_TRIES):
        descriptor = os.open(path, _OWN, 0o666)
        try:
            require_regular(path, os.fstat(descriptor))
            free = hold(descriptor)
            if free is None:
                holder = _read(descriptor)
                free = not _is_there(holder)
            if free and lies_at(descriptor, path):
                _name_holder(descriptor, path)
                lock, descriptor = Lock(path, descriptor), -1
                return lock
            holder = _read(descriptor)
        finally:
            if descriptor >= 0:
                os.close(descriptor)
        time.sleep(_PAUSE)
    return holder


def _name_holder(descriptor: int, path: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.lseek(descriptor, 0, os.SEEK_SET)
        os.write(descriptor, _text())
    except BaseException:  # interrupted too
        with suppress(OSError):
            path.unlink()
        raise


def holder_of(path: Path) -> Holder | None:
    """The holder of the lock at ``path``; None if it is free or the file does not exist."""
    try:
        descriptor = os.open(path, _OTHERS)
    except OSError:
        return None
    try:
        holder = _read(descriptor)
        free = hold(descriptor, shared=True)
        if free:
            _unlock(descriptor)
        if free is None:
            free = not _is_there(holder)
        return None if free else holder
    except OSError:
        return None
    finally:
        os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def hold(descriptor: int, shared: bool = False) -> bool | None:
        """Whether the open file could be locked until it is closed; None where it has no locks."""
        os.lseek(descriptor, _WINDOWS_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EDEADLK):
                return False
            return None
        return True

    def _unlock(descriptor: int) -> None:
        os.lseek(descriptor, _WINDOWS_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def lies_at(descriptor: int, path: Path) -> bool:
        """Whether the open file still lies at ``path``."""
        return True  # an open file can't be removed there

else:
    import fcntl

    def hold(descriptor: int, shared: bool = False) -> bool | None:
        """Whether the open file could be locked until it is closed; None where it has no locks."""
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
                return None
            raise
        return True

    def _unlock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def lies_at(descriptor: int, path: Path) -> bool:
        """Whether the open file still lies at ``path``: its holder may have removed it meanwhile."""
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(path))
        except FileNotFoundError:
            return False


def _text() -> bytes:
    began = time.strftime("%Y-%m-%d %H:%M:%S")
    return f"pid {os.getpid()}\nhost {_host()}\nsince {began}\n".encode("ascii")


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", socket.gethostname())[:200] or "unknown"


def _read(descriptor: int) -> Holder:
    """The holder that an open lock file names; an unknown one if the text is invalid (another program's
    file)."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    text = os.read(descriptor, _TEXT_BYTES)
    found = re.fullmatch(rb"pid (\d{1,10})\nhost ([\w.-]{1,200})\nsince ([\d :-]{19})\n", text)
    if found is None:
        return Holder(0, "", "")
    pid, host, since = (part.decode("ascii") for part in found.groups())
    return Holder(int(pid), host, since)


def _is_there(holder: Holder) -> bool:
    """Whether the named holder may still be running, on file systems without locks."""
    if not holder.pid or holder.pid == os.getpid():
        return False
    if holder.host != _host() or sys.platform == "win32":
        return True
    try:
        os.kill(holder.pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
