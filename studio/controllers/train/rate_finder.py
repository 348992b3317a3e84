"""The learning-rate finder: the command opens its dialog, what is found fills it and can be used."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject

from resources import quantities
from resources.settings.rate import RateSettings
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.session import Session
from studio.session.train.rate_finder import search_title
from studio.windows.main_window import MainWindow
from studio.windows.train.settings_panel import SettingsPanel

if TYPE_CHECKING:
    from studio.windows.train.rate_finder_dialog import RateFinderDialog


class RateFinderController(QObject):
    """Searches with the settings shown; the suggestion goes into the form."""

    def __init__(self, session: Session, window: MainWindow, panel: SettingsPanel, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._panel, self._actions = session, window, panel, actions
        self._view = session.rate_finder.view
        self._dialog: RateFinderDialog | None = None
        self._bonds = Bindings()
        for name in ("state", "rates", "suggestion"):
            self._bonds.follow(getattr(self._view.events, name), lambda _: self._show())
        self._bonds.follow(self._view.events.settings, self._show_settings)
        self._bonds.again(self._show_again)
        actions.handle(commands.FIND_RATE, self.find, explains=True)
        panel.find_rate_requested.connect(lambda: actions.trigger(commands.FIND_RATE))

    def find(self) -> str:
        """Search, after the user's agreement to a file of their own; returns why not where that can't be."""
        reason = self._session.blocked(commands.FIND_RATE)
        if reason and not self._session.rate_finder.searching:
            return reason
        if reason:
            self._open()
        else:
            after_agreement(self._session, self._window, self._find)
        return ""

    def _find(self) -> None:
        self._session.execute(commands.FIND_RATE)
        self._open()

    def _open(self) -> None:
        dialog = self._dialog
        if dialog is None:
            from studio.windows.train.rate_finder_dialog import (
                RateFinderDialog,  # with its plot, which takes long to import
            )

            dialog = self._dialog = RateFinderDialog(self._window)
            dialog.show_settings(self._view.settings)
            dialog.form.changed.connect(self._edited)
            dialog.rate_used.connect(self._use)
            dialog.again_requested.connect(lambda: self._actions.trigger(commands.FIND_RATE))
            dialog.cancel_requested.connect(self._session.rate_finder.cancel)
            dialog.rejected.connect(self._session.rate_finder.cancel)
        dialog.begin(shown(self._view.title or search_title(self._session.train.settings)))
        self._show()
        dialog.show()
        dialog.raise_()
        dialog.activateWindow()

    def _show_again(self) -> None:
        """Show the dialog in another language."""
        if self._dialog is not None:
            self._dialog.begin(shown(self._view.title or search_title(self._session.train.settings)))
            self._show()

    def show_field(self, name: str) -> None:
        """Open the dialog without a search, and go to the field of a setting."""
        self._open()
        assert self._dialog is not None
        self._dialog.form.control(name).setFocus()

    def _edited(self, name: str, value: Any) -> None:
        self._view.settings = replace(self._view.settings, **{name: value})

    def _show_settings(self, settings: RateSettings) -> None:
        if self._dialog is not None:
            self._dialog.show_settings(settings)

    @property
    def dialog(self) -> RateFinderDialog | None:
        """The dialog, once it was opened."""
        return self._dialog

    def _show(self) -> None:
        view, dialog = self._view, self._dialog
        if dialog is None:
            return
        dialog.show_points(view.rates, view.losses, view.smoothed, view.steps)
        done = view.state == "done"
        dialog.show_result(view.state, view.suggestion if done else float("nan"), self._words())

    def _words(self) -> str:
        view, tr = self._view, self.tr
        if view.state == "done" and view.suggestion == view.suggestion:
            found = quantities.found_rate(view.suggestion)
            if view.stopped == "diverged" and view.rates:
                words = tr("At {0} the loss falls fastest. Beyond {1} it diverges.")
                return words.format(found, quantities.found_rate(view.rates[-1]))
            return tr("At {0} the loss falls fastest.").format(found)
        if view.state == "done":
            return tr("No suggestion: {0}").format(shown(view.why))
        if view.state == "cancelled":
            return tr("Stopped. A suggestion needs the whole range.")
        if view.state == "failed" and view.last_problem is not None:
            return shown(view.last_problem.message)
        return ""

    def _use(self, rate: float) -> None:
        self._actions.trigger(commands.PAGE_TRAIN)
        self._panel.form.set_value("learning_rate", float(quantities.found_rate(rate)))
        self._panel.form.drop_entry("learning_rate")
        self._panel.show_field("learning_rate")

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
