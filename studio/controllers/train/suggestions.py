"""Suggested settings on the page Train: the command, each choice with its reason, and which models fit."""

from __future__ import annotations

import math

from PySide6.QtCore import QObject

from resources.settings import Setting
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.session import Session
from studio.session.train.run_settings import title_of, title_of_setting
from studio.session.train.suggest.fitting_models import model_problems
from studio.session.train.suggest.suggestions import ChoiceView
from studio.windows.dialogs import ask_agreement
from studio.windows.main_window import MainWindow
from studio.windows.train.settings_panel import SettingsPanel
from widgets import theme


class SuggestionsController(QObject):
    """Joins ``session.suggestions`` to the panel with the settings."""

    def __init__(self, session: Session, window: MainWindow, panel: SettingsPanel, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._window, self._panel = session, window, panel
        self._view = session.suggestions.view
        self._actions = actions
        self._bonds = Bindings()
        for name in ("working", "choices", "seconds"):
            self._bonds.show(self._view, name, lambda _: self._show())
        for signal in (session.train.events.settings, session.data.events.facts, self._view.events.models):
            self._bonds.follow(signal, lambda _: self._show_fitting())
        actions.handle(commands.SUGGEST, self.suggest)
        panel.suggest_requested.connect(lambda: actions.trigger(commands.SUGGEST))

    def suggest(self) -> str:
        """Suggest settings, after the user's agreement to a model file of their own."""
        path = self._session.needs_agreement()
        if path is not None:
            ask_agreement(self._window, path, lambda: (self._session.agree(path), self.suggest()))
            return ""
        return self._session.execute(commands.SUGGEST)

    def _show(self) -> None:
        view = self._view
        self._panel.show_suggestion(
            view.working,
            [self._sentence(each) for each in view.choices],
            self._cost() if view.choices else "",
        )
        self._actions.refresh()

    def _sentence(self, choice: ChoiceView) -> str:
        value = choice.value
        if isinstance(value, dict):
            text = ", ".join(f"{name} {Setting.write(each)}" for name, each in value.items())
        else:
            text = title_of(value) if isinstance(value, str) else Setting.write(value)
        return f"{title_of_setting(choice.setting)}: {text} ({choice.reason})"

    def _cost(self) -> str:
        view = self._view
        if math.isnan(view.seconds):
            return self.tr("Measuring how long that takes...") if view.working else ""
        whole = max(1, math.ceil(view.seconds))
        seconds = self.tr("{0} s").format(whole) if whole < 60 else theme.format_duration(float(whole))
        return self.tr("Takes about {0} and {1} MB of memory.").format(seconds, round(view.memory / 1e6))

    def _show_fitting(self) -> None:
        session = self._session
        problems = model_problems(session.train.settings, session.data, self._view)
        self._panel.show_fitting(problems, session.train.settings.model)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
