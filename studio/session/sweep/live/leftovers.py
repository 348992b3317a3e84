"""What a sweep that was killed leaves of a trial that a worker trained."""

from __future__ import annotations

from pathlib import Path

from resources.locks import LOCK_NAME, holder_of
from studio.session.runs.runs_folder import JOURNAL, latest_checkpoint

MARK = "journal.live"
"""Next to a journal that a worker sent while it trained, before the run itself is there."""


def remove_leftovers(folder: Path) -> None:
    """Remove such a journal: without a checkpoint the trial begins again, in an empty folder.

    Raises OSError.
    """
    mark = folder / MARK
    if not mark.is_file() or holder_of(folder / LOCK_NAME) is not None:
        return
    if not latest_checkpoint(folder)[1]:
        (folder / JOURNAL).unlink(missing_ok=True)
    mark.unlink(missing_ok=True)
