"""What is dropped on the window, anywhere: it is opened for what it is, and what happened is said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.session import commands
from studio.session.code.user_models import model_classes
from studio.session.project.dropped_files import DroppedFile, look_at
from studio.session.session import Session
from studio.windows.main_window import MainWindow


class DroppedFilesController(QObject):
    """The application gives ``open_project``, ``open_model``, ``open_image`` and so on.

    Args:
        said: gets what happened in words, to be shown for a moment.
    """

    def __init__(
        self, session: Session, window: MainWindow, actions: Actions, said: Callable[[str], None]
    ) -> None:
        super().__init__(window)
        self._session, self._window, self._actions, self._said = session, window, actions, said
        self.open_project: Callable[[str], str] = _nothing
        self.open_model: Callable[[str], object] = _nothing
        self.open_image: Callable[[str], object] = _nothing
        self.open_source: Callable[[str, Callable[[], object]], object] = _nothing
        self.open_data: Callable[[str], object] = _nothing
        self._more = 0
        window.files_dropped.connect(self.take)
        window.drops.ignored.connect(lambda more: said(self._only_the_first(more)))

    def take(self, paths: list[str]) -> None:
        """Open what was dropped; of several the first. It is looked at in a thread."""
        import engine.training.sources.opening  # noqa: F401  (not for the first time in a thread)

        path, reading = Path(paths[0]), self._session.files.reading
        reading.do(lambda: look_at(path), lambda dropped: self._open(dropped, len(paths) - 1))
        if reading.working:
            self._said(self.tr("Opening {0}…").format(path.name))

    def _open(self, dropped: DroppedFile, more: int) -> None:
        self._more = more
        takes: dict[str, Callable[[Path], str]] = {
            "project": lambda path: self.open_project(str(path)),
            "run": self._take_run,
            "runs": self._take_runs,
            "code": self._take_code,
            "data": self._take_data,
            "model": self._take_model,
            "image": self._take_image,
            "weights": self._take_weights,
        }
        reason = takes[dropped.kind](dropped.path) if dropped.kind else self._unknown(dropped)
        if reason:
            self._actions.refused.emit(reason)

    def _say(self, text: str) -> None:
        if self._more:
            text += " " + self._only_the_first(self._more)
        self._said(text)

    def _only_the_first(self, more: int) -> str:
        return self.tr("Only the first dropped item was opened; {0} more were ignored.").format(more)

    def _show(self, page: str) -> None:
        self._actions.trigger(commands.PAGES[page])

    def _unknown(self, dropped: DroppedFile) -> str:
        words = self.tr(
            "{0}. Model Studio opens projects, runs, data, Python files with a model, saved models, weights "
            "and images."
        )
        return words.format(shown(dropped.reason))

    def _take_run(self, path: Path) -> str:
        if self._session.listed_run(str(path)) is not None:
            self._show_run(path, self.tr("The run {0} is shown."))
            return ""
        words = self.tr("The run {0} is in the list now; it stays where it is.")
        self._session.link_runs(path, lambda: self._show_run(path, words))
        return ""

    def _show_run(self, path: Path, words: str) -> None:
        if self._session.listed_run(str(path)) is None:
            reason = self.tr("{0}: this run can't be read; its journal may be damaged").format(path)
            self._actions.refused.emit(reason)
            return
        self._session.select_run(str(path))
        self._actions.trigger(commands.PAGE_TRAIN)
        self._say(words.format(self._session.run_title(str(path))))

    def _take_runs(self, path: Path) -> str:
        before = len(self._session.runs)

        def show() -> None:
            self._actions.trigger(commands.PAGE_TRAIN)
            count = len(self._session.runs) - before
            self._say(self.tr("Runs that are in the list now, and stay in {0}: {1}.").format(path, count))

        self._session.link_runs(path, show)
        return ""

    def _take_data(self, path: Path) -> str:
        self.open_data(str(path))
        self._show("data")
        self._say(self.tr("{0} is the data of the next training. Ctrl+Z undoes this.").format(path.name))
        return ""

    def _take_code(self, path: Path) -> str:
        """Edit it and make it the model; nothing of it runs before it is agreed to."""
        before = self._session.train.settings.model
        self.open_source(str(path), lambda: self._code_opened(path, before))
        return ""

    def _code_opened(self, path: Path, before: str) -> None:
        self._actions.trigger(commands.PAGE_CODE)
        if not model_classes(self._session.model_editor.text):
            self._actions.refused.emit(
                self.tr("{0}: the file contains no class; a model is a class in a Python file").format(path)
            )
            return
        after_agreement(
            self._session,
            self._window,
            lambda: self._say_model(path),
            refused=lambda: self._session.change_setting("model", before),
        )

    def _say_model(self, path: Path) -> None:
        name = self._session.train.settings.model.rpartition(":")[2]
        words = self.tr("{0} of {1} is the model of the next training. Ctrl+Z undoes this.")
        self._say(words.format(name, path.name))

    def _take_model(self, path: Path) -> str:
        self._actions.trigger(commands.PAGE_PREDICT)
        self.open_model(str(path))
        self._say(self.tr("The model {0} is being loaded.").format(path.name.partition(".")[0]))
        return ""

    def _take_weights(self, path: Path) -> str:
        """A training may start from them; nothing is read before it does."""
        self._session.change_setting("start_from", str(path))
        self._actions.trigger(commands.PAGE_TRAIN)
        self._say(self.tr("The next training starts from {0}. Ctrl+Z undoes this.").format(path.name))
        return ""

    def _take_image(self, path: Path) -> str:
        self._actions.trigger(commands.PAGE_PREDICT)
        if self._session.predict.model is None:
            self._say(
                self.tr("{0} is on the pad. A model that reads it can be loaded at the right.").format(
                    path.name
                )
            )
        else:
            self._say(self.tr("{0} is on the pad.").format(path.name))
        self.open_image(str(path))
        return ""


def _nothing(path: str, then: Callable[[], object] | None = None) -> str:
    """What a drop does before the application has said what it shall do."""
    return ""
