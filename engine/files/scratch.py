"""Folders for work in progress, and what is said where they can't be made or written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.core.errors import EngineError, SaveError
from engine.files.atomic import saving
from resources.scratch import make_scratch


@contextmanager
def folder_next_to(target: Path) -> Iterator[Path]:
    """An empty folder on the disk of ``target`` for the body, which makes what shall lie there.

    Raises:
        SaveError: it can't be made; names ``target``.
    """
    with saving(target):
        scratch = make_scratch(target.parent, target.name)
    try:
        yield scratch.path
    finally:
        scratch.remove()


@contextmanager
def temporary_folder(where: str) -> Iterator[Path]:
    """An empty folder among the system's temporary files for the body.

    Raises:
        SaveError: it can't be made, or the body can't write to it; begins with ``where``.
    """
    try:
        scratch = make_scratch()
        try:
            yield scratch.path
        finally:
            scratch.remove()
    except EngineError:
        raise
    except OSError as cause:
        place = "nowhere"
        with suppress(OSError):
            place = tempfile.gettempdir()
        tried = os.environ.get("TMPDIR") or os.environ.get("TEMP") or "not set"
        raise SaveError(
            f"{where}: no temporary file could be written: {cause.strerror or cause} (in {place}, TMPDIR is "
            f"{tried}); set TMPDIR to a folder with free space that you may write to"
        ) from cause
