"""Names of new folders of runs and sweeps, the same from the window, the command line and scripts."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from resources.locks import LOCK_NAME, holder_of

_LONGEST = 100  # characters of a model's name that a folder is called after


def new_run_folder(folder: Path, model: str, static: bool) -> Path:
    """A path in ``folder`` that is not taken: ``lenet-static-001`` and so on. Nothing is made."""
    stem = (
        re.sub(r"[^A-Za-z0-9_-]+", "-", model.rpartition(":")[2] or model)[:_LONGEST].strip("-").lower()
        or "run"
    )
    return _untaken(folder, f"{stem}-{'static' if static else 'eager'}")


def new_sweep_folder(folder: Path) -> Path:
    """A path in ``folder`` that is not taken: ``sweep-001`` and so on. Nothing is made."""
    return _untaken(folder, "sweep")


def remove_unbegun(folder: Path) -> bool:
    """Remove what a training that was killed before it began has left: a folder with nothing but its lock.

    Returns whether there was such a folder.
    """
    with suppress(OSError):
        if [path.name for path in folder.iterdir()] == [LOCK_NAME] and holder_of(folder / LOCK_NAME) is None:
            (folder / LOCK_NAME).unlink(missing_ok=True)
            folder.rmdir()
            return True
    return False


def _untaken(folder: Path, base: str) -> Path:
    taken = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    number = 1
    while f"{base}-{number:03d}" in taken:
        number += 1
    return folder / f"{base}-{number:03d}"
