"""Suggested settings on the page Train: the command, each choice with its reason, and which models fit."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject

from resources import quantities
from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.session import Session
from studio.session.train.run_settings import RunSettings, title_of_setting
from studio.session.train.suggest.choice_view import ChoiceView
from studio.session.train.suggest.fitting_models import model_problems
from studio.windows.main_window import MainWindow
from studio.windows.train.settings_panel import SettingsPanel
from widgets.delayed import delayed

# Settings are often typed: what would be suggested is asked when that has paused.
TYPING_MS = 300


class SuggestionsController(QObject):
    """Joins ``session.suggestions`` to the panel with the settings."""

    def __init__(self, session: Session, window: MainWindow, panel: SettingsPanel, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._panel = session, window, panel
        self._view = session.suggestions.view
        self._actions = actions
        self._bonds = Bindings()
        self._bonds.show_any(self._view, ("working", "choices", "seconds", "message"), self._show)
        self._data = session.train.settings.data
        self._expecting = delayed(self, TYPING_MS, self._expect)
        self._bonds.follow(session.train.events.settings, self._settings_changed)
        self._bonds.follow(session.data.events.facts, lambda _: self._expecting.start())
        self._bonds.follow(session.project_opened, self._project_opened)
        for signal in (session.train.events.settings, session.data.events.facts, self._view.events.models):
            self._bonds.follow(signal, lambda _: self._show_fitting())
        actions.handle(commands.SUGGEST, self.suggest)
        self._bonds.again(self._show_fitting)
        panel.suggest_requested.connect(lambda: actions.trigger(commands.SUGGEST))

    def suggest(self) -> str:
        """Suggest settings, after the user's agreement to a model file of their own."""
        reason = self._session.blocked(commands.SUGGEST)
        if not reason:
            suggest = lambda: self._session.execute(commands.SUGGEST)  # noqa: E731
            after_agreement(self._session, self._window, suggest)
        return reason

    def _project_opened(self) -> None:
        """The data of a project is read where it is wanted; that can take long."""
        self._data = self._session.train.settings.data

    def _settings_changed(self, settings: RunSettings) -> None:
        self._session.data.expected = None  # of other settings
        if settings.network == "auto":
            self._expecting.start()

    def _expect(self) -> None:
        """Ask what would be suggested. Data that was chosen just now is read for that."""
        session, settings = self._session, self._session.train.settings
        if session.train.setting_problems:
            return
        browser = session.dataset_browser
        if settings.network == "auto" and settings.data != self._data:
            browser.look(settings)
        self._data = settings.data
        if browser.looks_at(settings):
            browser.expect(settings)

    def _show(self) -> None:
        view = self._view
        self._panel.show_suggestion(
            view.working,
            [self._sentence(each) for each in view.choices],
            self._cost(),
        )
        self._actions.refresh()

    def _sentence(self, choice: ChoiceView) -> str:
        return self.tr("{0}: {1} ({2})").format(
            tr(title_of_setting(choice.setting)), shown(choice.text), shown(choice.reason)
        )

    def _cost(self) -> str:
        view = self._view
        if math.isnan(view.seconds):
            return self.tr("{0}…").format(shown(view.message)) if view.working and view.message else ""
        whole = max(1, math.ceil(view.seconds))
        seconds = quantities.duration(whole, whole=True)
        return self.tr("Takes about {0} and {1} of memory.").format(seconds, quantities.size(view.memory))

    def _show_fitting(self) -> None:
        session = self._session
        problems = model_problems(session.train.settings, session.data, self._view)
        self._panel.show_fitting(problems, session.train.settings.model)

    def close(self) -> None:
        """Follow the session no longer."""
        self._expecting.stop()
        self._bonds.release()
