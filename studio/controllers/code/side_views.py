"""What stands next to the editor: the converted source pass by pass, and the operators of its lines."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.controllers.bindings import Bindings
from studio.controllers.graph.graph_controller import program_data
from studio.session.code.code_view import CodeViewModel, ConvertedForward
from studio.session.graph.line_map import line_map
from studio.windows.code.code_page import OPERATORS, CodePage
from widgets.code_view import PairedScroll
from widgets.program_tree import ProgramData


class CodeSides(QObject):
    """The caret's line lights what it became; a click there leads back to the line."""

    def __init__(self, view: CodeViewModel, page: CodePage) -> None:
        super().__init__(page)
        self._view, self._page = view, page
        self._forward: ConvertedForward | None = None
        self._lines: dict[int, list[int]] = {}
        self._shown: object = None
        self._which = 0
        self._pair = PairedScroll(page.editor, page.converted)
        self._answering = False
        page.editor.caret_moved.connect(self._caret_moved)
        page.pass_chosen.connect(self._show_pass)
        page.converted.line_clicked.connect(self._converted_clicked)
        page.converted.cursorPositionChanged.connect(self._show_note)
        page.tree.operator_selected.connect(lambda found: self._operator_chosen(found[0], found[1]))
        self._bonds = Bindings()
        self._bonds.again(self._show_again)
        page.view_chosen.connect(lambda _: self._caret_moved(page.editor.caret_line()))

    def show(self, view: CodeViewModel) -> None:
        """Show what the last dry run made, where it is another one."""
        made = (view.forwards, id(view.program), view.stale)
        if self._shown == made:
            return
        self._shown = made
        self._page.set_nothing(
            ""
            if view.forwards
            else self.tr("The code that to_static generates from the forward appears here."),
            "" if view.program else self.tr("The operators appear here after a successful dry run."),
        )
        name = view.class_name
        self._page.tree.set_program(program_data(view.program, name) if view.program else ProgramData())
        self._forward, self._lines = None, {}
        self._pair.set_lines({})
        self._page.converted.set_changed(())
        self._page.pass_note.setText("")
        self._caret_moved(self._page.editor.caret_line())

    def _show_again(self) -> None:
        """Show all with words in another language."""
        self._shown = None
        self.show(self._view)

    def _caret_moved(self, line: int) -> None:
        forward = self._view.forward_at(line)
        if forward is not None and forward != self._forward:
            self._show_forward(forward)
        page = self._page
        page.converted.mark_lines(self._lines.get(line, ()))
        operators = self._view.operators_at(line) if page.shown_view() == OPERATORS else []
        if not self._answering:
            page.tree.light_operators(operators)
        page.editor.light_lines([])

    def _show_forward(self, forward: ConvertedForward) -> None:
        self._forward = forward
        names = [self.tr("As written") if name == "original" else name for name, _ in forward.passes]
        names[-1] = self.tr("All passes") if len(names) > 1 else names[-1]
        self._page.set_passes(forward.name, names, len(names) - 1)
        self._show_pass(len(names) - 1)

    def _show_pass(self, which: int) -> None:
        if self._forward is None or not 0 <= which < len(self._forward.passes):
            return
        code = self._forward.passes[which][1]
        self._which = which
        self._page.converted.set_code(code)
        self._page.converted.set_changed(self._changed(which))
        self._lines = line_map(self._page.editor.code(), self._forward.first, code)
        self._pair.set_lines(self._lines)
        self._page.converted.mark_lines(self._lines.get(self._page.editor.caret_line(), ()))
        self._show_note()

    def _changed(self, which: int) -> list[int]:
        """The lines that a pass changed; for all passes those that any of them did."""
        forward = self._forward
        if forward is None or which >= len(forward.changes):
            return []
        last = which == len(forward.passes) - 1
        return [
            line
            for line, numbers in enumerate(forward.changes[which], 1)
            if (numbers if last else which in numbers)
        ]

    def _show_note(self) -> None:
        """Name the pass, or the passes that changed the line at the caret, with links to their help."""
        forward, which, tr = self._forward, self._which, self.tr
        if forward is None or which >= len(forward.passes):
            return
        converted = self._page.converted
        line = converted.current_line()
        if which and which < len(forward.passes) - 1:
            name = forward.passes[which][0]
            text = tr("{0} changed the coloured lines: {1}").format(_link(name), len(self._changed(which)))
        elif not which:
            text = ""
        elif passes := forward.changed_by(which, line):
            text = tr("Line {0} was changed by {1}").format(line, ", ".join(map(_link, passes)))
        else:
            text = tr("Line {0} is as written").format(line)
        if self._page.pass_note.text() != text:
            self._page.pass_note.setText(text)

    def _converted_clicked(self, line: int) -> None:
        for source, others in self._lines.items():
            if line in others:
                self._page.editor.show_line(source)
                return

    def _operator_chosen(self, block: int, operator: int) -> None:
        line = self._view.line_of(block, operator)
        if not line:
            return
        self._answering = True  # the operator that was clicked stays where it is
        self._page.editor.show_line(line)
        self._answering = False
        self._page.editor.light_lines([line])
        self._page.tree.light_operators(self._view.operators_at(line))

    def close(self) -> None:
        """Forget what is shown."""
        self._shown = None
        self._bonds.release()


def _link(name: str) -> str:
    """The name of a pass as a link to its section of the guide."""
    return f'<a href="conversion.md#{name}">{name}</a>'
