"""Room on a disk: what values will take in a file, and whether there is as much."""

from __future__ import annotations

import errno
import math
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from engine.core.errors import SaveError
from engine.files.atomic import save_error

MEGABYTE = 1_000_000
RESERVE = MEGABYTE
"""Bytes of a disk that no checkpoint takes, so that the journal can still say what happened."""

_FILE, _ARRAY, _VALUE = 8_192, 512, 64


def estimated_bytes(tree: object) -> int:
    """About how long the file of a tree of plain values and arrays becomes; rather more than less."""
    return _FILE + _leaves(tree)


def _leaves(tree: object) -> int:
    if isinstance(tree, Mapping):
        return _VALUE + sum(len(str(name)) + _leaves(value) for name, value in tree.items())
    if isinstance(tree, list | tuple):
        return _VALUE + sum(map(_leaves, tree))
    if isinstance(tree, np.ndarray):
        return _ARRAY + tree.nbytes
    return _VALUE + (len(tree) if isinstance(tree, str | bytes) else 0)


def require_room(path: Path, needed: int) -> None:
    """Refuse to write ``needed`` bytes to ``path`` where its disk would have less than ``RESERVE`` left.

    A disk that does not report its free space is assumed to have room; the write itself then fails if not.

    Raises:
        SaveError: says how much it takes and how much is free. Its ``errno`` is ENOSPC.
    """
    if free_bytes(path.parent) < needed + RESERVE:
        raise save_error(
            path,
            OSError(errno.ENOSPC, f"no room for {megabytes(needed + RESERVE)}, of which 1 MB stays free"),
        )


def free_bytes(folder: Path) -> float:
    """What is free for us on the disk of ``folder``; infinity where it does not say."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return math.inf


def megabytes(count: int) -> str:
    """A number of bytes as people read it."""
    return f"{count / MEGABYTE:{'.1f' if count >= MEGABYTE else '.2g'}} MB"


def over_limit(path: Path, needed: int, limit: int) -> SaveError:
    """The SaveError about a file with which a run would take more than it may."""
    error = SaveError(
        f"{path}: not saved: with it the run would take {megabytes(needed)}, and max_size is "
        f"{megabytes(limit)}; resume with a larger --max-size. What was there before is unchanged"
    )
    error.errno, error.filename = errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC, str(path)
    return error


def used_bytes(paths: list[Path]) -> int:
    """The lengths of those of the files that are there, added up."""
    total = 0
    for path in paths:
        with suppress(OSError):
            total += path.stat().st_size
    return total
