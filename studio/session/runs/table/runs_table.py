"""RunsTable: all runs with any setting or result as a column; those that the filter finds, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from psygnal import Signal

from studio.session.runs.runs_folder import Run


class RunsTable:
    """``runs`` are those that the table lists, ``visible`` those that its filter finds, in its order.

    ``changed`` follows each change of either.
    """

    changed: ClassVar = Signal()

    def __init__(self) -> None:
        self.runs: Sequence[Run] = ()
        self.visible: Sequence[Run] = ()

    def set_runs(self, runs: Sequence[Run]) -> None:
        """List these runs."""
        self.runs = self.visible = list(runs)
        self.changed.emit()
