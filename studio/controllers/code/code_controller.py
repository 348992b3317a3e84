"""The page Code: what is typed goes to the session, what a dry run finds stands at its lines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QFileDialog, QWidget

from resources import quantities
from resources.local_code import LocalCode
from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.bindings import Bindings
from studio.controllers.code.measurement import MeasurementController
from studio.controllers.code.plan import PlanController
from studio.controllers.code.side_views import CodeSides
from studio.session import commands
from studio.session.code.code_view import CHANGED, GONE, CodeProblem
from studio.session.code.edited_file import stamp_of
from studio.session.code.templates import DIGITS
from studio.session.session import Session
from studio.windows.agreement_dialog import ask_agreement
from studio.windows.code.code_page import CodePage
from studio.windows.code.code_panel import CodePanel
from studio.windows.top_bar import PageActions
from widgets import theme
from widgets.cards import Chip
from widgets.code_view import Squiggle
from widgets.delayed import delayed

TYPING_MS = 600
# Programs write a file in several steps: it is looked at when they are done.
LOOK_MS = 150
WATCH_MS = 1000


class CodeController(QObject):
    """Joins the page Code to ``session.coding``.

    Args:
        parent: of the dialogs.
    """

    def __init__(
        self,
        session: Session,
        page: CodePage,
        panel: CodePanel,
        bar: PageActions,
        actions: Actions,
        parent: QWidget,
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._parent, self._bar = parent, bar
        self._coding, self._view = session.model_editor, session.model_editor.view
        self._sides = CodeSides(self._view, page)
        self._measured = MeasurementController(session.model_editor, page, actions)
        self._planned = PlanController(session.model_editor, page, actions, session.files.drawing)
        self._fed = session.model_editor.fed()
        self._bonds = Bindings()
        self._chip = Chip()
        bar.add(self._chip)
        actions.fill_bar(bar, "code")
        self._typing = delayed(self, TYPING_MS, self.flush)
        self._looking = delayed(self, LOOK_MS, self._look)
        self._watch = QTimer(self, interval=WATCH_MS)
        self._watch.timeout.connect(self._watch_file)
        self._seen: object = None
        self._bind()

    def _bind(self) -> None:
        bonds, view, page = self._bonds, self._view, self._page
        for name, handler in (
            (commands.NEW_MODEL, self._new),
            (commands.OPEN_MODEL, self._open),
            (commands.SAVE_MODEL, self.save),
        ):
            self._actions.handle(name, handler)
        page.editor.textChanged.connect(self._typed)
        page.editor.save_requested.connect(lambda: self._actions.trigger(commands.SAVE_MODEL))
        page.template_chosen.connect(self.new)
        page.open_requested.connect(lambda: self._actions.trigger(commands.OPEN_MODEL))
        page.class_chosen.connect(self._choose_class)
        page.inputs_entered.connect(self._choose_inputs)
        page.problem_chosen.connect(self._go_to_problem)
        page.banner.answered.connect(self._answered)
        self._panel.layer_chosen.connect(self._go_to_layer)
        bonds.follow(view.text_replaced, self._replaced)
        bonds.show_any(view, ("file", "modified"), self._show_file)
        bonds.show_any(
            view, ("classes", "class_name"), lambda: page.set_classes(view.classes, view.class_name)
        )
        bonds.show_any(view, ("inputs", "input_problem"), self._show_inputs)
        bonds.show_any(view, ("outside", "restored", "state", "unagreed"), self._show_banner)
        bonds.show_any(view, ("problems", "state", "output", "stale"), self._show_found)
        bonds.show_any(view, ("notes", "stale"), self._show_notes)
        self._measured.follow(self._show_notes)
        bonds.show(view, "layers", lambda _: self._show_layers())
        bonds.follow(self._session.train.events.settings, lambda _: self._follow_settings())
        page.shown.connect(self._follow_settings)
        page.shown.connect(self._looking.start)
        page.shown.connect(self._watch.start)

    # ----- files -----

    def open_file(self, path: str, then: Callable[[], object] | None = None) -> None:
        """Edit a file and make its class the model, then call ``then``; shows why not where that can't be."""
        self.flush()

        def opened() -> None:
            self._coding.use()
            if then is not None:
                then()

        self._coding.open(Path(path), opened, self._refuse)

    def _refuse(self, error: Exception) -> None:
        self._actions.refused.emit(shown(str(error)))

    def new(self, template: str, path: str = "") -> None:
        """Make a file from a template; without a path a person chooses it. Shows why that can't be."""
        if not path:
            path, _ = QFileDialog.getSaveFileName(
                self._parent, self.tr("New model"), f"{template}.py", self.tr("Python files (*.py)")
            )
        self.flush()
        if path:
            facts = self._session.data.facts
            spec = facts.model_spec if facts.spec else DIGITS
            self._coding.new(template, Path(path), spec, self._refuse)

    def _new(self) -> str:
        """Offer the templates."""
        button = self._bar.buttons["new_model"]
        below = button if button.isVisible() else self._page
        self._page.menu.popup(below.mapToGlobal(button.rect().bottomLeft()))
        return ""

    def _open(self) -> str:
        path, _ = QFileDialog.getOpenFileName(
            self._parent,
            self.tr("Open a model's source"),
            str(Path(self._view.file).parent),
            self.tr("Python files (*.py)"),
        )
        if path:
            self.open_file(path)
        return ""

    def save(self) -> str:
        """Write the text to its file; returns why not where that fails."""
        self.flush()
        if not self._view.file:
            return self.tr("There is no model's source open; make a new one first.")
        self._coding.save(self._saved, self._refuse)
        return ""

    def _saved(self, written: bool) -> None:
        if not written:
            text = self.tr("Another program changed the file as well; choose a version.")
            self._actions.refused.emit(text)

    def flush(self) -> None:
        """Hand on at once what was typed."""
        self._typing.stop()
        if self._view.file:
            self._coding.edit(self._page.editor.code())

    def _follow_settings(self) -> None:
        """An own model that is chosen elsewhere is the one to edit, as soon as the page is looked at."""
        settings = self._session.train.settings
        if not self._page.isVisible():
            return
        file = settings.user_file
        if not file and not self._view.file and self._coding.last_file:
            last, self._coding.last_file = self._coding.last_file, ""
            self._open_chosen(last, lambda: None)
            return
        if file and str(Path(file).expanduser().absolute()) != self._view.file:
            self.flush()
            self._open_chosen(file, self._follow_settings)
            return
        name = settings.model.rpartition(":")[2]
        if file and name != self._view.class_name:
            self._coding.choose_class(name)
        elif self._coding.fed() != self._fed or self._view.state == "refused":
            self._coding.check()
        self._fed = self._coding.fed()

    def _open_chosen(self, file: str, then: Callable[[], object]) -> None:
        """Open the file of the settings, or that of the last session; the settings report that it does not
        exist."""

        def opened() -> None:
            self._page.show_opening("")
            then()

        self._page.show_opening(Path(file).name)
        self._coding.open(Path(file), opened, lambda _: self._page.show_opening(""))

    def _choose_class(self, name: str) -> None:
        self.flush()
        self._coding.choose_class(name)
        self._coding.use()

    def _choose_inputs(self, text: str) -> None:
        if text.strip() != self._view.inputs:
            self.flush()
            self._coding.choose_inputs(text)

    # ----- changes outside -----

    def _watch_file(self) -> None:
        """Ask a thread whether the file is another one. (Qt's watcher would look at it in this thread.)"""
        file, reading = self._view.file, self._session.files.reading
        if not self._page.isVisible():
            self._watch.stop()
        if not file or reading.working:
            return

        def take(stamp: tuple[int, ...]) -> None:
            if (file, stamp) != self._seen:
                self._seen = file, stamp
                self._looking.start()

        reading.do(lambda: stamp_of(Path(file)), take, "watch code")

    def _look(self) -> None:
        self.flush()
        self._coding.look()

    def _answered(self, answer: str) -> None:
        self.flush()
        if answer == "agree":
            self._coding.read_code(self._ask_agreement, self._refuse)
        elif answer == "mine":
            self._coding.keep_mine()
        elif answer == "theirs":
            self._coding.take_theirs()
        elif answer == "discard":
            self._coding.discard()
        elif answer == "keep":
            self._view.restored = False

    def _ask_agreement(self, code: LocalCode) -> None:
        ask_agreement(self._parent, code, self._coding.new_files(code), lambda: self._coding.agree(code))

    # ----- typing -----

    def _typed(self) -> None:
        if self._view.file and self._page.editor.code() != self._coding.text:
            self._typing.start()
            self._page.editor.set_notes(self._notes(), stale=True)

    def _replaced(self, text: str, undoable: bool) -> None:
        if undoable:
            self._page.editor.replace_text(text)
        else:
            self._page.editor.load(text)
        self._typing.stop()

    # ----- what is shown -----

    def _show_file(self) -> None:
        view, path = self._view, Path(self._view.file)
        self._page.set_file(path.name if view.file else "", str(path.parent) if view.file else "")
        self._chip.setText(self.tr("Not saved"))
        self._chip.setToolTip(self.tr("Training uses the last saved version of this file"))
        self._chip.setVisible(view.modified)

    def _show_inputs(self) -> None:
        self._page.set_inputs(self._view.inputs, self.tr("like the data"), shown(self._view.input_problem))

    def _show_banner(self) -> None:
        banner, view, tr = self._page.banner, self._view, self.tr
        if view.outside == CHANGED:
            banner.ask(
                tr("This file was changed by another program and in this window. Choose a version."),
                ("mine", tr("Keep mine")),
                ("theirs", tr("Use the file's version")),
            )
        elif view.outside == GONE:
            banner.ask(tr("This file is gone. The text is still here; saving writes it again."))
        elif view.restored:
            banner.ask(
                tr("Unsaved text was restored."),
                ("discard", tr("Discard it")),
                ("keep", tr("Keep it")),
            )
        elif view.state == "refused":
            others = [name for name in view.unagreed if name != Path(view.file).name]
            banner.ask(
                tr("To show shapes and mistakes, {0} must run in a separate process, too.").format(
                    ", ".join(others)
                )
                if others
                else tr("To show shapes and mistakes, this file must run in a separate process."),
                ("agree", tr("Run this file…")),
            )
        else:
            banner.ask("")

    def _show_found(self) -> None:
        view, tr = self._view, self.tr
        self._page.editor.set_squiggles(
            Squiggle(each.line, self._words(each), each.column, each.end, each.stage == "static")
            for each in view.problems
        )
        self._page.set_problems((self._words(each), each.stage == "static") for each in view.problems)
        summary = ""
        if view.state == "checking":
            summary = tr("Trying it…")
        elif view.input_problem:
            summary = tr("Input: {0}").format(shown(view.input_problem))
        elif view.state == "done" and view.output:
            summary = tr("Output {0} · {1} parameters").format(
                shape_text(view.output), theme.format_number(view.parameters)
            )
        self._page.set_summary(summary)
        self._sides.show(view)

    def _words(self, problem: CodeProblem) -> str:
        tr = self.tr
        stages = {
            "syntax": tr("Syntax"),
            "import": tr("While importing"),
            "make": tr("While constructing the model"),
            "eager": tr("While it runs"),
            "output": tr("Output"),
            "static": tr("to_static only"),
        }
        stage, message = stages.get(problem.stage, problem.stage), shown(problem.message)
        if problem.line:
            return tr("line {0} · {1}: {2}").format(problem.line, stage, message)
        return tr("{0}: {1}").format(stage, message)

    def _notes(self) -> dict[int, str]:
        notes = {
            line: note_text(note.shapes, note.parameters, note.operations, note.counted)
            for line, note in self._view.notes.items()
        }
        for line, time in self._measured.notes().items():
            notes[line] = f"{time} \u00b7 {notes[line]}" if notes.get(line) else time
        return notes

    def _show_notes(self) -> None:
        self._page.editor.set_notes(self._notes(), self._view.stale)

    def _show_layers(self) -> None:
        view, number = self._view, theme.format_number
        self._panel.set_layers(
            [
                (
                    row.name,
                    row.kind,
                    "\u00d7".join(str(size) for size in row.shape[1:]),
                    quantities.count(row.parameters) if row.parameters else "",
                    quantities.count(row.operations) if row.operations else "" if row.counted else "\u2013",
                )
                for row in view.layers
            ]
        )
        cost = number(view.operations)
        self._panel.set_totals(
            [
                (self.tr("To learn"), number(view.parameters)),
                (self.tr("Cost"), cost if view.all_counted else self.tr("at least {0}").format(cost)),
                (self.tr("Output"), shape_text(view.output) if view.output else ""),
            ]
            if view.layers
            else []
        )

    def _go_to_problem(self, row: int) -> None:
        if row < len(self._view.problems) and self._view.problems[row].line:
            self._go_to(self._view.problems[row].line)

    def _go_to_layer(self, row: int) -> None:
        if row < len(self._view.layers) and self._view.layers[row].line:
            self._go_to(self._view.layers[row].line)

    def _go_to(self, line: int) -> None:
        self._page.editor.show_line(line)
        self._page.editor.setFocus()

    def close(self) -> None:
        """Follow the view model no longer; what was typed stays as a draft."""
        self.flush()
        self._looking.stop()
        self._watch.stop()
        self._bonds.release()
        self._sides.close()
        self._measured.close()
        self._planned.close()


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape with a question mark for a size that is known only when it runs."""
    return "[" + ", ".join("?" if size < 0 else str(size) for size in shape) + "]"


def note_text(shapes: tuple[tuple[int, ...], ...], parameters: int, operations: int, counted: bool) -> str:
    """What stands at the end of a line: shapes, numbers to learn, operations."""
    words = [" ".join(shape_text(shape) for shape in shapes)] if shapes else []
    if parameters:
        words.append(tr("{0} p").format(quantities.count(parameters)))
    if operations:
        more = "" if counted else "+"
        words.append(tr("{0} ops{1}").format(quantities.count(operations), more))
    return " \u00b7 ".join(words)
