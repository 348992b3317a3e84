"""Two Programs with their differences: lays out both diagrams in a thread and keeps them together."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from PySide6.QtCore import QObject

from resources.words import shown
from studio.controllers.graph.program_words import diagram_words
from studio.session.export.compared_diagrams import ComparedDiagrams, DrawnPair
from studio.session.export.program_pair import ProgramPair
from studio.session.work.file_thread import FileThread
from studio.windows.export.compared_programs_view import ComparedProgramsView, side_line

Change = Callable[[ComparedDiagrams], object]


class ComparedProgramsController(QObject):
    """Shows a pair of Programs in a view; nothing is laid out before there is one."""

    def __init__(self, view: ComparedProgramsView, thread: FileThread) -> None:
        super().__init__(view)
        self._view, self._thread = view, thread
        self._pair: ProgramPair | None = None
        self._diagrams: ComparedDiagrams | None = None
        self._waiting: deque[Change] = deque()
        self._turn = 0
        self._at = -1
        self._wanted: tuple[int | None, int | None] | None = None  # nodes to select once they are laid out
        view.toggled.connect(lambda side, node: self._change(lambda found: found.toggle(side, node)))
        view.more_asked.connect(lambda side, node: self._change(lambda found: found.more(side, node)))
        view.all_opened.connect(lambda opened: self._change(lambda found: found.open_all(opened)))
        view.arrow_pressed.connect(self._arrow)
        view.stepped.connect(self.step)
        view.line_chosen.connect(self._line_chosen)

    @property
    def diagrams(self) -> ComparedDiagrams | None:
        """Both diagrams, once they are made."""
        return self._diagrams

    def show(self, pair: ProgramPair | None, titles: tuple[str, str]) -> None:
        """Show two Programs, or nothing."""
        self._view.set_titles(*titles)
        if pair is self._pair:
            return
        self._pair, self._diagrams, self._at, self._wanted = pair, None, -1, None
        self._waiting.clear()
        self._turn += 1
        for diagram in self._view.diagrams:
            diagram.set_scene(None)
            diagram.set_message("" if pair is not None else self.tr("No Program to show"))
        self._view.set_counts(Counter(change[0] for change in pair.changes) if pair is not None else {})
        self._view.set_position(-1, len(pair.changes) if pair is not None else 0)
        self._note = ""
        self._show_text()
        self._show_note()
        if pair is not None:
            for diagram in self._view.diagrams:
                diagram.set_busy(self.tr("Laying out…"))
            self._draw()

    def _show_text(self) -> None:
        pair = self._pair
        lines = []
        for mark, text, depth, _, in_a, _, in_b in pair.lines if pair is not None else ():
            words = self.tr("{0} equal operators").format(text) if mark == "@" else f"{'    ' * depth}{text}"
            number = in_b if mark == "+" else in_a
            lines.append(side_line(mark, words, number))
        self._view.set_lines(lines)

    _note = ""

    def say_again(self) -> None:
        """Show what is said about both Programs, in another language."""
        at = self._view.text.verticalScrollBar().value()
        if self._pair is None:
            for diagram in self._view.diagrams:
                diagram.set_message(self.tr("No Program to show"))
        self._show_text()
        self._view.text.verticalScrollBar().setValue(at)
        self._show_note()

    def _show_note(self) -> None:
        pair = self._pair
        notes = [shown(note) for note in (self._note, *(pair.notes if pair is not None else ()))]
        if pair is not None and pair.lines_left_out:
            notes.append(self.tr("The text omits its last {0} lines.").format(pair.lines_left_out))
        self._view.set_note("\n".join(filter(None, notes)))

    # ----- layout -----

    def _change(self, how: Change) -> None:
        self._waiting.append(how)
        self._draw()

    def _draw(self) -> None:
        pair, known = self._pair, self._diagrams
        if pair is None:
            return
        from studio.session.graph.diagram.diagram import Diagram  # noqa: F401  # not first in the thread

        self._turn += 1
        turn, waiting, words = self._turn, self._waiting, diagram_words()

        def work() -> tuple[ComparedDiagrams, DrawnPair] | str | None:
            from engine.core.errors import EngineError
            from studio.session.graph.diagram.arrange import LayoutCancelled

            try:
                found = known if known is not None else self._diagrams or ComparedDiagrams(pair, words)
                if self._pair is pair:
                    self._diagrams = found
                while waiting and self._pair is pair:
                    waiting.popleft()(found)
                return found, found.draw(lambda: self._turn != turn)
            except LayoutCancelled:
                return None
            except EngineError as error:
                return str(error)

        self._thread.do(work, lambda found: self._take(found, turn), "compared diagrams")

    def _take(self, found: tuple[ComparedDiagrams, DrawnPair] | str | None, turn: int) -> None:
        if found is None or turn != self._turn:
            return
        view = self._view
        for diagram in view.diagrams:
            diagram.set_busy("")
        if isinstance(found, str):
            for diagram in view.diagrams:
                diagram.set_message(shown(found))
            return
        diagrams, drawn = found
        first = not view.diagrams[0].scene().ids.size
        view.link.set_pairs(drawn.partners)
        for diagram, scene, marks in zip(view.diagrams, drawn.scenes, drawn.marks, strict=True):
            selected = diagram.selection()
            diagram.set_scene(scene, selected[-1] if selected and not first else None)
            diagram.set_marks(marks)
        self._note = diagrams.shortened
        self._show_note()
        if self._wanted is not None:
            self._select(*self._wanted)

    # ----- changes -----

    def step(self, by: int) -> None:
        """Go to the next change (1), or the one before (-1); after the last comes the first."""
        pair = self._pair
        if pair is None or not pair.changes:
            return
        start = self._at if self._at >= 0 else -1 if by > 0 else 0
        self._at = (start + by) % len(pair.changes)
        self._view.set_position(self._at, len(pair.changes))
        _, *numbers = pair.changes[self._at]
        self._show_line(tuple(numbers))
        self._go_to(tuple(numbers))

    def _show_line(self, numbers: tuple[int, ...]) -> None:
        pair = self._pair
        for line, (mark, _, _, *at) in enumerate(pair.lines if pair is not None else ()):
            if mark in ("+", "-") and (tuple(at[:2]) == numbers[:2] != (-1, -1) or tuple(at) == numbers):
                self._view.text.show_line(line + 1)
                return

    def _go_to(self, numbers: tuple[int, ...]) -> None:
        """Open what is around an operator of both sides and bring it to the middle."""
        diagrams = self._diagrams
        if diagrams is None:
            return
        places = numbers[:2], numbers[2:]
        nodes = [
            diagrams.node_of(side, (place[0], place[1])) if place[0] >= 0 else None
            for side, place in enumerate(places)
        ]
        self._wanted = nodes[0], nodes[1]
        for side, node in enumerate(nodes):
            if node is not None:
                self._change(lambda found, side=side, node=node: found.reveal(side, node))

    def _select(self, left: int | None, right: int | None) -> None:
        self._wanted = None
        moved = False
        for diagram, node in zip(self._view.diagrams, (left, right), strict=True):
            diagram.select([] if node is None else [node])
            if node is not None and not moved:
                diagram.center_on(node)  # the other one follows
                moved = True

    def _line_chosen(self, line: int) -> None:
        pair = self._pair
        if pair is not None and 0 <= line < len(pair.lines) and pair.lines[line][0] != "@":
            self._go_to(tuple(pair.lines[line][3:]))

    def _arrow(self, side: int, node: int, way: str) -> None:
        diagrams, shown = self._diagrams, self._view.diagrams[side]
        found = [] if diagrams is None else diagrams.sides[side].neighbours(node, way)
        if found and diagrams is not None:
            shown.select([found[0]])
            shown.ensure_visible(found[0])
            other = diagrams.partner(side, found[0])
            self._view.diagrams[1 - side].select([] if other is None else [other])
