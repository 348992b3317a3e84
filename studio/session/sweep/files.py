"""The files of a run as bytes, sent to another machine and back; names and sizes are checked both ways."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from engine.core.errors import DataError, InUseError
from engine.files.atomic import atomic_file, make_folder, saving
from resources.locks import LOCK_NAME, Holder, take
from resources.regular_files import read_regular

MOST_BYTES = 2_000_000_000
_MOST_FILES = 1000
_JOURNAL, _PACKED = "journal.jsonl", "run.h5"
_NAME = re.compile(r"journal\.jsonl|run\.h5|checkpoints/(?:step-\d{8,18}|best)\.h5")


def read_run(folder: Path) -> dict[str, bytes]:
    """The journal and the checkpoints of the run in ``folder``, by name; its code is not among them.

    Raises:
        DataError: more than may be sent, or they can't be read.
    """
    names = [_JOURNAL, _PACKED]
    with suppress(OSError):
        names += [f"checkpoints/{name}" for name in os.listdir(folder / "checkpoints")]
    files: dict[str, bytes] = {}
    try:
        paths = [(name, folder / name) for name in names if _NAME.fullmatch(name)]
        paths = [(name, path) for name, path in paths if path.is_file() and not path.is_symlink()]
        _require_modest(len(paths), sum(path.stat().st_size for _, path in paths))
        for name, path in paths:
            files[name] = read_regular(path, MOST_BYTES)
    except OSError as error:
        raise DataError(f"{folder}: can't be read: {error.strerror or error}; copy the run again") from error
    return files


def require_run_files(files: object) -> dict[str, bytes]:
    """``files`` if they are what ``read_run`` gives. Raises DataError."""
    if not isinstance(files, Mapping):
        raise DataError(f"cluster: a trial gave no files: got {type(files).__name__}; look at its log")
    for name, data in files.items():
        if not isinstance(name, str) or not isinstance(data, bytes) or not _NAME.fullmatch(name):
            raise DataError(f"cluster: no file of a run: {name!r:.100}; nothing was written")
    _require_modest(len(files), sum(map(len, files.values())))
    return dict(files)


def _require_modest(count: int, size: int) -> None:
    if count > _MOST_FILES or size > MOST_BYTES:
        raise DataError(
            f"cluster: a run is too large to be sent: {count} files, {size / 1e6:.0f} MB, at most "
            f"{MOST_BYTES / 1e6:.0f} MB; give a smaller --keep"
        )


def write_run(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make the run in ``folder`` what ``files`` says; code that lies there stays.

    Whatever interrupts this leaves a run that can be resumed: the journal reaches as far as the checkpoints.

    Raises:
        SaveError: they can't be written. InUseError: a training works there.
    """
    make_folder(folder / "checkpoints")
    with saving(folder / LOCK_NAME):
        lock = take(folder / LOCK_NAME)
    if isinstance(lock, Holder):
        raise InUseError(
            f"{folder}: a training is running in this folder: {lock}; the trial's result is lost"
        )
    try:
        with saving(folder / _PACKED):
            (folder / _PACKED).unlink(missing_ok=True)
        # The packed journal, which stands for the whole one, comes last.
        for name in sorted(files, key=lambda name: (name == _PACKED, name != _JOURNAL, name)):
            with atomic_file(folder / name) as file:
                file.write(files[name])
        for path in (folder / "checkpoints").iterdir():
            name = f"checkpoints/{path.name}"
            if _NAME.fullmatch(name) and name not in files:
                with saving(path):
                    path.unlink()
    finally:
        lock.release()
