"""A run's checkpoints: ``step-00000188.h5`` for every one, ``best.h5`` for the best; the newest sound one is
found."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.core.errors import ArgumentError, DataError, FormatError
from engine.files.atomic import make_folder, remove_stale_temporaries
from engine.files.container import read_container, verify_container, write_container

KIND = "checkpoint"
VERSION = 1
BEST_NAME = "best.h5"
_NAME = re.compile(r"step-(\d{8,18})\.h5")


@dataclass(frozen=True, order=True)
class CheckpointEntry:
    """A checkpoint that is there: after which step it was written, and its path."""

    step: int
    path: Path


@dataclass(frozen=True)
class Latest:
    """The newest checkpoint whose hashes are right, or None; ``notes`` say what was skipped and why."""

    entry: CheckpointEntry | None
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Pruned:
    """Which files were removed; ``notes`` say which could not be."""

    removed: tuple[Path, ...]
    notes: tuple[str, ...]


def write_checkpoint(folder: str | os.PathLike[str], step: int, tree: Any) -> Path:
    """Writes the checkpoint after ``step`` into ``folder`` (created where absent); returns its path.

    Raises:
        SaveError: it could not be written; the checkpoints that are there are unchanged.
        DTypeError, ArgumentError: the tree holds what can't be saved, or ``step`` is negative.
    """
    if not 0 <= step < 10**18:
        raise ArgumentError(f"checkpoint: the step is {step}; give a step from 0 to 10**18")
    path = make_folder(folder) / f"step-{step:08d}.h5"
    write_container(path, KIND, VERSION, tree)
    return path


def write_best(folder: str | os.PathLike[str], tree: Any) -> Path:
    """Writes ``best.h5``, replacing the one before; returns its path. Raises as :func:`write_checkpoint`."""
    path = make_folder(folder) / BEST_NAME
    write_container(path, KIND, VERSION, tree)
    return path


def read_checkpoint(path: str | os.PathLike[str]) -> Any:
    """The tree of a checkpoint.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, or of another kind.
    """
    return read_container(path, KIND, VERSION)


def list_checkpoints(folder: str | os.PathLike[str]) -> list[CheckpointEntry]:
    """The checkpoints by step, oldest first, without ``best.h5``; empty where there is no such folder."""
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as cause:
        raise DataError(
            f"{folder}: the checkpoints can't be listed: {cause.strerror}; check your permissions on it"
        ) from cause
    matches = (_NAME.fullmatch(name) for name in names)
    return sorted(CheckpointEntry(int(match[1]), Path(folder, match[0])) for match in matches if match)


def latest_checkpoint(folder: str | os.PathLike[str]) -> Latest:
    """The newest checkpoint whose hashes are right; a damaged one is skipped and noted."""
    notes: list[str] = []
    for entry in reversed(list_checkpoints(folder)):
        problem = _problem(entry)
        if problem is None:
            return Latest(entry, tuple(notes))
        notes.append(problem)
    return Latest(None, tuple(notes))


def prune_checkpoints(folder: str | os.PathLike[str], keep: int = 3) -> Pruned:
    """Keeps the newest ``keep`` checkpoints whose hashes are right and all younger than those; removes the
    others.

    ``best.h5`` stays. What writers that were killed more than an hour ago left behind goes too.
    """
    if keep < 1:
        raise ArgumentError(f"prune_checkpoints: keep is {keep}; keep at least 1")
    sound = 0
    removed: list[Path] = []
    notes: list[str] = []
    for entry in reversed(list_checkpoints(folder)):
        if sound < keep:
            sound += _problem(entry) is None
            continue
        try:
            entry.path.unlink(missing_ok=True)
            removed.append(entry.path)
        except OSError as cause:
            notes.append(
                f"{entry.path}: an old checkpoint could not be removed: {cause.strerror}; remove it yourself"
            )
    removed += remove_stale_temporaries(folder)
    return Pruned(tuple(removed), tuple(notes))


def _problem(entry: CheckpointEntry) -> str | None:
    try:
        verify_container(entry.path)
    except (FormatError, DataError) as error:
        return str(error)
    return None
