"""What the diagram of a Program costs: frames of a pan and a zoom, the first image, the longest turn."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from bench.frames import Figure, Frames, wait
from widgets.program_diagram import Picture, ProgramDiagram, View
from widgets.program_diagram.demo import BOX_HIGH, layered_scene
from widgets.tensor_view import Planes

BOXES, FRAMES = 2000, 120
OPERATORS, GROUP = 100_000, 1000
FRAME_MS, STALL_MS, FIRST_MS, OPEN_MS, INDEX_MS = 16.0, 50.0, 300.0, 150.0, 1000.0
LAYOUT_S = 0.1  # as the page Graph gives a layout
WIDE, HIGH = 1280, 800
PICTURED, PICTURE_LEAST, SAMPLE_MS = 104.0, 49.0, 33.0  # pixels of a box; of one on the screen


def _shown(boxes: int, across: int, high: float = BOX_HIGH) -> ProgramDiagram:
    diagram = ProgramDiagram()
    diagram.resize(WIDE, HIGH)
    diagram.set_scene(layered_scene(boxes, across, high=high))
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
            self.take(QApplication.processEvents)

    def take(self, turn: Callable[[], object]) -> None:
        """What the loop would call in one turn."""
        clock, own = time.perf_counter(), time.process_time()
        turn()
        took = (time.process_time() - own) * 1e3
        if took > self.own:
            self.clock, self.own = (time.perf_counter() - clock) * 1e3, took


def _pictures(diagram: ProgramDiagram, seed: int) -> dict[int, Picture]:
    """16 channels of 28 by 28 for each box."""
    values = np.random.default_rng(seed).normal(size=(16, 28, 28)).astype(np.float32)
    planes = Planes(values, total=16, low=float(values.min()), high=float(values.max()))
    return {node: Picture(planes, words="16 × 28 × 28 · 0 %") for node in diagram.scene().ids.tolist()}


def graph_pictures() -> list[Figure]:
    """As ``graph_pan`` with channels on all boxes that can have them; then other samples on them."""
    diagram, turns = _shown(BOXES, 40, PICTURED), _Turns()
    diagram.set_pictures(_pictures(diagram, 0))
    diagram.set_view(View(-400.0, -400.0, PICTURE_LEAST / PICTURED))
    turns.live(lambda: diagram.is_sharp)
    frames, following = _panned(diagram), Frames()
    turns.live(lambda: diagram.is_sharp)
    for sample in range(20):
        pictures = _pictures(diagram, sample)
        with following.frame():
            diagram.set_pictures(pictures)
            diagram.repaint()
    diagram.deleteLater()
    return [
        *frames.p95(f"pan of {BOXES:,} boxes with channels", FRAME_MS),
        *following.p95("another sample on the boxes in view", SAMPLE_MS),
    ]


def _panned(diagram: ProgramDiagram) -> Frames:
    frames = Frames()
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
    return frames


def graph_pan() -> list[Figure]:
    """From a move of the mouse that drags the diagram to the painted frame, all boxes in view."""
    diagram, turns = _shown(BOXES, 40), _Turns()
    frames = _panned(diagram)
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
        turns.take(lambda: diagram.set_scene(scene))  # noqa: B023  # called at once
        diagram.fit()
        turns.live(lambda: diagram.is_sharp)  # noqa: B023  # called at once
        took = (time.perf_counter() - clock) * 1e3
        own = (time.process_time() - own) * 1e3
        figures.append(Figure(f"{boxes:,} boxes, sharp for the first time", took, budget, own))
        figures.append(Figure("longest turn of the loop", turns.clock, STALL_MS, turns.own, by_own=True))
        diagram.deleteLater()
    return figures


def program_of(operators: int, layer: int) -> dict[str, Any]:
    """A plain Program of layers of so many operators; each reads the one before, some also an earlier one."""
    ops, names = [], ["x"]
    for number in range(operators):
        read = [names[-1], *names[-6:-5]] if number % 4 == 0 else [names[-1]]
        names.append(f"v{number}")
        ops.append(
            {
                "type": ("conv2d", "relu", "elementwise_add", "batch_norm")[number % 4],
                "inputs": {"X": read}, "outputs": {"Out": [names[-1]]}, "attrs": {}, "regions": [],
                "notes": {}, "file": None, "line": None, "layer": f"layer{number // layer}",
            }
        )  # fmt: skip
    common = {"dtype": "float32", "persistable": False, "stop_gradient": False, "parameter": False}
    made = [{"name": name, "shape": [-1, 64, 56, 56], "data": name == "x", **common} for name in names]
    block = {"idx": 0, "parent": -1, "vars": made, "ops": ops}
    return {"version": 2, "inputs": ["x"], "outputs": [names[-1]], "blocks": [block]}


def graph_program() -> list[Figure]:
    """A Program of 100,000 operators: its groups closed, and one of 1,000 operators that opens.

    Until the scene is there another thread works; the turns of the loop begin with it.
    """
    from studio.session.graph.diagram.diagram import Diagram

    program = program_of(OPERATORS, GROUP)
    clock, own = time.perf_counter(), time.process_time()
    groups = Diagram(program)
    made, own = (time.perf_counter() - clock) * 1e3, (time.process_time() - own) * 1e3
    figures = [Figure(f"groups of {OPERATORS:,} operators found", made, INDEX_MS, own)]
    diagram, turns = ProgramDiagram(), _Turns()
    diagram.resize(WIDE, HIGH)
    diagram.show()
    QApplication.processEvents()

    def painted(name: str, budget: float, keep: int | None) -> None:
        clock, own = time.perf_counter(), time.process_time()
        scene = groups.scene(LAYOUT_S)
        turns.take(lambda: diagram.set_scene(scene, keep))
        turns.live(lambda: diagram.is_sharp)
        took, own = (time.perf_counter() - clock) * 1e3, (time.process_time() - own) * 1e3
        figures.append(Figure(name, took, budget, own))

    painted(f"{OPERATORS:,} operators, closed groups painted", FIRST_MS, None)
    for node in groups.children_of()[:3]:
        if groups.is_group(node):
            groups.open(node)
            painted(f"a group of {GROUP:,} operators opened", OPEN_MS, node)
    figures.append(Figure("longest turn of the loop", turns.clock, STALL_MS, turns.own, by_own=True))
    diagram.deleteLater()
    return figures


def graph() -> list[Figure]:
    """All of them."""
    return [*graph_program(), *graph_first(), *graph_pan(), *graph_zoom(), *graph_pictures()]
