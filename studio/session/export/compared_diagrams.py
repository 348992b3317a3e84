"""ComparedDiagrams: the diagrams of two Programs, in which what both have is opened and closed together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.session.export.program_pair import KINDS, Kind, Place, ProgramPair
from studio.session.graph.diagram.texts import ENGLISH, DiagramWords

if TYPE_CHECKING:
    from studio.session.graph.diagram.diagram import Diagram
    from studio.session.graph.diagram.scene import Scene

MOST_OPENED = 40
"""Up to so many changes, the groups around them are open at the beginning."""
SECONDS = 0.15
"""After these, a layout is no longer improved."""


@dataclass(frozen=True)
class DrawnPair:
    """What is shown of both: scenes, the marks of their nodes, and the nodes of A with those of B."""

    scenes: tuple[Scene, Scene]
    marks: tuple[Mapping[int, tuple[Kind, ...]], Mapping[int, tuple[Kind, ...]]]
    partners: Mapping[int, int]


class ComparedDiagrams:
    """Two diagrams of a pair of Programs. All of it may run in a thread, one call after another.

    Raises FormatError for a Program that no diagram can be made of.
    """

    def __init__(self, pair: ProgramPair, words: DiagramWords = ENGLISH) -> None:
        from studio.session.graph.diagram.diagram import Diagram

        self.sides: tuple[Diagram, Diagram] = (
            Diagram(pair.a, words=words),
            Diagram(pair.b, words=words),
        )
        self._pair = pair
        self.partners = dict(self._find_partners())
        self._back = {right: left for left, right in self.partners.items()}
        self._marks = tuple(self._marks_of(side) for side in (0, 1))
        changed = [node for side in (0, 1) for node in self._marks[side]]
        if len(changed) <= MOST_OPENED:
            for side in (0, 1):
                for node in self._marks[side]:
                    self.reveal(side, node)

    @property
    def shortened(self) -> str:
        """Why a Program is shown shortened; empty where both are whole."""
        return self.sides[0].shortened or self.sides[1].shortened

    def node_of(self, side: int, place: Place) -> int | None:
        """The node of an operator; None where its diagram has none."""
        try:
            return self.sides[side].node_of(*place)
        except (KeyError, IndexError):
            return None

    def partner(self, side: int, node: int) -> int | None:
        """The node of the other side that belongs to one of ``side``."""
        return (self._back if side else self.partners).get(node)

    def _find_partners(self) -> Mapping[int, int]:
        found: dict[int, int] = {}
        groups: Counter[tuple[int, int]] = Counter()
        around: tuple[dict[int, list[int]], dict[int, list[int]]] = ({}, {})
        for places in self._pair.counterpart_places():
            nodes = [self.node_of(side, place) for side, place in enumerate(places)]
            left, right = nodes
            if left is None or right is None:
                continue
            found[left] = right
            chains = []
            for side, node in enumerate((left, right)):
                parents = self.sides[side].parents_of(node)
                key = parents[-1] if parents else -1
                chains.append(around[side].setdefault(key, parents))
            groups.update(zip(*chains, strict=False))
        taken: set[int] = set()
        for (left, right), _ in groups.most_common():  # of several, that with which it shares most
            if left not in found and right not in taken:
                found[left] = right
                taken.add(right)
        return found

    def _marks_of(self, side: int) -> dict[int, Kind]:
        marks = {}
        for place, kind in self._pair.marks(side).items():
            node = self.node_of(side, place)
            if node is not None:
                marks[node] = kind
        return marks

    # ----- what is open -----

    def toggle(self, side: int, node: int) -> None:
        """Open a group, or close it, and its counterpart."""
        opened = not self.sides[side].is_open(node)
        for which, each in self._both(side, node):
            if opened:
                self.sides[which].open(each)
            else:
                self.sides[which].close(each)

    def more(self, side: int, node: int) -> None:
        """Show the next children of a group of one side."""
        self.sides[side].more(node)

    def reveal(self, side: int, node: int) -> None:
        """Open the groups around a node and around its counterpart."""
        self.sides[side].reveal(node)
        for parent in self.sides[side].parents_of(node):
            other = self.partner(side, parent)
            if other is not None:
                self.sides[1 - side].open(other)
        other = self.partner(side, node)
        if other is not None:
            self.sides[1 - side].reveal(other)

    def open_all(self, opened: bool) -> None:
        """Open all groups of both, or close them."""
        for diagram in self.sides:
            if opened:
                diagram.open_all()
            else:
                diagram.close_all()

    def _both(self, side: int, node: int) -> list[tuple[int, int]]:
        other = self.partner(side, node)
        return [(side, node)] + ([] if other is None else [(1 - side, other)])

    def draw(self, cancelled: Callable[[], bool] | None = None) -> DrawnPair:
        """Both scenes as they are open now. Raises LayoutCancelled where ``cancelled`` says so."""
        scenes = tuple(diagram.scene(SECONDS, cancelled) for diagram in self.sides)
        marks = tuple(self._shown_marks(side, scene) for side, scene in enumerate(scenes))
        return DrawnPair((scenes[0], scenes[1]), (marks[0], marks[1]), self.partners)

    def _shown_marks(self, side: int, scene: Scene) -> dict[int, tuple[Kind, ...]]:
        """An operator has the mark of its change, a closed group those of all its operators."""
        marks, diagram = self._marks[side], self.sides[side]
        found: dict[int, tuple[Kind, ...]] = {}
        if not marks:
            return found
        numbers = set(marks)
        for node, opened in zip(scene.ids.tolist(), scene.opened.tolist(), strict=True):
            if node in marks:
                found[node] = (marks[node],)
            elif not opened:
                inside = numbers.intersection(self._operators(diagram, node))
                kinds = {marks[each] for each in inside}
                if kinds:
                    found[node] = tuple(kind for kind in KINDS if kind in kinds)
        return found

    def _operators(self, diagram: Diagram, node: int) -> list[int]:
        return [diagram.node_of(*place) for place in diagram.operators_of(node)]
