"""Pen to bars: ``python -m bench.pen``, the time from a mouse event to the paint of the bars that answer it.

A stroke is drawn on the page Predict with a mouse that reports its position every 8 ms, first while nothing
else runs, then while maps of each method follow, then next to a training. Prints p50, p95 and the longest in
ms next to the budgets, and how many maps a second were shown. An event is answered by the first bars that
were computed from a drawing with it.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtCore import QEvent, QObject, QPointF, Qt, QTimer
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from bench.timing import table

EVENTS = 400
EVERY_MS = 8
WAIT_S = 120.0
METHODS = ("saliency", "integrated", "occlusion")
BUDGETS = {"idle": 16.0, **dict.fromkeys(METHODS, 16.0), "training": 33.0}


class Pen(QObject):
    """Draws on the pad of ``studio`` and notes when the bars have answered each event."""

    def __init__(self, studio: Any) -> None:
        super().__init__()
        self.studio = studio
        self.latencies: list[float] = []
        self._open: list[tuple[int, float]] = []
        self._asked: dict[int, int] = {}  # image -> number of the newest event in it
        self._answered = -1
        self._count = 0
        view, predict_models = studio.session.predict, studio.session.predict_models
        ask, answered = predict_models.ask, view.answered

        def note_asked(values: Any, place: int = 0) -> None:
            ask(values, place)
            self._asked[id(view.fed[0])] = self._count - 1

        def note_answered(answer: Any) -> None:
            answered(answer)
            self._answered = max(self._answered, self._asked.get(id(answer.fed[0]), -1))

        predict_models.ask, view.answered = note_asked, note_answered
        studio.predict_page.bars.installEventFilter(self)
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(EVERY_MS)
        self._timer.timeout.connect(self._move)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self._painted)
        return False

    def draw(self, events: int) -> list[float]:
        """Seconds from event to paint of a stroke of so many events."""
        self.latencies, self._open, self._count = [], [], 0
        self._asked, self._answered = {}, -1
        self.studio.predict_page.pad.clear()
        self._send(QEvent.Type.MouseButtonPress)
        self._timer.start()
        wait(lambda: self._count >= events, events * 0.05 + 30)
        self._timer.stop()
        self._send(QEvent.Type.MouseButtonRelease)
        wait(lambda: not self._open, 10)
        return self.latencies

    def _move(self) -> None:
        self._send(QEvent.Type.MouseMove)

    def _send(self, kind: QEvent.Type) -> None:
        pad = self.studio.predict_page.pad
        turn = self._count / 40
        reach = 0.3 * min(pad.width(), pad.height())
        middle = pad.rect().center()
        at = QPointF(middle.x() + reach * math.cos(turn), middle.y() + reach * math.sin(1.7 * turn))
        left = Qt.MouseButton.LeftButton
        event = QMouseEvent(kind, at, pad.mapToGlobal(at), left, left, Qt.KeyboardModifier.NoModifier)
        self._open.append((self._count, time.perf_counter()))
        self._count += 1
        QApplication.sendEvent(pad, event)

    def _painted(self) -> None:
        now = time.perf_counter()
        done = [begin for number, begin in self._open if number <= self._answered]
        self.latencies += [now - begin for begin in done]
        self._open = self._open[len(done) :]


def wait(condition: Callable[[], bool], seconds: float) -> None:
    """Let the window work until ``condition`` holds. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"pen: nothing came within {seconds:g} s; try on a machine with less to do")
        QApplication.processEvents()
        time.sleep(0.0002)


def exported_lenet(folder: Path) -> str:
    """A prefix of an untrained LeNet's inference files in ``folder``."""
    from engine import jit
    from engine.jit.input_spec import InputSpec
    from engine.vision.models import LeNet

    network = LeNet()
    network.eval()
    jit.save(network, str(folder / "lenet"), input_spec=[InputSpec([None, 1, 28, 28], "float32", "x")])
    return str(folder / "lenet")


def pen_to_bars() -> dict[str, list[float]]:
    """Seconds of each event of a stroke, by what else runs: ``idle`` and ``training``."""
    from studio.app import Studio
    from studio.session.session import Session

    app = QApplication.instance() or QApplication(sys.argv[:1])
    found: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        studio = Studio(app, Session(runs_folder=folder / "runs"))  # type: ignore[arg-type]
        try:
            studio.window.resize(1280, 800)
            studio.window.show()
            prefix = exported_lenet(folder)
            studio.frame.show_page("predict")

            def load() -> None:
                studio.predict.load(prefix)
                wait(lambda: studio.session.predict.model is not None, WAIT_S)

            load()
            pen = Pen(studio)
            pen.draw(50)
            found["idle"] = pen.draw(EVENTS)
            studio.predict_page.show_why(True)
            for method in METHODS:
                found[method] = _with_maps(pen, method)
            studio.predict_page.show_why(False)
            for setting, value in (("data", "digits"), ("model", "lenet"), ("epochs", 50)):
                studio.session.change_setting(setting, value)
            studio.session.start()
            wait(lambda: studio.session.train.step > 20, WAIT_S)
            load()  # the page showed the new run
            pen.draw(50)
            found["training"] = pen.draw(EVENTS)
        finally:
            studio.close()
            app.processEvents()
    return found


def _with_maps(pen: Pen, method: str) -> list[float]:
    """As ``pen.draw`` while maps of a method follow; prints how many."""
    explanations, maps = pen.studio.session.explaining.predict, 0

    def count(found: Any) -> None:
        nonlocal maps
        maps += found is not None

    explanations.change(method=method)
    pen.draw(50)
    wait(lambda: explanations.view.found is not None, WAIT_S)
    explanations.view.events.found.connect(count)
    begin = time.perf_counter()
    seconds = pen.draw(EVENTS)
    print(f"{method}: {maps / (time.perf_counter() - begin):.1f} maps a second")
    explanations.view.events.found.disconnect(count)
    return seconds


def main() -> None:
    """Measure and print one table."""
    rows = [["pen to bars, ms", "p50", "p95", "longest", "budget p95"]]
    for name, seconds in pen_to_bars().items():
        p50, p95 = np.percentile(seconds, [50, 95]) * 1e3
        rows.append([name, f"{p50:.1f}", f"{p95:.1f}", f"{1e3 * max(seconds):.1f}", f"{BUDGETS[name]:g}"])
    print(table(rows))


if __name__ == "__main__":
    main()
