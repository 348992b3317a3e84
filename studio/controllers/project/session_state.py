"""What was open when the window was used last: shown again after a start, remembered while it is used."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.controllers.frame import FrameController
from studio.session.predict.model_choice import has_files
from studio.session.project.session_state import SessionState
from studio.session.session import Session
from studio.windows.main_window import MainWindow
from widgets.delayed import delayed

REMEMBER_MS = 1000


class SessionStateController(QObject):
    """Page and runs of the last time; the project is open already, since the window begins with it.

    ``said`` gets what could not be restored, and the kind of that message.
    """

    def __init__(
        self,
        last: SessionState,
        session: Session,
        window: MainWindow,
        frame: FrameController,
        said: Callable[[str, str], object],
    ) -> None:
        super().__init__(window)
        self._said = said
        self._last, self._session, self._window, self._frame = last, session, window, frame
        self._bonds = Bindings()
        self._timer = delayed(self, REMEMBER_MS, self._remember)

    def show(self) -> None:
        """Bring page and runs back, and remember from now on."""
        self._session.model_editor.last_file = self._last.remembered.code
        self._session.project_changed.emit(self._session.project)
        was, runs = self._last.remembered, self._window.project.runs
        listed = runs.keys()
        shown = [folder for folder in (was.selected_run, *was.shown_runs) if folder in listed]
        if shown:
            runs.choose(*shown)
        if was.selected_model:
            self._select_model(was.selected_model)
        self._session.diagrams.choose(**dict(was.diagrams))
        table = self._session.runs_table
        table.remembered = dict(was.tables)
        table.restore(was.tables.get(was.project, table.choices))
        if was.page in self._frame.pages():
            self._frame.show_page(was.page)
        if self._last.trouble is not None:
            self._session.problem.emit(self._last.trouble)
        self._last.done()
        self._bonds.follow(self._session.project_changed, lambda _: self._timer.start())
        self._bonds.follow(self._session.selection.events.item, lambda _: self._timer.start())
        self._bonds.follow(self._session.diagrams.changed, lambda: self._timer.start())
        self._bonds.follow(table.changed, lambda: self._timer.start())
        self._bonds.follow(self._session.model_editor.view.events.file, lambda _: self._timer.start())
        runs.chosen_changed.connect(lambda _: self._timer.start())
        self._window.pages.currentChanged.connect(lambda _: self._timer.start())

    def _select_model(self, prefix: str) -> None:
        """Select a saved model if its files still exist; it loads where a page shows it."""
        selection = self._session.selection
        before = selection.item

        def take(found: bool) -> None:
            if selection.item != before:
                return
            if found:
                selection.select_model(prefix)
            else:
                self._said(
                    self.tr("The model that was selected last was not found: {0}").format(prefix), "warn"
                )

        self._session.files.reading.do(lambda: has_files(prefix), take, "model selected last")

    def _remember(self) -> None:
        window = self._window
        session, shown = self._session, window.project.runs.chosen()
        editor = session.model_editor
        file = editor.view.file or editor.last_file
        self._last.keep(
            window.current_page(),
            shown,
            session.selection.item,
            session.diagrams.choices,
            file,
            session.runs_table,
        )

    def close(self) -> None:
        """Remember what is open at the end."""
        self._timer.stop()
        self._bonds.release()
        self._remember()
