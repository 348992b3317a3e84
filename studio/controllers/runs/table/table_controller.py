"""The table of the page Runs: which runs it shows, in which order, with which columns."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.session.session import Session
from studio.windows.runs.table.columns_panel import ColumnsPanel
from studio.windows.runs.table.runs_page import RunsPage


class TableController(QObject):
    """Joins the session's table of runs to the page."""

    def __init__(self, session: Session, page: RunsPage, panel: ColumnsPanel) -> None:
        super().__init__(page)
        self._session, self._page, self._panel = session, page, panel
        self._bonds = Bindings()
        self._bonds.follow(session.runs_changed, session.runs_table.set_runs)
        self._bonds.follow(session.runs_table.changed, self._show)
        session.runs_table.set_runs(session.runs)

    def _show(self) -> None:
        table = self._session.runs_table
        self._page.show_count(len(table.visible), len(table.runs))

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
