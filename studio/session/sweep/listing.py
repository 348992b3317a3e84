"""What a list of runs shows of the trials of a sweep: the sweep's name and what each trial chose."""

from __future__ import annotations

import os
import re
from pathlib import Path

from studio.session.project.project_file import ProjectError
from studio.session.sweep.document import NAME, read_sweep
from studio.session.sweep.parameters import short_text

_TRIAL = re.compile(r"trial-\d{3,4}")


class SweepTexts:
    """What trials chose, in words; a sweep whose file has not changed is not read again."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], dict[str, str]]] = {}
        self._proposed: dict[Path, str] = {}  # not read yet

    def trials(self, folder: Path) -> dict[Path, str] | None:
        """The folders of the trials of the sweep in ``folder``, with what each chose; None without a sweep.

        Where sweep.json can't be read the trials that lie there have no words.
        """
        try:
            stat = os.stat(f"{folder}/{NAME}")  # of every run each second: pathlib would take twice as long
        except (OSError, ValueError):
            return None
        mark = stat.st_mtime_ns, stat.st_size
        before = self._known.get(folder)
        if before is None or before[0] != mark:
            before = self._known[folder] = mark, self._read(folder)
        try:
            found = [path for path in folder.iterdir() if _TRIAL.fullmatch(path.name)]
        except OSError:
            found = []
        return {path: before[1].get(path.name, "") for path in found if not path.is_symlink()}

    def choices(self, trial: Path) -> str:
        """What a trial chose, also before it begins, as its sweep was read last; empty where it was not."""
        known = self._known.get(trial.parent)
        words = "" if known is None else known[1].get(trial.name, "")
        return words or self._proposed.get(trial, "")

    def note(self, trial: Path, choices: str) -> None:
        """A search has just proposed this trial; its sweep is read with the next list."""
        self._proposed[trial] = choices

    @staticmethod
    def _read(folder: Path) -> dict[str, str]:
        try:
            return {trial.name: short_text(trial.choices) for trial in read_sweep(folder).trials}
        except ProjectError:
            return {}
