"""The side *Plan* of the page Code: the Program after each pass, what runs, what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from resources.quantities import percent
from resources.words import shown
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.code.plan_texts import PlanTexts, megabytes, operator_first
from studio.session import commands
from studio.session.code.model_editor import ModelEditor
from studio.session.code.plan_view import PassStep, PlanPart, PlanSteps
from studio.session.export.program_pair import ProgramPair
from studio.session.work.file_thread import FileThread
from studio.windows.code.code_page import PLANNED, CodePage
from studio.windows.code.plan_table import GONE, MADE, OperatorRow

if TYPE_CHECKING:
    from studio.controllers.export.compared_programs import ComparedProgramsController
    from studio.windows.export.compared_programs_dialog import ComparedProgramsDialog

MEMORY = "memory"
Stage = PassStep | PlanPart | tuple[str, PlanPart]
Head = tuple[str, str, bool]


class PlanController(QObject):
    """A row leads to its lines, the caret's line lights its rows. It is planned while the side is shown."""

    def __init__(
        self, model_editor: ModelEditor, page: CodePage, actions: Actions, drawing: FileThread
    ) -> None:
        super().__init__(page)
        self._coding, self._page, self._actions = model_editor, page, actions
        self._drawing = drawing
        self._view, self._words = model_editor.trials.planning.view, PlanTexts(self)
        self._stages: list[Stage] = []
        self.dialog: ComparedProgramsDialog | None = None
        self._compared: ComparedProgramsController | None = None
        self._bonds = Bindings()
        actions.handle(commands.PLAN_MODEL, self._plan)
        actions.fill_bar(page.planned, "planned")
        page.planned.lines_chosen.connect(self._lines_chosen)
        page.planned.pair_requested.connect(self._show_pair)
        page.planned.help_requested.connect(self._show_help)
        page.editor.caret_moved.connect(self._light)
        page.view_chosen.connect(lambda _: self._follow())
        page.stage_chosen.connect(self._show_stage)
        self._bonds.follow(model_editor.view.events.state, lambda _: self._follow())
        self._bonds.show(self._view, "running", lambda _: actions.refresh())
        self._bonds.show_any(self._view, ("problem", "stale", "running"), self._show_about)
        self._bonds.show(self._view, "found", lambda _: self._show())
        self._bonds.again(self._show_pair_again)

    def _plan(self) -> str:
        self._page.show_view(PLANNED)
        return self._coding.trials.plan(self._actions.refused.emit, again=True)

    def _follow(self) -> None:
        """Plan what the dry run has accepted, while the side is visible."""
        code = self._coding.view
        if self._page.shown_view() == PLANNED:
            if code.state == "done" and not code.problems:
                self._coding.trials.plan(lambda _: None)
            self._show_about()

    def _show_about(self) -> None:
        view, table, tr = self._view, self._page.planned, self.tr
        table.set_problem(shown(view.problem))
        if view.running:
            table.set_about(tr("Training two steps to find the kernels that run…"))
        elif view.found is None:
            table.set_about(
                tr(
                    "The Program after each pass and the kernels that run appear here "
                    "after a successful dry run."
                )
            )
        else:
            self._tell(self._page.stages.currentIndex())
        self._light(self._page.editor.caret_line())

    # ----- what there is -----

    def _show(self) -> None:
        found: PlanSteps | None = self._view.found
        before = self._page.stages.currentIndex()
        names: list[str] = []
        self._stages = []
        for number, step in enumerate(found.passes if found is not None else ()):
            self._stages.append(step)
            names.append(self._words.step(step, number == 0))
        for part in found.parts if found is not None else ():
            self._stages += [part, (MEMORY, part)]
            names += [self._words.part(part), self._words.memory(part)]
        runs = next((n for n, stage in enumerate(self._stages) if isinstance(stage, PlanPart)), 0)
        chosen = before if 0 <= before < len(names) else runs
        self._page.set_stages(names, chosen if names else -1)
        self._show_stage(chosen)

    def _show_stage(self, which: int) -> None:
        heads: list[Head] = []
        rows: list[OperatorRow] = []
        if 0 <= which < len(self._stages):
            stage = self._stages[which]
            if isinstance(stage, PassStep):
                heads, rows = self._of_pass(stage)
            elif isinstance(stage, PlanPart):
                heads, rows = self._of_plan(stage)
            else:
                heads, rows = self._of_memory(stage[1])
        self._page.planned.set_table(heads, rows)
        self._page.planned.offer(self._pair(which) is not None, bool(self._pass(which)))
        self._show_about()

    def _tell(self, which: int) -> None:
        """What the stage is, in a line or two."""
        found: PlanSteps = self._view.found
        if not 0 <= which < len(self._stages):
            return
        stage, words, tr = self._stages[which], self._words, self.tr
        if isinstance(stage, PassStep):
            text = words.did(stage, which == 0)
        elif isinstance(stage, PlanPart):
            text = words.runs(stage, found)
        else:
            text = words.holds(stage[1])
        if self._view.stale:
            text = f"{tr('The text has changed since.')} {text}"
        if not found.static:
            text += " " + tr("The settings train eagerly, operator by operator; this shows static mode.")
        self._page.planned.set_about(text)

    # ----- rows -----

    def _of_pass(self, step: PassStep) -> tuple[list[Head], list[OperatorRow]]:
        tr = self.tr
        marks = {"-": GONE, "+": MADE}
        heads = [
            (tr("Operator"), tr("Minus: the pass removed it; plus: the pass added it"), False),
            (tr("Lines"), tr("Source lines of the operator"), True),
        ]
        rows = [
            OperatorRow(
                (operator_first(line.text, line.depth), _lines(line.lines)),
                line.lines,
                marks.get(line.mark, ""),
            )
            for line in step.lines
        ]
        return heads, rows

    def _of_plan(self, part: PlanPart) -> tuple[list[Head], list[OperatorRow]]:
        tr, words = self.tr, self._words
        heads = [
            (tr("Operator"), tr("In execution order; a fused operator lists its parts"), False),
            (
                tr("Runs", "how it runs"),
                tr("Compiled, by NumPy and why, as a view, in place, once, or as Python"),
                False,
            ),
            (tr("MB"), tr("Megabytes of its results; empty for a view"), True),
            (tr("Lines"), tr("Source lines of the operator"), True),
        ]
        rows = [
            OperatorRow(
                (operator_first(row.text, row.depth), words.runs_as(row), words.size(row), _lines(row.lines)),
                row.lines,
            )
            for row in part.rows
        ]
        found: PlanSteps = self._view.found
        if part is found.parts[-1]:
            rows += [
                OperatorRow((words.update(call), words.updates_by(call), "", "")) for call in found.updates
            ]
            if found.alone:
                rows.append(OperatorRow((words.alone(found.alone), "", "", "")))
        return heads, rows

    def _of_memory(self, part: PlanPart) -> tuple[list[Head], list[OperatorRow]]:
        tr = self.tr
        heads = [
            (tr("Value of"), tr("The operator whose result is in memory at the peak"), False),
            (tr("MB"), tr("Millions of bytes"), True),
            (tr("Share"), tr("Share of the memory at the peak"), True),
            (tr("Lines"), tr("The line of the source that it belongs to"), True),
        ]
        rows = []
        for operator, line, size in part.owners:
            lines = (line,) if line else ()
            share = percent(size / part.peak if part.peak else 0.0)
            cells = (operator, megabytes(size), share, _lines(lines))
            rows.append(OperatorRow(cells, lines))
        return heads, rows

    # ----- Programs side by side, help -----

    def _pass(self, which: int) -> str:
        """The name of a stage that is a pass; empty for others."""
        stage = self._stages[which] if 0 < which < len(self._stages) else None
        return stage.name if isinstance(stage, PassStep) else ""

    def _pair(self, which: int) -> ProgramPair | None:
        found: PlanSteps | None = self._view.found
        return found.pair(which) if found is not None and self._pass(which) else None

    def _show_pair(self) -> None:
        from studio.controllers.export.compared_programs import ComparedProgramsController
        from studio.windows.export.compared_programs_dialog import ComparedProgramsDialog

        pair = self._pair(self._page.stages.currentIndex())
        if pair is None:
            return
        if self.dialog is None:
            self.dialog = ComparedProgramsDialog(self._page)
            self._compared = ComparedProgramsController(self.dialog.programs, self._drawing)
        tr = self.tr
        self.dialog.set_title(tr("{0}: before and after").format(pair.name))
        if self._compared is not None:
            self._compared.show(pair, (tr("Before the pass"), tr("After the pass")))
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.activateWindow()

    def _show_pair_again(self) -> None:
        """Show the open comparison of Programs in another language."""
        if self.dialog is not None and self.dialog.isVisible():
            self._show_pair()

    def _show_help(self) -> None:
        self._page.help_requested.emit(f"conversion.md#{self._pass(self._page.stages.currentIndex())}")

    # ----- links -----

    def _light(self, line: int) -> None:
        self._page.planned.light_line(0 if self._view.stale else line)

    def _lines_chosen(self, lines: tuple[int, ...]) -> None:
        if not self._view.stale:
            self._page.editor.show_line(lines[0])
            self._page.editor.light_lines(lines)

    def close(self) -> None:
        """Follow the view models no longer."""
        self._bonds.release()


def _lines(lines: tuple[int, ...]) -> str:
    return ", ".join(map(str, lines))
