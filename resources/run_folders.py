"""Names of new folders of runs and sweeps, the same from the window, the command line and scripts."""

from __future__ import annotations

import re
from pathlib import Path

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


def _untaken(folder: Path, base: str) -> Path:
    taken = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    number = 1
    while f"{base}-{number:03d}" in taken:
        number += 1
    return folder / f"{base}-{number:03d}"
