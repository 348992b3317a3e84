"""The learning rate while a training runs: the field next to the page Train changes it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.session import Session
from studio.windows.train.settings_panel import SettingsPanel


class LearningRateController(QObject):
    """Shows the field while there is a rate to change, and carries out what is typed there."""

    def __init__(self, session: Session, panel: SettingsPanel, actions: Actions) -> None:
        super().__init__(panel)
        self._session, self._panel, self._actions = session, panel, actions
        self._bonds = Bindings()
        self._bonds.show(session.train, "state", lambda _: self._show())
        for name in ("learning_rate", "rate_asked"):
            self._bonds.follow(getattr(session.train.events, name), lambda _: self._show())
        panel.rate.rate_chosen.connect(lambda rate: session.execute(commands.CHANGE_RATE, rate=rate))
        actions.handle(commands.CHANGE_RATE, self._go_to_field)

    def _show(self) -> None:
        view, box = self._session.train, self._panel.rate
        shown = view.busy and view.total_steps > 0
        if shown and box.isHidden():
            rate = view.learning_rate
            box.begin(rate if rate == rate else view.settings.learning_rate)
        box.setVisible(shown)
        box.show_rate(view.learning_rate, view.rate_asked)

    def _go_to_field(self) -> str:
        reason = self._session.blocked(commands.CHANGE_RATE)
        if not reason:
            self._actions.trigger(commands.PAGE_TRAIN)
            self._panel.show_control(self._panel.rate.form.control("learning_rate"))
        return reason

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
