"""The language of the windows: Qt asks the catalogue for each text, whatever the class that has it."""

from __future__ import annotations

import sys

from PySide6.QtCore import QEvent, QLibraryInfo, QLocale, QObject, QTimer, QTranslator
from PySide6.QtWidgets import QApplication

from resources import words
from resources.words.languages import ENGLISH, computer_languages, language_for
from studio.controllers.actions import Actions
from studio.controllers.bindings import show_all_again
from studio.controllers.fonts import missing_font, prefer_chinese_forms
from studio.session import commands
from studio.session.session import Session


def languages_of_computer() -> list[str]:
    """The languages of the computer, best first; where the environment names none, those of the system."""
    found = computer_languages()
    return found if found or sys.platform == "linux" else list(QLocale.system().uiLanguages())


class CatalogueTranslator(QTranslator):
    """Answers from the catalogue that holds; where it has no translation, the text stays."""

    def isEmpty(self) -> bool:
        return False

    def translate(
        self, context: str, source: str, disambiguation: str | None = None, number: int = -1
    ) -> str | None:
        return words.find(source, disambiguation or "")


class WindowLanguage(QObject):
    """The translators of the application: those of the language that holds, none for English.

    After a change all widgets have their new texts before the controllers show theirs again.
    """

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        # The last one is asked first: Qt's own translations know their own classes alone.
        self._of_qt = QTranslator(self)
        self._translators = (CatalogueTranslator(self), self._of_qt)
        words.follow_language(self._show)
        self._show()

    def _show(self) -> None:
        for translator in self._translators:
            self._app.removeTranslator(translator)
        if words.language() != ENGLISH:
            folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
            self._of_qt.load(f"qtbase_{words.language()}", folder)
            for translator in self._translators:
                self._app.installTranslator(translator)
        # Several events for one widget are one.
        self._app.sendPostedEvents(None, QEvent.Type.LanguageChange.value)
        show_all_again()


def begin_language(app: QApplication, wanted: str) -> None:
    """Let a language hold in the windows of ``app``; before the first one it is there from the beginning."""
    words.use_language(wanted, languages_of_computer())
    if app.findChild(WindowLanguage) is None:
        prefer_chinese_forms(app)
        WindowLanguage(app)


class LanguageController(QObject):
    """The commands that choose a language: at once, in all windows, and remembered."""

    def __init__(self, session: Session, window: QObject, actions: Actions) -> None:
        super().__init__(window)
        self._session, self._actions = session, actions
        for name, which in commands.LANGUAGES.items():
            actions.handle(which, lambda name=name: self.use(name))
        self._end = words.follow_language(self._follow)
        self._explained = self._prepared = False
        self._check()

    def use(self, wanted: str) -> None:
        """Let a language hold; ``system`` for that of the computer."""
        self._session.change_preferences(language=wanted)
        words.use_language(wanted, languages_of_computer())
        self._check()

    def prepare(self) -> None:
        """Read the texts of all languages in the background: one may be chosen soon."""
        if not self._prepared:
            self._prepared = True
            self._session.files.reading.do(words.prepare_languages)

    def close(self) -> None:
        """Follow other windows no longer."""
        self._end()

    def _follow(self) -> None:
        """Another window may have chosen the language; what this one writes has it, too."""
        wanted = self._session.preferences.language
        chosen = language_for(languages_of_computer()) if wanted == words.SYSTEM else wanted
        if chosen != words.language():
            self._session.change_preferences(language=words.language())
        self._check()

    def _check(self) -> None:
        self._actions[commands.LANGUAGES[self._session.preferences.language]].setChecked(True)
        if not self._explained and missing_font(words.language()):
            self._explained = True
            QTimer.singleShot(0, self, self._explain)

    def _explain(self) -> None:
        """Say once which font is missing; in English, since no other language can be read."""
        if missing := missing_font(words.language()):
            self._actions.refused.emit(missing)
