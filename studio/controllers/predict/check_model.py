"""Checks of saved models: the command starts one, and the panel next to Predict shows it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.export.check_job import CheckModel
from studio.session.session import Session
from studio.windows.predict.check_panel import CheckPanel


class CheckModelController(QObject):
    """Carries out the command ``check_model`` for the model of the page Predict, or for the last export."""

    def __init__(self, session: Session, panel: CheckPanel, actions: Actions) -> None:
        super().__init__(panel)
        self._session, self._panel, self._actions = session, panel, actions
        self._check = session.model_check
        self._bonds = Bindings()
        actions.handle(commands.CHECK_MODEL, self.start)
        panel.cancel_requested.connect(self._check.cancel)
        self._bonds.follow(self._check.changed, self._show)
        self._bonds.follow(session.export.events.exported_prefix, lambda _: self._show())
        self._bonds.follow(session.selection.events.item, lambda _: self._show())
        self._bonds.show(session.predict, "model", lambda _: self._show())

    def start(self) -> str:
        """Check the model; its page shows the result."""
        self._actions.trigger(commands.PAGE_PREDICT)
        path = self._session.checkable_model
        self._session.selection.select_model(path)
        self._check.start(CheckModel(path))
        return ""

    def _show(self) -> None:
        check, words = self._check, ""
        if check.running:
            words = shown(check.message) or self.tr("Starting…")
        elif isinstance(check.job, CheckModel) and check.job.path == self._session.checkable_model:
            words = self._result()
        self._panel.show_state(check.running, check.progress, words)
        self._actions.refresh()

    def _result(self) -> str:
        check = self._check
        if check.state == "done" and check.result is not None:
            return shown(str(check.result["line"]))
        if check.problem is not None:
            return shown(check.problem.message)
        return self.tr("Cancelled.") if check.state == "cancelled" else ""

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
