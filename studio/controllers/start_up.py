"""What follows the first image of the window: pages, runs, engine, plots, and the last session."""

from __future__ import annotations

import gc
import importlib
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from PySide6.QtCore import QEventLoop, QMetaObject, QObject, Qt, QTimer
from PySide6.QtWidgets import QLabel

from resources.words import tr, use_language
from studio.controllers.language import languages_of_computer
from studio.session.project.project_file import preferences_path
from studio.session.project.session_state import SessionState
from studio.session.session import Session
from studio.session.work.file_thread import FileThread
from studio.windows.first_paint import AfterFirstPaint
from studio.windows.main_window import Layout, MainWindow, read_layout

# When what waits for the first image of the window begins without one.
LATEST_MS = 500
# Time to take what the user has pressed meanwhile.
AFTER_SHOW_MS = 20


# When a small window says what is waited for.
WAITING_MS = 500

# How often garbage is looked for.
COLLECTING_MS = 1000

# What the first run that is shown needs, one in each turn: its curves, and the corrections of the project
# with what they import.
LATER = (
    "widgets.plot.curve_plot",
    "engine.training.sources.images.folder",
    "engine.training.sources.splits.division",
    "engine.files.checkpoint",
    "engine.training.data",
    "engine.training.folder.run_folder",
    "engine.training.corrections",
)

T = TypeVar("T")


def while_waiting(work: Callable[[], T]) -> T:
    """The result of ``work``, carried out in a thread while there is no window: a disk may be slow.

    The loop turns meanwhile, and a small window says so if it takes long. Raises what ``work`` raises.
    """
    loop, found = QEventLoop(), list[T]()
    quit_loop = partial(QMetaObject.invokeMethod, loop, "quit", Qt.ConnectionType.QueuedConnection)
    thread = FileThread("start", quit_loop)
    thread.begin()
    thread.do(work, found.append)
    shown = QLabel("", None, Qt.WindowType.SplashScreen)
    shown.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
    shown.setMargin(24)
    timer = QTimer(loop, singleShot=True, interval=WAITING_MS)
    timer.timeout.connect(lambda: (shown.setText(tr("Opening the last project…")), shown.show()))
    timer.start()
    loop.exec()
    shown.close()
    try:
        thread.take()
    finally:
        thread.end()
    return found[0]


def collect_between_events(parent: QObject) -> Callable[[], None]:
    """Look for garbage between events, once in a second, instead of automatically.

    An automatic collection may begin within a call of Qt. If it then frees an object of Qt, that object's end
    waits for a lock that this very call holds, such as in ``QObject::disconnect``: the window would hang for
    good. Returns a function that lets the automatic ones begin again.
    """
    gc.disable()
    timer = QTimer(parent, interval=COLLECTING_MS)
    timer.timeout.connect(collect_garbage)
    timer.start()

    def end() -> None:
        timer.stop()
        gc.enable()

    return end


def collect_garbage() -> None:
    """Collect the oldest generation that has had its number of objects or of younger collections."""
    counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, most) in enumerate(counts) if most and count > most]
    if due:
        gc.collect(due[-1])


def layout_file() -> str:
    """Where the layout of the window is remembered."""
    return str(preferences_path().with_name("window.ini"))


def read_last() -> tuple[Session, SessionState, Layout]:
    """Preferences, project, and what was open last. The language holds before any window is built."""
    session = Session()
    use_language(session.preferences.language, languages_of_computer())
    last = SessionState(session)
    last.restore()
    return session, last, read_layout(layout_file())


class StartUp(QObject):
    """One step in each turn of the loop, so that what the user does meanwhile comes between them.

    Args:
        build_next: builds a page that does not exist yet; False where all exist.
        restore: shows what was open last; the runs are listed by then.
        settled: called at the end.
    """

    def __init__(
        self,
        session: Session,
        window: MainWindow,
        build_next: Callable[[], bool],
        restore: Callable[[], object],
        settled: Callable[[], object] = lambda: None,
    ) -> None:
        super().__init__(window)
        self._settled = settled
        self._session, self._build_next, self._restore = session, build_next, restore
        self._closed, self._imports = False, list(LATER)
        AfterFirstPaint(window, self._build, LATEST_MS)

    def _build(self) -> None:
        if self._closed:
            return
        if self._build_next():
            QTimer.singleShot(0, self, self._build)
            return
        self._session.refresh_runs()
        self._session.tasks.warm_up()
        QTimer.singleShot(AFTER_SHOW_MS, self, self._when_calm)

    def _when_calm(self) -> None:
        if self._closed:
            return
        _import_engine()
        # The process that reads the data was the spare one; the training that follows gets another.
        self._session.data.events.facts.connect(lambda _: self._session.tasks.warm_up())
        self._session.refresh_runs(self._listed)
        QTimer.singleShot(AFTER_SHOW_MS, self, self._import_next)

    def _listed(self) -> None:
        if not self._closed:
            self._restore()

    def _import_next(self) -> None:
        if self._closed:
            return
        if not self._imports:
            self._settled()
            return
        importlib.import_module(self._imports.pop(0))
        QTimer.singleShot(AFTER_SHOW_MS, self, self._import_next)

    def close(self) -> None:
        """Begin no further step."""
        self._closed = True


def _import_engine() -> None:
    """The engine takes longest to import: it comes while the user looks around.

    Not in a thread of its own: two threads that import parts of it at once can lock each other out, and
    Python then raises _DeadlockError.
    """
    import engine.training  # noqa: F401
