"""The checkpoints of a run: ``step-00000188.h5`` and so on, and ``best.h5`` for the best one."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.core.errors import AbsentError, ArgumentError, DataError, FormatError, NewerVersionError
from engine.files.atomic import make_folder
from engine.files.native.container import read_container, verify_container, write_container
from engine.files.plain import StrPath
from engine.files.reading import read_error
from resources.replacing import remove_abandoned

if TYPE_CHECKING:
    from engine.files.native.index import ContainerIndex

KIND = "checkpoint"
VERSION = 2  # 1: random numbers from the counter-based generator, which read as before
BEST_NAME = "best.h5"
_NAME = re.compile(r"step-(\d{8,18})\.h5")


@dataclass(frozen=True, order=True)
class CheckpointEntry:
    """An existing checkpoint: the step after which it was written, and its path."""

    step: int
    path: Path


@dataclass(frozen=True)
class Skipped:
    """A damaged checkpoint, and what is wrong with it."""

    path: Path
    problem: str


@dataclass(frozen=True)
class Latest:
    """The newest checkpoint with correct hashes, or None, and the newer ones that are damaged."""

    entry: CheckpointEntry | None
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class Pruned:
    """The files that were removed; ``notes`` name those that could not be."""

    removed: tuple[Path, ...]
    notes: tuple[str, ...]


def write_checkpoint(folder: StrPath, step: int, tree: object) -> Path:
    """Write the checkpoint after ``step`` into ``folder``, which is created if absent; returns its path.

    Raises:
        SaveError: the file could not be written; existing checkpoints are unchanged.
        DTypeError, ArgumentError: the tree holds a value that can't be saved, or ``step`` is out of range.
    """
    if not 0 <= step < 10**18:
        raise ArgumentError(f"checkpoint: the step is {step}; give a step from 0 to 10**18")
    path = make_folder(folder) / f"step-{step:08d}.h5"
    write_container(path, KIND, VERSION, tree)
    return path


def write_best(folder: StrPath, tree: object) -> Path:
    """Write ``best.h5`` and return its path; replaces an existing one. Raises as :func:`write_checkpoint`."""
    path = make_folder(folder) / BEST_NAME
    write_container(path, KIND, VERSION, tree)
    return path


def read_checkpoint(path: StrPath) -> Any:
    """The tree of a checkpoint: plain values, whose structure the caller checks.

    Raises:
        DataError: there is no such file, or it can't be read.
        FormatError: damaged, truncated, foreign, or of another kind.
    """
    return read_container(path, KIND, VERSION)


def index_checkpoint(path: StrPath) -> ContainerIndex:
    """A checkpoint that is checked, and of which single arrays are read afterwards. Raises as
    :func:`read_checkpoint`."""
    from engine.files.native.index import index_container  # HDF5 comes with the first file

    return index_container(path, KIND, VERSION)


def list_checkpoints(folder: StrPath) -> list[CheckpointEntry]:
    """The checkpoints in ``folder`` by step, oldest first, without ``best.h5``; empty if it does not exist.

    Raises DataError if the folder can't be read.
    """
    try:
        names = os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as cause:
        raise read_error(folder, cause, "the checkpoints can't be listed") from cause
    matches = (_NAME.fullmatch(name) for name in names)
    return sorted(CheckpointEntry(int(match[1]), Path(folder, match[0])) for match in matches if match)


def latest_checkpoint(folder: StrPath) -> Latest:
    """The newest checkpoint with correct hashes; damaged ones are skipped and named in the notes.

    Raises:
        DataError: the folder, or a newer checkpoint, can't be read now. It may be sound; resuming from an
            older one removes it. NewerVersionError: a newer version of Model Studio wrote one.
    """
    skipped: list[Skipped] = []
    for entry in reversed(list_checkpoints(folder)):
        try:
            verify_container(entry.path)
        except AbsentError:  # removed since it was listed
            continue
        except NewerVersionError:
            raise
        except FormatError as error:
            skipped.append(Skipped(entry.path, str(error)))
            continue
        return Latest(entry, tuple(skipped))
    return Latest(None, tuple(skipped))


def prune_checkpoints(folder: StrPath, keep: int = 3) -> Pruned:
    """Remove all checkpoints that are older than the newest ``keep`` with correct hashes.

    ``best.h5`` stays. Temporary files of killed writers are removed too. Raises ArgumentError for ``keep``
    below 1, DataError if the folder can't be read.
    """
    if keep < 1:
        raise ArgumentError(f"prune_checkpoints: keep is {keep}; keep at least 1")
    sound = 0
    removed: list[Path] = []
    notes: list[str] = []
    for entry in reversed(list_checkpoints(folder)):
        if sound < keep:
            sound += _is_sound(entry)
            continue
        try:
            entry.path.unlink(missing_ok=True)
            removed.append(entry.path)
        except OSError as cause:
            notes.append(
                f"{entry.path}: an old checkpoint could not be removed: {cause.strerror}; remove it yourself"
            )
    removed += remove_abandoned(Path(folder))
    return Pruned(tuple(removed), tuple(notes))


def _is_sound(entry: CheckpointEntry) -> bool:
    try:
        verify_container(entry.path)
    except (FormatError, DataError):
        return False
    return True
