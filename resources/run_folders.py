"""Names of new folders of runs and sweeps, the same from the window, the command line and scripts."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from resources.locks import LOCK_NAME, holder_of

NEXT_TRIAL = "trial-next"
"""Instead of a trial's folder: its search chooses the trial when the queue comes to it."""
_LONGEST = 100  # characters of a model's name that a folder is called after
_RUN = re.compile(r"-(?:static|eager)-(\d{3,9})$")


def new_run_folder(folder: Path, model: str, static: bool) -> Path:
    """A path in ``folder`` that is not taken: ``lenet-static-001`` and so on. Nothing is made.

    The runs of all models are counted together, so that the runs of a project that follow each other have
    different numbers, from which their colours come.
    """
    stem = (
        re.sub(r"[^A-Za-z0-9_-]+", "-", model.rpartition(":")[2] or model)[:_LONGEST].strip("-").lower()
        or "run"
    )
    names = _names(folder)
    number = 1 + max((int(found[1]) for name in names if (found := _RUN.search(name))), default=0)
    return folder / f"{stem}-{'static' if static else 'eager'}-{number:03d}"


def new_sweep_folder(folder: Path) -> Path:
    """A path in ``folder`` that is not taken: ``sweep-001`` and so on. Nothing is made."""
    names, number = _names(folder), 1
    while f"sweep-{number:03d}" in names:
        number += 1
    return folder / f"sweep-{number:03d}"


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


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
