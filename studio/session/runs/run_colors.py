"""The colour of a run, the same wherever it is shown: the chosen one, else by the number of its folder."""

from __future__ import annotations

import re
import zlib

from studio.session.runs.runs_folder import Run

_NUMBER = re.compile(r"-(\d{1,9})$")


def color_of(run: Run) -> int | str:
    """The place of a run's colour among the run colours, or ``#RRGGBB``."""
    return default_color(run.path) if run.notes.color is None else run.notes.color


def default_color(folder: str) -> int:
    """The place of the colour that the run in a folder has until another is chosen.

    It comes from the folder's name, which never changes: neither another run that begins nor one that is
    deleted changes it.
    """
    name = re.split(r"[/\\]", folder.rstrip("/\\"))[-1]
    number = _NUMBER.search(name)
    return max(int(number[1]) - 1, 0) if number else zlib.crc32(name.encode(errors="replace"))
