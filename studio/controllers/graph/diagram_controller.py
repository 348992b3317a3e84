"""The diagram of the page Graph: opens and closes groups, shares the selection, searches and saves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.drawing_files import ask_for_drawing, save_file
from studio.controllers.graph.program_words import diagram_words
from studio.session import commands
from studio.session.graph.diagram_view import Drawn
from studio.session.graph.figures import Place
from studio.session.session import Session
from studio.windows.dialogs import Question, ask
from studio.windows.graph.graph_page import DIAGRAM, TEXT, GraphPage
from widgets import theme
from widgets.image_bytes import encoded

if TYPE_CHECKING:
    from studio.session.graph.diagram.svg import SvgTheme
    from studio.session.graph.diagram.svg_pictures import NodePicture


class DiagramController(QObject):
    """Shows what :class:`studio.session.graph.diagram_view.DiagramView` has laid out.

    ``group_selected`` carries the name of a group that was selected, and the places of its operators.
    """

    group_selected = Signal(str, object)

    def __init__(self, session: Session, page: GraphPage, actions: Actions, window: QWidget) -> None:
        super().__init__(page)
        self._session, self._page, self._window = session, page, window
        self._graph, self._tools = session.graph, session.graph_tools
        self._view, self._shown = session.graph_tools.diagram, page.diagram
        self._hits: list[int] = []
        self._hit = -1
        self._coming: int | None = None  # the node to center on, once it is laid out
        self._bonds = Bindings()
        actions.fill_bar(page.search, "diagram")
        for which, handler in (
            (commands.FIT_DIAGRAM, self._shown.fit),
            (commands.ZOOM_IN, lambda: self._shown.zoom_by(1.25)),
            (commands.ZOOM_OUT, lambda: self._shown.zoom_by(0.8)),
            (commands.OPEN_GROUPS, lambda: self._view.open_all(True)),
            (commands.CLOSE_GROUPS, lambda: self._view.open_all(False)),
            (commands.SAVE_DIAGRAM, self.save),
        ):
            actions.handle(which, handler if which is commands.SAVE_DIAGRAM else self._in_diagram(handler))
        page.view_chosen.connect(lambda _: self._want())
        page.bar.phases_chosen.connect(self._view.show_phases)
        page.search.searched.connect(self._search)
        page.search.moved.connect(self._next)
        shown = self._shown
        shown.selected.connect(self._select)
        shown.activated.connect(self._view.toggle)
        shown.more_asked.connect(self._view.more)
        shown.step_asked.connect(self._step)
        shown.save_requested.connect(lambda: actions.trigger(commands.SAVE_DIAGRAM))
        shown.view_settled.connect(self._look)
        self._bonds.again(lambda: self._view.use_words(diagram_words()), now=True)
        self._bonds.follow(self._view.drawn, self._draw)
        self._bonds.follow(self._view.failed, self._fail)
        self._bonds.follow(self._view.found, self._take_hits)
        self._bonds.follow(self._tools.layer_shown, self._go_to_place)

    def _in_diagram(self, handler: object) -> object:
        def do() -> None:
            if self._page.current_view() != DIAGRAM:
                self._page.show_view(DIAGRAM)
            handler()  # type: ignore[operator]

        return do

    # ----- what is shown -----

    def _want(self) -> None:
        """The diagram is laid out only while it can be seen."""
        shown = self._page.isVisible() and self._page.current_view() == DIAGRAM
        if shown and self._view.shown is None and self._graph.program:
            self._shown.set_busy(self.tr("Laying out…"))
        self._view.want(shown)

    def show_program(self) -> None:
        """Another Program is there, or the page appears."""
        self._hits, self._hit = [], -1
        self._page.search.set_hits(0, -1)
        if self._view.shown is None:
            self._shown.set_scene(None)
            self._shown.set_message("")
        self._want()

    def _draw(self, drawn: Drawn) -> None:
        shown = self._shown
        shown.set_busy("")
        if shown.scene() is not drawn.scene:
            if drawn.whole:  # nothing of what was in view stays
                shown.set_scene(None)
                shown.select([])
            shown.set_scene(drawn.scene, drawn.keep)
        self.color(drawn)
        if shown.current() is None:  # a selected group stays selected when it opens
            self.show_selected()
        if self._coming is not None and self._view.is_shown(self._coming):
            coming, self._coming = self._coming, None
            shown.select([coming])
            shown.center_on(coming)

    def color(self, drawn: Drawn) -> None:
        """Colour the boxes."""
        if drawn.figures is None:
            self._shown.clear_colors()
        else:
            found = drawn.figures
            title = self._title_of(found.subject)
            notes = {node: self.tr("{0} fused").format(count) for node, count in drawn.fused.items()}
            self._shown.set_colors(drawn.values, title, found.unit, found.scale, found.labels, notes)

    def _title_of(self, subject: str) -> str:
        return self._page.bar.title_of(subject)

    def _fail(self, why: str) -> None:
        self._shown.set_busy("")
        self._shown.set_scene(None)
        self._shown.set_message(shown(why))

    def _look(self) -> None:
        seen = self._shown.view_rect()
        self._view.look_at(seen.center().x(), seen.center().y())

    # ----- selection -----

    def _select(self, node: int) -> None:
        place = self._view.place_of(node)
        diagram = self._view.diagram
        if diagram is None:
            return
        if diagram.is_group(node):
            self.group_selected.emit(diagram.path_of(node), diagram.operators_of(node))
        elif place is not None and place == self._graph.selected:  # after a group
            self._graph.events.selected.emit(place)
        elif place is not None:
            self._graph.select(*place)

    def show_selected(self) -> None:
        """Select the operator that tree, text or source have selected, or the closed group around it."""
        place = self._graph.selected
        diagram = self._view.diagram
        if place is None or diagram is None:
            return
        node = self._view.node_of(place)
        if node is None or node in self._shown.selection():
            return
        around = [*diagram.parents_of(node), node]
        if any(each in self._shown.selection() for each in around):
            chosen = next(each for each in around if each in self._shown.selection())
            if self._view.is_shown(chosen) and not self._view.is_shown(node):
                return
        visible = [each for each in around if self._view.is_shown(each)]
        if visible:
            self._shown.select([visible[-1]])
            self._shown.ensure_visible(visible[-1])

    def go_to(self, node: int) -> None:
        """Open the groups around a node, and bring it to the middle."""
        if self._view.is_shown(node):
            self._shown.select([node])
            self._shown.center_on(node)
            self._select(node)
        else:
            self._coming = node
            self._view.reveal(node)
            place = self._view.place_of(node)
            if place is not None and self._view.diagram is not None and not self._view.diagram.is_group(node):
                self._graph.select(*place)

    def _go_to_place(self, place: Place) -> None:
        node = self._view.node_of(place)
        if node is not None and self._page.current_view() == DIAGRAM:
            self.go_to(node)

    def _step(self, node: int, way: str) -> None:
        diagram = self._view.diagram
        found = [] if diagram is None else diagram.neighbours(node, way)
        if found:
            self._shown.select([found[0]])
            self._shown.ensure_visible(found[0])
            self._select(found[0])

    # ----- search -----

    def _search(self, text: str) -> None:
        if self._page.current_view() == TEXT:
            self._find_in_text(text, 1, again=False)
        else:
            self._view.find(text)

    def _take_hits(self, nodes: list[int]) -> None:
        self._hits, self._hit = nodes, -1
        self._page.search.set_hits(len(nodes), -1)
        if nodes:
            self._next(1)

    def _next(self, way: int) -> None:
        if self._page.current_view() == TEXT:
            self._find_in_text(self._page.search.field.text(), way, again=True)
            return
        if not self._hits:
            return
        self._hit = (self._hit + way) % len(self._hits) if self._hit >= 0 else (0 if way > 0 else -1)
        self._hit %= len(self._hits)
        self._page.search.set_hits(len(self._hits), self._hit)
        self.go_to(self._hits[self._hit])

    def _find_in_text(self, text: str, way: int, again: bool) -> None:
        view = self._page.text
        count = view.toPlainText().lower().count(text.lower()) if text.strip() else 0
        self._page.search.set_hits(count, -1)
        if not count:
            return
        cursor = view.textCursor()
        if not again:
            cursor.setPosition(cursor.selectionStart())
            view.setTextCursor(cursor)
        flags = QTextDocument.FindFlag.FindBackward if way < 0 else QTextDocument.FindFlag(0)
        if not view.find(text, flags):
            to = QTextCursor.MoveOperation.End if way < 0 else QTextCursor.MoveOperation.Start
            view.moveCursor(to)
            view.find(text, flags)

    # ----- files -----

    def save(self) -> str:
        """Ask what to save, and for a file; returns why not where nothing is laid out."""
        drawn = self._view.shown
        if drawn is None:
            self._page.show_view(DIAGRAM)
            return self.tr("The diagram is being laid out; try again.") if self._view.shown is None else ""
        ask(
            self._window,
            lambda: Question(
                self.tr("Save the diagram"),
                self.tr("Save all of it as it is open now, or the part that is in view?"),
                self.tr("Whole diagram…"),
                self.tr("Cancel"),
                self.tr("Part in view…"),
            ),
            lambda: self._save(True),
            lambda: self._save(False),
        )
        return ""

    def _save(self, whole: bool) -> None:
        title, failed = self.tr("Save diagram"), self.tr("The diagram was not saved")
        path = ask_for_drawing(self._window, title, "diagram.svg", (".svg", ".png"))
        if path is None:
            return

        def write(data: bytes) -> None:
            save_file(self._session, path, data, failed)

        if path.suffix.lower() == ".png":
            self._shown.make_png(whole, write)
        else:
            write(self.svg(whole))

    def svg(self, whole: bool) -> bytes:
        """The diagram as an SVG file."""
        from studio.session.graph.diagram.svg import NodeValues, write_svg

        drawn = self._view.shown
        assert drawn is not None, "is laid out"
        figures, clip = drawn.figures, None
        if not whole:
            seen = self._shown.view_rect()
            clip = (seen.x(), seen.y(), seen.width(), seen.height())
        values = None
        if figures is not None and not figures.labels:
            title = self._title_of(figures.subject)
            values = NodeValues(drawn.values, title, figures.unit, figures.scale)
        title = self._page.program_title()
        return write_svg(drawn.scene, _svg_theme(), values, clip, title, self._pictures()).encode()

    def _pictures(self) -> dict[int, NodePicture]:
        """What the boxes show of computed values."""
        from studio.session.graph.diagram.svg_pictures import NodePicture

        found = {}
        for node, picture, strip in self._shown.saved_pictures():
            counts = () if picture.counts is None else tuple(picture.counts.counts)
            if strip is None:
                found[node] = NodePicture(counts=counts, words=picture.words)
            else:
                found[node] = NodePicture(
                    encoded(strip), strip.width(), strip.height(), counts, picture.words
                )
        return found

    def close(self) -> None:
        """Follow the view no longer."""
        self._bonds.release()


def _svg_theme() -> SvgTheme:
    """The colours that hold now."""
    from studio.session.graph.diagram.svg import DARK, LIGHT

    tokens = theme.current()
    base = DARK if tokens.dark else LIGHT
    return replace(
        base,
        ground=tokens.ground,
        panel=tokens.panel,
        text=tokens.text,
        mute=tokens.mute,
        accent=tokens.accent,
    )
