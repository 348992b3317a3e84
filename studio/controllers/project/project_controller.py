"""The project: opened, saved, renamed, kept up to date on disk, and two windows that change the same one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QFileDialog, QInputDialog, QLineEdit, QMessageBox

from resources.user_folders import home_folder
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.session import commands
from studio.session.project.project_copy import SavedAs
from studio.session.project.project_file import SUFFIX, Project, ProjectChangedError
from studio.session.project.recent_projects import RecentProject
from studio.session.project.sample_projects import BY_ID, SAMPLES, Sample
from studio.session.session import Session
from studio.windows.dialogs import Question, ask
from studio.windows.main_window import MainWindow
from studio.windows.project.save_as_dialog import SaveAsDialog
from studio.windows.project.welcome import Recent, Welcome
from widgets.delayed import delayed

tr = QCoreApplication.translate
FILTER = f"*{SUFFIX}"
AUTOSAVE_MS = 500
# When the window shows that the project is still being saved in another folder.
SLOW_MS = 1000
RENAME_WIDTH = 420


class ProjectController(QObject):
    """Carries out the commands of projects; ``said`` gets what happened in words, to be shown for a moment.

    Args:
        leave_runs: called when another project is open, whose runs are others.
    """

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        actions: Actions,
        welcome: Welcome,
        leave_runs: Callable[[], None],
        said: Callable[[str], None],
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._welcome = session, window, actions, welcome
        self._leave_runs, self._said = leave_runs, said
        self._question: QMessageBox | None = None
        self._saving = delayed(self, AUTOSAVE_MS, session.autosave)
        self._slow = delayed(self, SLOW_MS, self._show_slow)
        self._bonds = Bindings()
        self._bonds.follow(session.moving_changed, self._show_moving)
        self._bonds.follow(session.project_changed, self._show)
        self._bonds.follow(session.project_changed, lambda _: self._saving.start())
        for settings in (
            session.train.events.settings,
            session.export.events.settings,
            session.export.events.choices,
            session.export.events.chosen_prefix,
            session.rate_finder.view.events.settings,
        ):
            self._bonds.follow(settings, lambda _: self._saving.start())
        self._bonds.follow(session.undo_stack.changed, actions.refresh)
        self._bonds.follow(session.conflict_changed, lambda: self._show(session.project))
        welcome.sample_chosen.connect(self._open_sample)
        welcome.recent_chosen.connect(self.open_recent)
        welcome.recent_removed.connect(session.forget_project)
        for name, handler in (
            (commands.NEW_PROJECT, self.new),
            (commands.OPEN_PROJECT, self.open),
            (commands.SAVE_PROJECT, self.save),
            (commands.SAVE_PROJECT_AS, self.save_as),
            (commands.RENAME_PROJECT, self.rename),
        ):
            actions.handle(name, handler)
        self._bonds.again(self._show_again, now=True)

    def _show_again(self) -> None:
        self._welcome.set_samples(
            [(each.id, tr("samples", each.title), tr("samples", each.help)) for each in SAMPLES]
        )
        self._show(self._session.project)

    def _show(self, project: Project) -> None:
        session, path = self._session, str(self._session.project_folder)
        name = project.name
        if session.keeping.conflict is not None:
            name = self.tr("{0} (two versions: Ctrl+S)").format(name)
        self._window.project.project.set_value(name)
        if not session.keeping.has_place:
            path = self.tr("{0}\nNot saved to a folder yet: press Ctrl+S to choose one.").format(path)
        self._window.project.project.setToolTip(path)
        self._window.setWindowTitle(self.tr("{0} \u2013 Model Studio").format(project.name))
        session.read_recent_projects(self._show_recent)
        preferences = session.preferences
        self._welcome.set_recent_files([*preferences.recent_files, *preferences.recent_models])

    def _show_recent(self, projects: list[RecentProject]) -> None:
        self._welcome.set_recent([Recent(each.name, each.path, shown(each.trouble)) for each in projects])

    # ----- commands -----

    def new(self) -> str:
        """Begin another project; the one before stays among the recent ones."""
        before = self._session.project.name
        reason = self._session.execute(commands.NEW_PROJECT)
        if not reason:
            self._leave_runs()
            self._said(self.tr("A new project; {0} is among the recent ones.").format(before))
        return reason

    def open(self) -> str:
        """Choose a project and open it."""
        reason = self._busy()
        if reason:
            return reason
        path, _ = QFileDialog.getOpenFileName(
            self._window,
            self.tr("Open project"),
            str(self._session.project_folder.parent),
            self.tr("Projects ({0})").format(FILTER),
        )
        return self.open_path(path) if path else ""

    def open_path(self, path: str) -> str:
        """Open the project in a folder or file; returns why not where that fails."""
        reason = self._busy()
        if reason:
            return reason
        self._session.train.prepare(True)  # no training begins meanwhile
        self._session.open_project(Path(path), self._opened, self._not_opened)
        return ""

    def _opened(self) -> None:
        self._session.train.prepare(False)
        self._leave_runs()
        self._session.refresh_runs(self._say_opened)

    def _say_opened(self) -> None:
        session = self._session
        self._said(self.tr("Project {0} is open; runs: {1}.").format(session.project.name, len(session.runs)))

    def _not_opened(self, error: Exception) -> None:
        self._session.train.prepare(False)
        self._actions.refused.emit(shown(str(error)))

    def _busy(self) -> str:
        if self._session.moving:
            return self._session.moving
        if self._session.train.busy or self._session.train.preparing:
            return self.tr("A training is running; stop it before you open another project.")
        return ""

    def open_recent(self, path: str) -> None:
        """Open a project, or say why that fails."""
        reason = self.open_path(path)
        if reason:
            self._actions.refused.emit(reason)

    def _open_sample(self, key: str) -> None:
        sample, reason = BY_ID[key], self._busy()
        if reason:
            self._actions.refused.emit(reason)
            return
        self._session.train.prepare(True)
        self._session.open_sample(sample, lambda: self._sample_opened(sample), self._not_opened)

    def _sample_opened(self, sample: Sample) -> None:
        self._session.train.prepare(False)
        self._leave_runs()
        words = self.tr("Project {0} is ready: press Start.").format(self._session.project.name)
        if sample.code:
            words += " " + self.tr("Its model is {0}.").format(self._session.train.settings.user_file)
        self._said(words)

    def save(self) -> str:
        """Write the project to its file; one that has no place of its own gets one."""
        session = self._session
        if session.keeping.conflict is not None:
            self._ask_which()
            return ""
        if not session.keeping.has_place:
            return self.save_as()
        words = self.tr("{0} is saved. Changes are saved automatically.").format(session.project.name)
        session.write_project(lambda: self._said(words), self._not_saved)
        return ""

    def _not_saved(self, error: Exception) -> None:
        if isinstance(error, ProjectChangedError):
            self._ask_which()
        else:
            self._actions.refused.emit(shown(str(error)))

    def save_as(self) -> str:
        """Ask for another place of the project."""
        session = self._session
        if session.busy() and not session.train.busy:
            return self.tr("Another task is running.")
        place = session.project_folder.parent if session.keeping.has_place else home_folder()
        dialog = SaveAsDialog(
            self._window, session.project.name, str(place), len(session.runs), not session.keeping.has_place
        )
        dialog.chosen.connect(self._save_in)
        dialog.open()
        return ""

    def _save_in(self, folder: str) -> None:
        self._session.move_project(Path(folder), lambda done: self._said(self._words(done)), self._not_saved)
        if self._session.moving:
            self._slow.start()

    def _show_moving(self) -> None:
        """The project begins or ends to be saved in another folder."""
        self._actions.refresh()
        if not self._session.moving:
            self._slow.stop()

    def _show_slow(self) -> None:
        name = self._session.project.name
        self._window.project.project.set_value(self.tr("{0} (saving...)").format(name))
        self._said(self.tr("Saving {0} in another folder…").format(name))

    def _words(self, done: SavedAs) -> str:
        words = [self.tr("The project is in {0}.").format(self._session.project_folder)]
        if done.moved:
            words.append(self.tr("Runs that moved along: {0}.").format(len(done.moved)))
        if done.linked:
            words.append(
                self.tr("Runs that stayed where they are, and in the list: {0}.").format(done.linked)
            )
        return " ".join(words)

    def rename(self) -> None:
        """Ask for another name of the project."""
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(self.tr("Rename project"))
        dialog.setLabelText(self.tr("Name"))
        dialog.setTextEchoMode(QLineEdit.EchoMode.Normal)
        dialog.setTextValue(self._session.project.name)
        dialog.textValueSelected.connect(lambda name: self._session.rename_project(name.strip()))
        dialog.resize(RENAME_WIDTH, dialog.sizeHint().height())
        dialog.open()

    # ----- two windows -----

    def _ask_which(self) -> None:
        if self._question is not None:
            self._question.raise_()
            return
        session = self._session
        self._question = ask(
            self._window,
            lambda: Question(
                self.tr("Another window has changed this project"),
                self.tr(
                    "{0} now contains other settings than this window. Nothing is lost: Ctrl+Z restores the "
                    "settings that you do not choose. Until you choose, a file next to it "
                    "contains those of this window."
                ).format(session.keeping.document.path),
                self.tr("Use the other window's settings"),
                self.tr("Decide later"),
                self.tr("Use this window's settings"),
            ),
            lambda: self._resolve(own=False),
            lambda: self._resolve(own=True),
        )
        self._question.finished.connect(self._answered)

    def _answered(self) -> None:
        self._question = None

    def _resolve(self, own: bool) -> None:
        self._session.resolve_conflict(own, self._not_saved)

    def close(self) -> None:
        """Save what is not saved yet, and follow the session no longer."""
        self._saving.stop()
        self._slow.stop()
        self._bonds.release()
        self._session.autosave()
