"""The operators of the page Debug as a diagram: position, breakpoints, and the shared selection."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtCore import QObject, Signal

from resources.words import shown
from studio.controllers.bindings import Bindings
from studio.controllers.graph.program_words import diagram_words
from studio.session.debug.breakpoints import Breakpoint
from studio.session.graph.coloring import Coloring
from studio.session.graph.diagram_view import DiagramView, Drawn
from studio.session.graph.graph_view import GraphViewModel
from studio.session.work.file_thread import FileThread
from studio.windows.debug.debug_page import DebugPage

Marks = Mapping[tuple[int, int], tuple[str, str]]


class DebugDiagramController(QObject):
    """Laid out in a thread, and only while it can be seen. ``operator_chosen`` carries block and number."""

    operator_chosen = Signal(int, int)

    def __init__(self, page: DebugPage, thread: FileThread, message: Callable[[], str]) -> None:
        super().__init__(page)
        self._page, self._shown, self._message = page, page.diagram, message
        self._graph = GraphViewModel()
        self._view = DiagramView(self._graph, Coloring(self._graph, thread), thread)
        self._marks: Marks = {}
        self._at: tuple[int, int] | None = None
        self._bonds = Bindings()
        page.diagram_toggled.connect(lambda _: self._want())
        self._shown.selected.connect(self._select)
        self._shown.activated.connect(self._view.toggle)
        self._shown.more_asked.connect(self._view.more)
        self._shown.step_asked.connect(self._step)
        self._bonds.again(lambda: self._view.use_words(diagram_words()), now=True)
        self._bonds.follow(self._view.drawn, self._draw)
        self._bonds.follow(self._view.failed, self._fail)

    def set_program(self, program: Mapping[str, Any]) -> None:
        """Show the operators of another part."""
        self._graph.program = dict(program)
        self._at, self._marks = None, {}
        self._shown.set_scene(None)
        self._want()

    def _want(self) -> None:
        shown = self._page.shows_diagram()
        if shown and self._view.shown is None and self._graph.program:
            self._shown.set_busy(self._message())
        self._view.want(shown)

    def _draw(self, drawn: Drawn) -> None:
        shown = self._shown
        shown.set_busy("")
        if shown.scene() is not drawn.scene:
            if drawn.whole:
                shown.set_scene(None)
            shown.set_scene(drawn.scene, drawn.keep)
        self._mark()
        if drawn.whole:  # the groups around the position are still closed
            self.show_position(self._at)
        else:
            self._show_position()

    def _fail(self, why: str) -> None:
        self._shown.set_busy("")
        self._shown.set_scene(None)
        self._shown.set_message(shown(why))

    # ----- position and breakpoints -----

    def show_position(self, at: tuple[int, int] | None) -> None:
        """Bring an operator into view; the groups around it are opened."""
        self._at = at
        node = None if at is None else self._view.node_of(at)
        if node is not None and self._page.shows_diagram() and not self._view.is_shown(node):
            self._view.reveal(node)
        else:
            self._show_position()

    def _show_position(self) -> None:
        node = None if self._at is None else self._view.node_of(self._at)
        if node is not None and self._view.is_shown(node):
            self._shown.select([node])
            self._shown.ensure_visible(node)

    def mark(self, marks: Marks) -> None:
        """Show the marks of operators; a closed group has those of its operators."""
        self._marks = marks
        self._mark()

    def _mark(self) -> None:
        diagram = self._view.diagram
        if diagram is None or self._view.shown is None or not self._page.shows_diagram():
            return
        found: dict[int, set[str]] = {}
        for place, (name, _) in self._marks.items():
            node = self._view.node_of(place)
            around = [] if node is None else [*diagram.parents_of(node), node]
            visible = [each for each in around if self._view.is_shown(each)]
            if visible:
                mark = "current" if name == "position" else name.replace("-", "_")
                found.setdefault(visible[-1], set()).add(mark)
        self._shown.set_marks({node: sorted(names) for node, names in found.items()})

    # ----- selection -----

    def _select(self, node: int) -> None:
        diagram, place = self._view.diagram, self._view.place_of(node)
        if diagram is not None and place is not None and not diagram.is_group(node):
            self.operator_chosen.emit(*place)

    def _step(self, node: int, way: str) -> None:
        diagram = self._view.diagram
        found = [] if diagram is None else diagram.neighbours(node, way)
        if found:
            self._shown.select([found[0]])
            self._shown.ensure_visible(found[0])
            self._select(found[0])

    def selected_group(self) -> Breakpoint | None:
        """A breakpoint at the selected group where that is the call of a layer."""
        diagram, node = self._view.diagram, self._shown.current()
        if diagram is None or node is None or not diagram.is_group(node):
            return None
        path = self._layer_of(node)
        return Breakpoint("layer", layer=path) if path else None

    def _layer_of(self, node: int) -> str:
        """The path of layer calls that all operators of a group share and no longer one."""
        diagram = self._view.diagram
        assert diagram is not None, "the node is of it"
        blocks = self._graph.program.get("blocks", [])
        layers = {str(blocks[b]["ops"][op].get("layer") or "") for b, op in diagram.operators_of(node)}
        common = [path.split(".") for path in layers]
        shared = []
        for names in zip(*common, strict=False):
            if len(set(names)) > 1:
                break
            shared.append(names[0])
        return ".".join(shared)

    def close(self) -> None:
        """Follow the view no longer."""
        self._bonds.release()
