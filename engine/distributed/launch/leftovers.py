"""What a job that was killed while it started leaves in shared memory, which nothing else would remove."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_SHARED = Path("/dev/shm")


def remove_shared_memory(since: float, folder: Path = _SHARED) -> list[str]:
    """Remove MPICH's files of this user, made since then (seconds since 1970), that no process has open.

    A rank removes the name as soon as all have opened it; a rank that is killed before leaves the file.
    Returns their names.
    """
    mine = []
    with suppress(OSError):  # no such folder
        for path in folder.glob("mpich_*"):
            with suppress(OSError):
                found = path.stat()
                if found.st_uid == os.getuid() and found.st_mtime >= since - 1:
                    mine.append(path)
    if not mine:
        return []
    used = _mapped()
    removed = [path for path in mine if path.name not in used]
    for path in removed:
        path.unlink(missing_ok=True)
    return [path.name for path in removed]


def _mapped() -> set[str]:
    """The names of MPICH's files that processes of this user have in their memory."""
    found = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):  # it has ended, or is another user's
            for line in maps.read_text(encoding="utf-8", errors="replace").splitlines():
                name = line.rpartition("/")[2]
                if name.startswith("mpich_"):
                    found.add(name)
    return found
