"""LinkedDiagrams: two diagrams side by side that scroll, zoom and select together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QObject

from widgets.program_diagram.diagram import ProgramDiagram
from widgets.program_diagram.index import Rows
from widgets.program_diagram.scene import Scene


class LinkedDiagrams(QObject):
    """What is in the middle of the diagram that the user moves is at the same place in the other one.

    The layouts may differ: the view follows the pair of boxes that is nearest to the middle.
    """

    def __init__(self, left: ProgramDiagram, right: ProgramDiagram) -> None:
        super().__init__(left)
        self._sides = (left, right)
        self._pairs: dict[int, int] = {}
        self._rows: tuple[Scene, Scene, Rows, Rows] | None = None
        self._following = False
        for side, diagram in enumerate(self._sides):
            diagram.view_changed.connect(lambda side=side: self._follow(side))
            diagram.selection_changed.connect(lambda nodes, side=side: self._select(side, nodes))

    def set_pairs(self, pairs: Mapping[int, int]) -> None:
        """Nodes of the left diagram with their counterparts in the right one."""
        self._pairs = dict(pairs)
        self._rows = None

    def _paired_rows(self) -> tuple[Rows, Rows]:
        """The rows of the boxes that both have."""
        scenes = self._sides[0].scene(), self._sides[1].scene()
        if self._rows is None or self._rows[0] is not scenes[0] or self._rows[1] is not scenes[1]:
            places = [{node: row for row, node in enumerate(scene.ids.tolist())} for scene in scenes]
            found = [
                (places[0][left], places[1][right])
                for left, right in self._pairs.items()
                if left in places[0] and right in places[1]
            ]
            rows = np.array(found, np.intp).reshape(-1, 2)
            self._rows = (*scenes, rows[:, 0], rows[:, 1])
        return self._rows[2], self._rows[3]

    def _follow(self, side: int) -> None:
        """The other side shows what this one does."""
        moved, other = self._sides[side], self._sides[1 - side]
        if self._following or not moved.isVisible() or not other.isVisible():
            return
        rows = self._paired_rows()
        if not len(rows[0]):
            return
        ours, theirs = moved.scene().boxes[rows[side]], other.scene().boxes[rows[1 - side]]
        view = moved.view()
        x, y = view.to_scene(moved.width() / 2, moved.height() / 2)
        # Below the middle of the title: a frame may be much higher in one of them.
        away = np.hypot(ours[:, 0] + ours[:, 2] / 2 - x, ours[:, 1] + 14.0 - y)
        nearest = int(away.argmin())
        mine, counterpart = ours[nearest].tolist(), theirs[nearest].tolist()
        at = view.to_screen(mine[0] + mine[2] / 2, mine[1])
        middle = other.width() / 2 + at[0] - moved.width() / 2
        self._following = True
        try:
            other.set_view(view.placed(counterpart[0] + counterpart[2] / 2, counterpart[1], middle, at[1]))
        finally:
            self._following = False

    def _select(self, side: int, nodes: list[int]) -> None:
        """The other side selects the counterparts."""
        other = self._sides[1 - side]
        pairs = self._pairs if side == 0 else {right: left for left, right in self._pairs.items()}
        other.select([pairs[node] for node in nodes if node in pairs])
