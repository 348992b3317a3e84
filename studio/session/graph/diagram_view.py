"""DiagramView: the diagram of the page Graph: what is open in it, where its boxes are, and their colours."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from psygnal import Signal

from studio.session.graph.coloring import Coloring
from studio.session.graph.figures import Figures, Place
from studio.session.work.file_thread import FileThread

if TYPE_CHECKING:
    from studio.session.graph.diagram.diagram import Diagram
    from studio.session.graph.diagram.scene import Scene
    from studio.session.graph.diagram.texts import DiagramWords
    from studio.session.graph.graph_view import GraphViewModel

SECONDS = 0.15
"""After these, the layout of what is shown is no longer improved."""


@dataclass(frozen=True)
class Drawn:
    """What is shown: boxes and edges, and the number of each node; ``fused`` says of nodes without a number
    how many operators the kernel computes that they are a part of, ``apart`` is the sum of what such kernels
    took that no box has whole. ``keep`` is the node that stays where it is on the screen, ``whole`` that the
    view begins anew."""

    scene: Scene
    figures: Figures | None
    values: Mapping[int, float | None] = field(default_factory=dict)
    fused: Mapping[int, int] = field(default_factory=dict)
    apart: float = 0.0
    keep: int | None = None
    whole: bool = False


@dataclass(eq=False)
class _Subject:
    """A Program in some words, and its diagram once the thread has made it. Requests share it: which of them
    makes the diagram, and which applies the changes, is only known when one begins.

    Attributes:
        phases: those to show at first; None for all.
        pictured: whether boxes have room for pictures at first.
        before: of the same Program in other words; what is open there is so here.
        view: the same object as in ``before``, since the view then stays where it is.
        changes: not yet applied, in order.
        scene: the last one of the thread.
    """

    program: Mapping[str, Any]
    words: DiagramWords | None
    phases: frozenset[str] | None
    pictured: bool
    before: _Subject | None
    view: object
    diagram: Diagram | None = None
    changes: deque[Callable[[Diagram], object]] = field(default_factory=deque)
    scene: Scene | None = None

    def make(self, make: type[Diagram]) -> Diagram:
        """The diagram, which the first call makes. Raises FormatError."""
        if self.diagram is None:
            made = make(self.program) if self.words is None else make(self.program, words=self.words)
            if self.phases is not None:
                made.show(self.phases)
            made.give_room(self.pictured)
            if self.before is not None:
                self.before.open_in(made)
                self.before = None
            self.diagram = made
        return self.diagram

    def open_in(self, other: Diagram) -> None:
        """Open in another diagram what is open in this one, or would be."""
        if self.diagram is not None:
            other.open_as(self.diagram)
        elif self.before is not None:
            self.before.open_in(other)
        self.change(other)

    def change(self, diagram: Diagram) -> bool:
        """Apply the changes; whether there was one."""
        changed = bool(self.changes)
        while self.changes:
            self.changes.popleft()(diagram)
        return changed


class DiagramView:
    """Lays the Program out in a thread; ``drawn`` is emitted with what is there then, ``failed`` with why
    there is nothing.

    Nothing is laid out before ``wanted`` is True: the diagram can be seen.

    Args:
        graph: has the Program.
        coloring: has the numbers.
        thread: lays out.
    """

    drawn: ClassVar = Signal(object)
    failed: ClassVar = Signal(str)
    found: ClassVar = Signal(list)

    def __init__(self, graph: GraphViewModel, coloring: Coloring, thread: FileThread) -> None:
        self._graph, self._coloring, self._thread = graph, coloring, thread
        self.shown: Drawn | None = None
        self.wanted = False
        self.words: DiagramWords | None = None
        self.problem = ""
        self._phases: frozenset[str] | None = None
        self._pictured = False
        self._subject: _Subject | None = None
        self._shown_view: object = None
        self._turn = 0
        self._middle: tuple[float, float] | None = None

    @property
    def diagram(self) -> Diagram | None:
        """That of the Program; None until the thread has made it."""
        return None if self._subject is None else self._subject.diagram

    def use_words(self, words: DiagramWords) -> None:
        """Show the Program with these words; what is open stays open."""
        if words != self.words:
            self.words = words
            self.draw()

    # ----- what is shown -----

    def want(self, wanted: bool) -> None:
        """The diagram can be seen, or no longer."""
        self.wanted = wanted
        if wanted:
            self.draw()

    def draw(self, keep: int | None = None, recolor: bool = False) -> None:
        """Show the Program as it is now, where that can be seen; ``recolor`` only colours it anew."""
        program = self._graph.program
        if not self.wanted:
            return
        self._turn += 1
        turn = self._turn
        if not program:
            self._subject = self.shown = self._shown_view = None
            return
        subject = self._subject = self._subject_of(program)
        from studio.session.graph.diagram.diagram import Diagram  # not in the thread, which may not import it

        def work() -> Drawn | str | None:
            from engine.core.errors import EngineError

            try:
                diagram = subject.make(Diagram)
            except EngineError as error:
                return str(error)
            return self._laid_out(subject, diagram, turn, keep, recolor)

        self._thread.do(work, lambda found: self._take(found, turn), f"diagram {id(self)}")

    def _subject_of(self, program: Mapping[str, Any]) -> _Subject:
        """What is to be shown: as until now, if neither the Program nor the words are others."""
        last = self._subject
        if last is not None and last.program is program and last.words == self.words:
            return last
        before = last if last is not None and last.program is program else None
        view = object() if before is None else before.view
        return _Subject(program, self.words, self._phases, self._pictured, before, view)

    def _laid_out(
        self, subject: _Subject, diagram: Diagram, turn: int, keep: int | None, recolor: bool
    ) -> Drawn | None:
        from studio.session.graph.diagram.arrange import LayoutCancelled

        changed = subject.change(diagram)
        scene = subject.scene
        if scene is None or changed or not recolor:
            subject.scene = None  # also if it is cancelled: it is not as the groups are open now
            try:
                scene = diagram.scene(SECONDS, lambda: self._turn != turn, self._middle)
            except LayoutCancelled:
                return None
            subject.scene = scene
        figures = self._coloring.figures()
        if figures is None:
            return Drawn(scene, None, keep=keep)
        values, fused = values_by_node(diagram, scene, figures)
        return Drawn(scene, figures, values, fused, apart(diagram, scene, figures), keep)

    def _take(self, found: Drawn | str | None, turn: int) -> None:
        if turn != self._turn or found is None:
            return
        if isinstance(found, str):
            self.problem, self.shown = found, None
            self.failed.emit(found)
            return
        # The first layout of a Program may have been cancelled: compare with the view shown before.
        view = None if self._subject is None else self._subject.view
        found = replace(found, whole=self._shown_view is not view)
        self._shown_view = view
        self.problem, self.shown = "", found
        self.drawn.emit(found)

    # ----- changes -----

    def change(self, how: Callable[[Diagram], object], keep: int | None = None) -> None:
        """Change the diagram in the thread and draw it."""
        if self._subject is not None:
            self._subject.changes.append(how)
        self.draw(keep)

    def toggle(self, node: int) -> None:
        """Open a group, or close it."""
        self.change(
            lambda diagram: diagram.close(node) if diagram.is_open(node) else diagram.open(node), node
        )

    def more(self, node: int) -> None:
        """Show the next children of a group."""
        self.change(lambda diagram: diagram.more(node), node)

    def open_all(self, opened: bool) -> None:
        """Open all groups, or close them."""
        self.change(lambda diagram: diagram.open_all() if opened else diagram.close_all())

    def reveal(self, node: int) -> None:
        """Open the groups around a node."""
        self.change(lambda diagram: diagram.reveal(node), node)

    def show_phases(self, phases: Sequence[str]) -> None:
        """Show operators of these phases only."""
        self._phases = frozenset(phases)
        self.change(lambda diagram: diagram.show(phases))

    def give_room(self, pictured: bool) -> None:
        """Let boxes have room for pictures, or not."""
        self._pictured = pictured
        self.change(lambda diagram: diagram.give_room(pictured))

    def look_at(self, x: float, y: float) -> None:
        """The middle of what is seen, in the last scene: with very many boxes, groups near it are open."""
        self._middle = (x, y)

    # ----- questions -----

    def node_of(self, place: Place) -> int | None:
        """The node of an operator; None where the diagram has none."""
        if self.diagram is None:
            return None
        try:
            return self.diagram.node_of(*place)
        except KeyError:
            return None

    def place_of(self, node: int) -> Place | None:
        """The operator that a node is, or the first one of a group."""
        places = [] if self.diagram is None else self.diagram.operators_of(node)
        return places[0] if places else None

    def is_shown(self, node: int) -> bool:
        """Whether the node has a box now."""
        return self.shown is not None and bool((self.shown.scene.ids == node).any())

    def find(self, text: str) -> None:
        """Search for a text; ``found`` is emitted with the nodes."""
        diagram = self.diagram
        if diagram is None or not text.strip():
            self.found.emit([])
            return
        self._thread.do(lambda: diagram.find(text), self.found.emit, f"find in diagram {id(self)}")


def values_by_node(
    diagram: Diagram, scene: Scene, figures: Figures
) -> tuple[dict[int, float | None], dict[int, int]]:
    """The number of each box; and how many operators are fused with the one of a box that has none."""
    values: dict[int, float | None] = {}
    fused: dict[int, int] = {}
    for node in scene.ids.tolist():
        places = diagram.operators_of(node)
        values[node] = figures.of(places)
        if values[node] is None:
            shared = [found[1] for place in places if (found := figures.shared_at(place)) is not None]
            if shared:
                fused[node] = max(shared)
    return values, fused


def apart(diagram: Diagram, scene: Scene, figures: Figures) -> float:
    """The sum of the sources with several operators that no box has whole."""
    shown = set(scene.ids.tolist())
    total = 0.0
    for source in figures.sources:
        if source.any_place or len(source.places) < 2:
            continue
        node = diagram.node_of(*min(source.places))
        around = [each for each in diagram.parents_of(node) if each in shown]
        if not any(source.places <= set(diagram.operators_of(each)) for each in around):
            total += source.value
    return total
