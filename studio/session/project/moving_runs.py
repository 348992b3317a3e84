"""Runs that come along when a project gets a place of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from resources.locks import LOCK_NAME, Holder, Lock, holder_of, take


def move_runs(folders: Collection[Path], target: Path, in_use: Collection[Path] = ()) -> dict[Path, Path]:
    """Move folders of runs and of sweeps into ``target``; returns where those that could be moved are now.

    Only within a file system, so that a run is in one place or the other whatever interrupts this. Runs that
    a process works on, and those of a name that is taken there, stay.

    Raises:
        OSError: ``target`` can't be made.
    """
    moved: dict[Path, Path] = {}
    target.mkdir(parents=True, exist_ok=True)
    for folder in folders:
        place = target / folder.name
        if folder in in_use or place.exists() or folder.is_symlink():
            continue
        with suppress(OSError):
            if _move(folder, place):
                moved[folder] = place
    return moved


def _move(folder: Path, place: Path) -> bool:
    locks: list[Lock] = []
    try:
        for path in (folder, *(path for path in folder.iterdir() if path.is_dir())):
            # Folders of runs and sweeps have their lock there while someone works in them.
            if any(holder_of(file) is not None for file in path.glob("*.lock")):
                return False
        if sys.platform != "win32":  # a folder with an open file in it can't be renamed there
            taken = take(folder / LOCK_NAME)
            if isinstance(taken, Holder):
                return False
            locks.append(taken)
        os.rename(folder, place)
        return True
    finally:
        for lock in locks:
            with suppress(OSError):
                (place / LOCK_NAME).unlink()
            lock.release()
