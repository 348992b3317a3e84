"""Why the journal of a run can't be read: the run stays in the list, with the reason."""

from __future__ import annotations

from pathlib import Path

from resources.locks import LOCK_NAME, holder_of
from resources.regular_files import open_regular

UNREADABLE = "unreadable"


def unreadable_note(journal: Path, expected: bool) -> str:
    """Why a journal can't be read, or that it is empty; else nothing, also where there is none.

    Args:
        expected: whether the run has written into it. An empty journal is else that of a training which has
            not written yet.
    """
    try:
        with open_regular(journal) as file:
            empty = not file.read(1)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        return f"{journal.name}: can't be read: {error.strerror or error}"
    if not empty or not expected or holder_of(journal.with_name(LOCK_NAME)) is not None:
        return ""
    return f"{journal.name}: it is empty: put a copy of it back, or delete the run"
