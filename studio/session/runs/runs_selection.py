"""RunsSelection: the runs that are selected together, the same ones in the table and in all diagrams."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from psygnal import Signal


class RunsSelection:
    """``folders`` are the selected runs, none where all count alike; ``changed`` follows each change."""

    changed: ClassVar = Signal()

    def __init__(self) -> None:
        self.folders: tuple[str, ...] = ()

    def select(self, folders: Iterable[str]) -> None:
        """Select these runs, and no others."""
        chosen = tuple(dict.fromkeys(folders))
        if set(chosen) != set(self.folders):
            self.folders = chosen
            self.changed.emit()

    def retain(self, folders: Iterable[str]) -> None:
        """Forget selected runs that are not among these, the runs that there still are."""
        listed = set(folders)
        self.select(folder for folder in self.folders if folder in listed)
