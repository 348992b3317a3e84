"""Loads what is selected where it is visible: its Program in the dock and on Graph, its model on Predict."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.graph.program_words import subject_name, why_no_program
from studio.session import commands
from studio.session.session import Session
from studio.windows.agreement_dialog import ask_agreement
from studio.windows.main_window import MainWindow
from widgets.delayed import delayed

LOAD_MS = 150  # who goes through the list loads only where they stay


class SelectionController(QObject):
    """Loads a moment after the selection or the page has changed; says what the dock's Program is of."""

    def __init__(self, session: Session, window: MainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._actions = session, window, actions
        self._loading = delayed(self, LOAD_MS, self.load)
        self._bonds = Bindings()
        for signal in (session.selection.events.item, session.runs_changed):
            self._bonds.follow(signal, lambda _: self._loading.start())
            self._bonds.follow(signal, lambda _: self._show())
        for name in ("program", "subject", "loading", "why_empty", "unagreed"):
            self._bonds.follow(getattr(session.graph.events, name), lambda _: self._show())
        window.pages.currentChanged.connect(lambda _: self._loading.start())
        window.left.visibilityChanged.connect(lambda _: self._loading.start())
        window.project.graph_requested.connect(self.show_program)
        self._bonds.again(self._show, now=True)

    def delay(self, ms: int) -> None:
        """Load so many milliseconds after a change."""
        self._loading.setInterval(ms)

    def load(self) -> None:
        """Load what is selected for what is visible now."""
        page, loader = self._window.current_page(), self._session.loader
        if page == "graph" or self._window.project.shows_program():
            loader.load_program()
        if page == "predict":
            loader.load_model()

    def show_program(self) -> None:
        """What the button offers where a Program is missing."""
        graph = self._session.graph
        if not graph.subject:
            self._actions.trigger(commands.SHOW_GRAPH)
        elif graph.unagreed:
            self.allow()
        else:
            self._session.loader.try_again()
            self.load()

    def allow(self) -> None:
        """Ask whether the code of the selected run may run, which can be read there; then load."""
        code = self._session.loader.code
        if code is None:
            self._allowed()
        else:
            ask_agreement(self._window, code, self._session.new_files(code), self._allowed)

    def _allowed(self) -> None:
        self._session.loader.allow()
        self.load()

    def try_again(self) -> None:
        """Let the model of Predict load or answer again, after what stopped it."""
        if self._session.predict.stopped == "code":
            self.allow()
        elif self._session.predict.stopped == "missing":
            self._session.loader.try_again()
            self.load()
        else:
            self._session.predict_models.try_again()

    def _show(self) -> None:
        self._window.project.show_program_state(subject_name(self._session), *why_no_program(self._session))

    def close(self) -> None:
        """Follow the session no longer."""
        self._loading.stop()
        self._bonds.release()
