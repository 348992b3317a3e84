"""The code that a run keeps in source/: its files, and the mark by which its installation knows them.

The mark is a keyed hash of every file there. A stranger has another installation's key, so no run of another
installation has a mark that holds here, and a file that was changed afterwards loses it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Collection
from pathlib import Path

from engine.core.errors import DataError
from engine.files.atomic import atomic_write
from engine.files.installation import installation_key

SOURCE = "source"
MARK_NAME = "source.mark"
_CONTEXT = b"model-studio source of a run 1\0"
# Whatever else a folder holds is read or written as a part of the run, too.
_PARTS = ("journal.jsonl", "run.h5", "checkpoints", "inference", MARK_NAME)


def source_files(run: Path) -> list[Path]:
    """All files in the run's ``source/``, in order; empty where there are none.

    Raises:
        DataError: the folder or something in it is a link, or can't be read. What is behind a link is not
            what was agreed to, so none is followed.
    """
    folder = run / SOURCE
    if _is_link(folder):
        raise _link(folder)
    if not folder.is_dir():
        return []

    def fail(error: OSError) -> None:
        raise DataError(
            f"{error.filename or folder}: the run's code can't be read: {error.strerror or error}; "
            "copy the run again"
        ) from error

    found = []
    for parent, folders, files in os.walk(folder, onerror=fail):
        for name in (*folders, *files):
            path = Path(parent, name)
            if _is_link(path):
                raise _link(path)
        for name in files:
            path = Path(parent, name)
            if not path.is_file():
                raise DataError(f"{path}: no ordinary file among the run's code; remove it")
            found.append(path)
    return sorted(found)


def refuse_links(run: Path) -> None:
    """Refuse a run in which something leads out of its folder: what it names is not the run's.

    Raises:
        DataError: a link in ``source/``, or another part of the run that is a link out of it.
    """
    source_files(run)
    inside = run.resolve()
    checkpoints = run / "checkpoints"
    parts = [run / name for name in _PARTS]
    parts += list(checkpoints.iterdir()) if checkpoints.is_dir() else []
    for path in parts:
        if _is_link(path) and not path.resolve().is_relative_to(inside):
            raise _link(path)


def mark_own(run: Path, written: Collection[Path]) -> None:
    """Mark the code that the run keeps as this installation's, if it is ``written`` and nothing else.

    Raises:
        DataError: as ``source_files``. SaveError: the mark can't be written.
    """
    key = installation_key()
    if key is not None and written and source_files(run) == sorted(written):
        mark = _mark(run, key)
        atomic_write(run / MARK_NAME, lambda file: file.write(mark))


def is_own(run: Path) -> bool:
    """Whether this installation wrote the code that the run keeps, and it is unchanged. Raises DataError."""
    key = installation_key()
    try:
        with (run / MARK_NAME).open("rb") as file:
            mark = file.read(hashlib.sha256().digest_size + 1)
    except OSError:
        return False
    return key is not None and hmac.compare_digest(mark, _mark(run, key))


def _mark(run: Path, key: bytes) -> bytes:
    tag = hmac.new(key, _CONTEXT, hashlib.sha256)
    for path in source_files(run):
        name = path.relative_to(run / SOURCE).as_posix().encode("utf-8", "surrogateescape")
        try:
            content = hashlib.sha256(path.read_bytes()).digest()
        except OSError as error:
            raise DataError(
                f"{path}: the run's code can't be read: {error.strerror or error}; copy the run again"
            ) from error
        tag.update(len(name).to_bytes(8, "big") + name + content)
    return tag.digest()


def _is_link(path: Path) -> bool:
    # is_symlink does not know junctions, Windows' links of folders; they resolve to another place.
    return path.is_symlink() or (os.name == "nt" and path.resolve() != path.parent.resolve() / path.name)


def _link(path: Path) -> DataError:
    try:
        target = os.readlink(path)
    except OSError:
        target = "another place"
    return DataError(
        f"{path}: a link, which a run must not bring along: to {target}; put the file itself there"
    )
