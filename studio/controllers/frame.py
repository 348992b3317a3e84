"""The frame of the window: pages, theme, layout, command palette, and what happens when it closes."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QElapsedTimer, QObject, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from resources.words import tr
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.language import LanguageController
from studio.controllers.output import OutputController
from studio.session import commands
from studio.session.project.code_agreement import count_agreements
from studio.session.session import Session
from studio.windows.dialogs import Question, ask
from studio.windows.main_window import MainWindow
from studio.windows.palette import CommandPalette, Entry
from widgets import theme
from widgets.delayed import delayed

# How long a training may take to write its last checkpoint before it is killed.
STOP_MS = 15_000
# How often a window that waits for its files looks whether they are written.
SAVED_MS = 50
# After how long the window says so, and a second request to close asks.
SAVING_MS = 300
# The areas whose commands belong to a page, where there are more than its own.
_AREAS = {"train": ("train", "run strip", "queue"), "code": ("code", "measured", "planned")}


class FrameController(QObject):
    """Carries out the window's commands, shows its pages and closes it.

    ``build_page`` is called before a page is shown: it may be missing so far.
    """

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, output: OutputController
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions = session, window, actions
        self._palette = CommandPalette(window)
        self._palette.chosen.connect(self._take)
        self._sources: list[Callable[[], list[tuple[Entry, Callable[[], object]]]]] = []
        self._more: dict[str, Callable[[], object]] = {}
        # A system without a window manager leaves the keys nowhere when a dialog closes.
        self._palette.finished.connect(lambda _: window.activateWindow())
        self.build_page: Callable[[str], object] = lambda name: None
        self._question: QMessageBox | None = None
        self._closing = self._abandoned = False
        self._saving = QElapsedTimer()
        self._saved = QTimer(self, interval=SAVED_MS)
        self._saved.timeout.connect(self._close_when_saved)
        self._bonds = Bindings()
        self._bonds.follow(session.train.events.state, lambda _: self._close_when_done())
        self._last_chance = delayed(self, STOP_MS, session.trainer.kill)
        window.may_close = self.may_close
        actions.refused.connect(lambda reason: output.note(reason, "warn"))
        self.menus = menus = actions.fill(window.top.menu)
        for name, handler in (
            (commands.PALETTE, self.open_palette),
            (commands.RESET_LAYOUT, self.reset_layout),
            (commands.QUIT, self._quit),
            (commands.COPY_REPORT, output.copy_report),
            (commands.ABOUT, self.about),
            (commands.PREFERENCES, self.preferences),
            (commands.FIND, self.find),
            *((which, lambda mode=mode: self.use_theme(mode)) for mode, which in commands.THEMES.items()),
            *((which, lambda name=name: self.show_page(name)) for name, which in commands.PAGES.items()),
        ):
            actions.handle(name, handler)
        self._finders: dict[str, QWidget] = {}
        self._titles: dict[str, str] = {}
        panels = [dock.toggleViewAction() for dock in (window.left, window.right, window.bottom)]
        menu = actions.group(menus["View"], commands.RESET_LAYOUT)
        menu.insertSeparator(menu.actions()[0])
        menu.insertActions(menu.actions()[0], panels)
        window.top.show_menus()
        self._bonds.again(self._show_texts)
        self._check_theme()
        self.language = LanguageController(session, window, actions)
        menus["View"].aboutToShow.connect(self.language.prepare)

    # ----- pages -----

    def add_page(
        self, name: str, page: QWidget, panel: QWidget, title: str, find: QWidget | None = None
    ) -> None:
        """A page and, under the English ``title``, the panel next to it; Ctrl+F goes to ``find``."""
        self._window.add_page(name, page, panel)
        self._titles[name] = title
        if find is not None:
            self._finders[name] = find

    def show_page(self, name: str) -> None:
        """Bring a page to the front; the right dock and what can be searched follow."""
        self.build_page(name)
        has_program = name in ("graph", "debug")  # the page has a tree of its own
        if not has_program:  # before the page changes: otherwise the window's minimum size changes twice
            self._window.project.set_program_visible(True)
        self._window.show_page(name)
        self._actions.use_keys_of(name)
        if has_program:
            self._window.project.set_program_visible(False)
        self._show_texts()

    def _show_texts(self) -> None:
        """The texts that belong to the page that is shown."""
        name = self._window.current_page()
        self._window.right.setWindowTitle(tr(self._titles.get(name, "")))
        reason = "" if name in self._finders else self.tr("There is nothing to search on this page.")
        self._actions.block(commands.FIND, reason)

    def pages(self) -> tuple[str, ...]:
        """The names of the pages that there are."""
        return tuple(self._titles)

    def find(self) -> None:
        """Put the caret into the search box of the page."""
        finder = self._finders.get(self._window.current_page())
        if finder is not None:
            finder.setFocus()

    # ----- theme, layout, palette -----

    def use_theme(self, mode: str) -> None:
        """Follow the ``system``, or always ``light`` or ``dark``; remembered."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply_theme(app, mode)  # type: ignore[arg-type]
        self._session.change_preferences(theme=mode)
        self._check_theme()

    def _check_theme(self) -> None:
        self._actions[commands.THEMES[theme.mode()]].setChecked(True)

    def reset_layout(self) -> None:
        """Docks where they were at first."""
        self._window.reset_layout()

    def open_palette(self) -> None:
        """Open the list of all commands, settings, runs, models and pages of the help."""
        self.language.prepare()
        entries = []
        for which in commands.COMMANDS:
            action = self._actions[which]
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            reason = self._actions.reason(which)
            entries.append(
                Entry(
                    which.id,
                    action.text(),
                    keys,
                    self._actions.help_text(which),
                    "" if action.isEnabled() else reason,
                    which.title if action.text() != which.title else "",
                )
            )
        more = [pair for source in self._sources for pair in source()]
        self._more = {entry.id: then for entry, then in more}
        page = self._window.current_page()
        areas = _AREAS.get(page, (page,))
        here = {which.id for area in areas for which, _ in commands.shown_in(area)}
        recent = self._session.preferences.recent_commands
        self._palette.ask([*entries, *(entry for entry, _ in more)], recent, here)

    def add_entries(self, source: Callable[[], list[tuple[Entry, Callable[[], object]]]]) -> None:
        """Offer more than commands in the palette: what ``source`` gives when it opens, each with what to do.

        Their ids hold a colon, which those of commands don't.
        """
        self._sources.append(source)

    def _take(self, which: str) -> None:
        self._session.remember_command(which)
        if which in self._more:
            self._more[which]()
        else:
            self._actions.trigger(which)

    @property
    def palette(self) -> CommandPalette:
        """The list of all commands."""
        return self._palette

    def about(self) -> None:
        """Version and licence."""
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("model-studio")
        except PackageNotFoundError:
            number = self.tr("(not installed)")
        box = QMessageBox(self._window)
        box.setWindowTitle(self.tr("About Model Studio"))
        box.setText(self.tr("Model Studio {0}").format(number))
        box.setInformativeText(
            self.tr(
                "Trains small networks and looks inside them, over an engine with Paddle's programming "
                "model. Licence: Apache-2.0. Qt for Python is used under the LGPL."
            )
        )
        box.open()

    def preferences(self) -> None:
        """Theme, language, folders and agreements."""
        self.language.prepare()
        from studio.windows.preferences import PreferencesDialog

        dialog = PreferencesDialog(
            self._window,
            theme.mode(),
            self._session.preferences.language,
            self._session.preferences.notify,
            str(self._session.runs_folder),
            count_agreements(self._session.preferences.agreed),
            self._session.preferences.debug_memory,
        )
        dialog.theme_chosen.connect(self.use_theme)
        dialog.language_chosen.connect(lambda name: self._actions.trigger(commands.LANGUAGES[name]))
        dialog.notify_toggled.connect(lambda on: self._session.change_preferences(notify=on))
        dialog.debug_memory_chosen.connect(
            lambda megabytes: self._session.change_preferences(debug_memory=megabytes)
        )
        dialog.forget_requested.connect(lambda: self._session.change_preferences(agreed=[]))
        dialog.open()

    # ----- closing -----

    def _quit(self) -> None:
        self._window.close()

    def may_close(self) -> bool:
        """Asked by the window: not while a training runs, unless the user says so."""
        if not self._session.train.busy:
            return self._is_saved()
        if self._closing:
            return False
        if self._question is None:
            name = self._session.run_title(self._session.train.folder)
            self._question = ask(
                self._window,
                lambda: Question(
                    self.tr("A training is running"),
                    self.tr(
                        "{0} is at step {1} of {2}. \u201cStop and close\u201d writes a checkpoint first, "
                        "so that the run can be resumed later."
                    ).format(name, self._session.train.step, self._session.train.total_steps),
                    self.tr("Stop and close"),
                    self.tr("Keep training"),
                ),
                self.stop_and_close,
            )
            self._question.finished.connect(self._answered)
        self._question.raise_()
        return False

    def _answered(self) -> None:
        self._question = None

    # A slow disk may be writing the project and the preferences.

    def _is_saved(self) -> bool:
        """Whether all is written. Otherwise the window closes when it is; a second request to close asks."""
        if self._abandoned:
            return True
        if not self._saved.isActive():
            self._session.autosave()
            self._saved.start()
            self._saving.start()
        self._session.files.take()  # a project that is in another folder now is what comes back
        if not self._session.files.writing.working:
            self._saved.stop()
            return True
        if self._saving.elapsed() > SAVING_MS and self._question is None:
            self._question = ask(
                self._window,
                lambda: Question(
                    self.tr("Files are still being written"),
                    self.tr(
                        "The disk is slow or does not respond. If you close now, the last changes of the "
                        "project {0} may be lost."
                    ).format(self._session.project.name),
                    self.tr("Close without saving"),
                    self.tr("Keep waiting"),
                ),
                self._abandon,
            )
            self._question.finished.connect(self._answered)
        return False

    def _abandon(self) -> None:
        self._abandoned = True
        self._window.close()

    def _close_when_saved(self) -> None:
        if not self._session.files.writing.working:
            self._window.close()
        elif self._saving.elapsed() > SAVING_MS:
            toast, text = self._window.toast, self.tr("Saving; the window closes when it is done…")
            if not toast.isVisible() or toast.text() != text:
                toast.show_message(text)

    def stop_and_close(self) -> None:
        """Let the training write its checkpoint, then close; killed where it does not answer."""
        self._closing = True
        if not self._session.train.busy:
            self._window.close()
            return
        self._session.interrupt()
        self._window.toast.show_message(
            self.tr("Stopping; the window closes when the checkpoint is written…")
        )
        self._last_chance.start()

    def _close_when_done(self) -> None:
        if self._closing and not self._session.train.busy:
            self._last_chance.stop()
            # After the event that is being taken now.
            QTimer.singleShot(0, self._window, self._window.close)

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
        self.language.close()
        self._last_chance.stop()
        self._saved.stop()
