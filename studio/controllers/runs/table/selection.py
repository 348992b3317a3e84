"""SelectionController: the same runs are selected in the table, the diagrams and the list of runs."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.controllers.runs.run_list_controller import QUEUED
from studio.session.session import Session
from studio.windows.runs.runs_list import RunsList
from widgets.column_table import ColumnTable
from widgets.delayed import delayed

MOST_LISTED = 50  # of those that are selected together, so many are drawn on the page Train
SHARE_MS = 150


class SelectionController(QObject):
    """Joins ``session.runs_selection`` to the table and to the list in the left dock.

    A selection of several goes to the list a moment later: the list shows the curves of what is chosen there,
    and a drag over rows changes it many times a second.
    """

    def __init__(self, session: Session, table: ColumnTable, runs: RunsList) -> None:
        super().__init__(table)
        self._session, self._table, self._runs = session, table, runs
        self._sharing = False
        self._later = delayed(self, SHARE_MS, self.share)
        self._bonds = Bindings()
        self._bonds.follow(session.runs_selection.changed, self._selection_changed)
        self._bonds.follow(session.selected_run_changed, lambda _: self.show())
        table.chosen_changed.connect(self._take_table)
        runs.chosen_changed.connect(self._take_list)

    def _take_table(self, folders: Sequence[str]) -> None:
        self._session.runs_selection.select(folders)
        self._later.start()

    def _take_list(self, keys: Sequence[str]) -> None:
        folders = [key for key in keys if not key.startswith(QUEUED)]
        selection = self._session.runs_selection
        if self._sharing or tuple(folders) == selection.folders:
            return
        self._later.stop()
        selection.select(folders if len(folders) > 1 else ())
        self._later.stop()
        self.show()

    def _selection_changed(self) -> None:
        self.show()
        self._later.start()

    def share(self) -> None:
        """Choose the selected runs in the list too, now."""
        self._later.stop()
        chosen, folders = self._runs.chosen(), self._selected()
        if not folders and sum(not key.startswith(QUEUED) for key in chosen) > 1:
            folders = [self._session.selected_run]  # of several that were selected it is still shown
        if not any(folders) or set(folders) == set(chosen):
            return
        self._sharing = True
        if folders[0] in self._runs.keys():  # noqa: SIM118  (a list of runs is not a mapping)
            self._runs.choose(*folders[:MOST_LISTED])
        else:  # its filter leaves it out
            self._session.select_run(folders[0])
        self._sharing = False

    def _selected(self) -> list[str]:
        """The selected runs, the current one of the table first."""
        current = self._table.current()
        folders = self._session.runs_selection.folders
        return sorted(folders, key=lambda folder: folder != current)

    def show(self) -> None:
        """Mark in the table what is selected: several runs, else the selected one."""
        folders = list(self._session.runs_selection.folders)
        selected = self._session.selected_run
        self._table.mark(folders or ([selected] if selected else []), self._table.current())

    def close(self) -> None:
        """Follow the session no longer."""
        self._later.stop()
        self._bonds.release()
