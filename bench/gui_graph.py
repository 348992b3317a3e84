"""What the diagram of a Program costs: frames of a pan and a zoom, the first image, the longest turn."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from bench.frames import Figure, Frames, wait
from widgets.program_diagram import ProgramDiagram
from widgets.program_diagram.demo import layered_scene

BOXES, FRAMES = 2000, 120
FRAME_MS, STALL_MS, FIRST_MS = 16.0, 50.0, 300.0
WIDE, HIGH = 1280, 800


def _shown(boxes: int, across: int) -> ProgramDiagram:
    diagram = ProgramDiagram()
    diagram.resize(WIDE, HIGH)
    diagram.set_scene(layered_scene(boxes, across))
    diagram.show()
    QApplication.processEvents()
    diagram.fit()
    wait(lambda: diagram.is_sharp)
    return diagram


def _turn(diagram: ProgramDiagram, angle: int) -> None:
    at, none = QPointF(WIDE / 2, HIGH / 2), QPoint()
    event = QWheelEvent(
        at, QPointF(diagram.mapToGlobal(at)), none, QPoint(0, angle), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(diagram, event)


class _Turns:
    """The longest turns of the loop, on the clock and of this process, in milliseconds."""

    def __init__(self) -> None:
        self.clock = self.own = 0.0

    def live(self, holds: Callable[[], bool], seconds: float = 5.0) -> None:
        """Let the loop turn until ``holds``."""
        end = time.perf_counter() + seconds
        while not holds() and time.perf_counter() < end:
            clock, own = time.perf_counter(), time.process_time()
            QApplication.processEvents()
            took = (time.process_time() - own) * 1e3
            if took > self.own:
                self.clock, self.own = (time.perf_counter() - clock) * 1e3, took


def graph_pan() -> list[Figure]:
    """From a move of the mouse that drags the diagram to the painted frame, all boxes in view."""
    diagram, frames, turns = _shown(BOXES, 40), Frames(), _Turns()
    left, none = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    begin = QPoint(WIDE // 2, HIGH // 2)
    QTest.mousePress(diagram, left, none, begin)
    for frame in range(FRAMES):
        way = 2 * np.pi * frame / FRAMES
        at = begin + QPoint(round(250 * np.sin(way)), round(120 * np.sin(2 * way)))
        with frames.frame():
            QTest.mouseMove(diagram, at)
            diagram.repaint()
            QApplication.processEvents()
    QTest.mouseRelease(diagram, left, none, begin)
    turns.live(lambda: diagram.is_sharp)
    diagram.deleteLater()
    return [
        *frames.p95(f"pan of {BOXES:,} boxes in view", FRAME_MS),
        Figure("longest turn until it is sharp again", turns.clock, STALL_MS, turns.own, by_own=True),
    ]


def graph_zoom() -> list[Figure]:
    """From a notch of the wheel to the painted frame: out and in again, with time to become sharp between."""
    diagram, frames, turns = _shown(BOXES, 40), Frames(), _Turns()
    for frame in range(FRAMES):
        with frames.frame():
            _turn(diagram, -30 if (frame // 10) % 2 == 0 else 30)
            diagram.repaint()
            QApplication.processEvents()
        if frame % 10 == 9:
            turns.live(lambda: diagram.is_sharp)
    diagram.deleteLater()
    return [
        *frames.p95(f"zoom of {BOXES:,} boxes in view", FRAME_MS),
        Figure("longest turn until it is sharp again", turns.clock, STALL_MS, turns.own, by_own=True),
    ]


def graph_first() -> list[Figure]:
    """From a scene to its first sharp image: 1,000 closed groups, and all of 100,000 boxes at once."""
    figures = []
    for boxes, across, budget in ((1001, 20, FIRST_MS), (100_000, 300, 1000.0)):
        scene = layered_scene(boxes, across)
        diagram, turns = ProgramDiagram(), _Turns()
        diagram.resize(WIDE, HIGH)
        diagram.show()
        QApplication.processEvents()
        clock, own = time.perf_counter(), time.process_time()
        diagram.set_scene(scene)
        diagram.fit()
        turns.live(lambda: diagram.is_sharp)  # noqa: B023  # called at once
        took = (time.perf_counter() - clock) * 1e3
        own = (time.process_time() - own) * 1e3
        figures.append(Figure(f"{boxes:,} boxes, sharp for the first time", took, budget, own))
        figures.append(Figure("longest turn of the loop", turns.clock, STALL_MS, turns.own, by_own=True))
        diagram.deleteLater()
    return figures


def graph() -> list[Figure]:
    """All of them."""
    return [*graph_first(), *graph_pan(), *graph_zoom()]
