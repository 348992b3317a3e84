"""The window's budgets: ``python -m bench.gui [MEASUREMENT...]``, against each the figure of this machine.

The window is real, with a separate home folder, offscreen unless QT_QPA_PLATFORM says otherwise; the training
is the first one that the welcome page offers. A measurement is a function that returns rows of text.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "default.warning=false")  # what that platform can't do

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from bench import gui_plots, gui_start
from bench.arguments import measurement_names
from bench.timing import table
from studio.app import Studio
from studio.session.commands import PAGES
from studio.session.session import Session
from studio.windows.controls import ActionButton

PAUSES = 12
STATE_MS = 100
SWITCHES = 16
LANGUAGE_MS = 500


class Painted(QObject):
    """When a widget first showed each of its texts, in seconds of ``time.perf_counter``."""

    def __init__(self, label: QWidget) -> None:
        super().__init__(label)
        self._label = label
        self.at: dict[str, float] = {}
        label.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            self.at.setdefault(self._label.text(), time.perf_counter())
        return False


def wait_for(holds: Callable[[], bool], seconds: float = 120.0) -> None:
    """Let the window live until ``holds``. Raises TimeoutError."""
    deadline = time.perf_counter() + seconds
    while not holds():
        if time.perf_counter() > deadline:
            raise TimeoutError(f"bench.gui: nothing came in {seconds:g} s")
        QApplication.processEvents()
        time.sleep(0.0005)


def live(seconds: float) -> None:
    """Let the window live for so long."""
    end = time.perf_counter() + seconds
    wait_for(lambda: time.perf_counter() >= end)


def open_window() -> Studio:
    """The whole window over an empty folder of runs."""
    application = QApplication.instance() or QApplication([])
    assert isinstance(application, QApplication)
    studio = Studio(application, Session(runs_folder=Path(tempfile.mkdtemp()) / "runs"))
    studio.window.resize(1280, 800)
    studio.show()
    live(0.5)
    return studio


def train(studio: Studio) -> None:
    """Start a training that runs until it is stopped."""
    studio.session.change_setting("epochs", 1000)
    studio.actions.trigger("start")
    wait_for(lambda: studio.session.train.step > 20)


def click(studio: Studio, name: str) -> None:
    """Press a button of the page, as a mouse does."""
    buttons = studio.window.top.findChildren(ActionButton)
    button = next(each for each in buttons if each.isVisible() and each.accessibleName() == name)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def pause() -> list[list[str]]:
    """From the click on Pause or Stop early to the painted word: that it was heard, and that it is done."""
    studio = open_window()
    view = studio.session.train
    train(studio)
    painted = Painted(studio.window.status.label("state"))
    heard, done = [], []
    for turn in range(PAUSES):
        live(0.3 + 0.1 * (turn % 5))
        painted.at.clear()
        begin = time.perf_counter()
        click(studio, "Pause")
        wait_for(lambda: "Paused" in painted.at)
        heard.append(min(painted.at.get("Pausing...", painted.at["Paused"]), painted.at["Paused"]) - begin)
        done.append(painted.at["Paused"] - begin)
        studio.actions.trigger("resume")
        wait_for(lambda: view.state == "running")
    live(0.5)
    painted.at.clear()
    begin = time.perf_counter()
    click(studio, "Stop early")
    wait_for(lambda: "Stopping..." in painted.at)
    stop = painted.at["Stopping..."] - begin
    studio.close()
    rows = [
        [
            f"{name} ({PAUSES} clicks)",
            f"{median(values) * 1e3:.0f}",
            f"{max(values) * 1e3:.0f}",
            str(STATE_MS),
        ]
        for name, values in (("pause heard", heard), ("paused", done))
    ]
    return [*rows, ["stop heard (1 click)", f"{stop * 1e3:.0f}", f"{stop * 1e3:.0f}", str(STATE_MS)]]


def language() -> list[list[str]]:
    """From the choice of a language, while a training runs, to the window with all its texts painted."""
    studio = open_window()
    studio.complete()
    train(studio)
    studio.frame.menus["View"].aboutToShow.emit()  # as who chooses a language opens it
    took: dict[str, list[float]] = {"zh_CN": [], "en": []}
    for turn in range(2 * SWITCHES):
        page = list(PAGES)[turn // 2 % len(PAGES)]
        studio.frame.show_page(page)
        live(0.3)
        name = ("zh_CN", "en")[turn % 2]
        begin = time.perf_counter()
        studio.frame.language.use(name)
        QApplication.processEvents()
        studio.window.repaint()
        took[name].append(time.perf_counter() - begin)
    studio.close()
    return [
        [
            f"{title} ({SWITCHES} times, {len(PAGES)} pages)",
            f"{median(took[name]) * 1e3:.0f}",
            f"{max(took[name]) * 1e3:.0f}",
            str(LANGUAGE_MS),
        ]
        for name, title in (("zh_CN", "window in Chinese"), ("en", "window in English"))
    ]


MEASUREMENTS: dict[str, Callable[[], list[list[str]]]] = {"pause": pause, "language": language}


def main(names: list[str]) -> None:
    """Measure and print one table for the start, one of answers, and one of the plots."""
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
        os.environ[name] = tempfile.mkdtemp()
    if not names or "start" in names:
        gui_start.main()
    if names == ["start"]:
        return
    names = [name for name in names if name != "start"]
    plots = [name for name in names if name in gui_plots.MEASUREMENTS]
    rows = [["ms", "median", "max", "budget"]]
    for name in [name for name in names if name not in plots] if names else MEASUREMENTS:
        rows += MEASUREMENTS[name]()
    if len(rows) > 1:
        print(table(rows))
    if plots or not names:
        gui_plots.main(plots)


if __name__ == "__main__":
    main(measurement_names("bench.gui", ("start", *MEASUREMENTS, *gui_plots.MEASUREMENTS)))
