"""The corrections of a project: added, taken back, and kept in a file that others may write too."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from resources.locks import Holder, wait_for

if TYPE_CHECKING:
    from engine.training.corrections import Correction

_WAIT = 5.0  # seconds


class ProjectCorrections:
    """The corrections in a file, which appears with the first of them. Every change is read, made and written
    under a lock, so two windows do not lose each other's."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> list[Correction]:
        """Those in the file, in the order they were made. Raises DataError or FormatError."""
        from engine.core.errors import DataError
        from engine.training.corrections import read_corrections

        if self.path.is_symlink():
            raise DataError(f"{self.path}: a link to elsewhere: {os.readlink(self.path)}; remove it")
        return read_corrections(self.path)[0] if self.path.exists() else []

    def add(self, correction: Correction) -> list[Correction]:
        """Add one; it replaces what was said about the same image. Returns all. Raises as ``read``, or
        SaveError where the file can't be written."""

        def change(found: list[Correction]) -> list[Correction]:
            return [*(each for each in found if _key(each) != _key(correction)), correction]

        return self._change(change)

    def remove(self, correction: Correction) -> list[Correction]:
        """Take one back; returns those that are left. Raises as ``add``."""
        return self._change(lambda found: [each for each in found if _key(each) != _key(correction)])

    def _change(self, change: Callable[[list[Correction]], list[Correction]]) -> list[Correction]:
        from engine.core.errors import InUseError
        from engine.files.atomic import make_folder, saving
        from engine.training.corrections import write_corrections

        make_folder(self.path.parent)
        with saving(self.path):
            taken = wait_for(self.path.with_name(f".{self.path.name}.lock"), _WAIT)
        if isinstance(taken, Holder):
            raise InUseError(f"{self.path}: the corrections are being written by {taken}; try again")
        try:
            changed = change(self.read())
            write_corrections(self.path, changed)
        finally:
            taken.release()
        return changed


def correction_in(corrections: Sequence[Correction], about: Correction) -> Correction | None:
    """The one about the same sample as ``about``; None where there is none."""
    return next((each for each in corrections if _key(each) == _key(about)), None)


def _key(correction: Correction) -> tuple[str, str]:
    return correction.data, correction.sha256
