"""The page Debug: the position in operators and source, breakpoints, and which batch is debugged next."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from resources.words import shown, tr
from studio.controllers.actions import Actions
from studio.controllers.agreements import after_agreement
from studio.controllers.bindings import Bindings
from studio.controllers.debug.debug_texts import DebugTexts, where_line
from studio.controllers.debug.diagram_controller import DebugDiagramController
from studio.controllers.debug.tensor_controller import TensorController
from studio.controllers.frame import FrameController
from studio.controllers.graph.graph_controller import program_data
from studio.controllers.when_visible import WhenVisible
from studio.session import commands
from studio.session.debug.breakpoints import Breakpoint
from studio.session.debug.debug_view import Part
from studio.session.debug.debugging import Batch
from studio.session.debug.places import OperatorMarks, place_in
from studio.session.predict.model_choice import checkpoints_of, model_name
from studio.session.session import Session
from studio.session.train.run_settings import title_of
from studio.windows.debug.breakpoint_dialog import BreakpointDialog
from studio.windows.debug.debug_page import DebugPage
from studio.windows.debug.debug_panel import DebugPanel
from studio.windows.top_bar import PageActions
from widgets import theme
from widgets.delayed import delayed

BUSY_MS = 120  # from when on a run in progress is shown as such


class DebugController(QObject):
    """A stop shows its operator, its line and its values; F9 adds a breakpoint at what is selected."""

    def __init__(
        self,
        session: Session,
        page: DebugPage,
        panel: DebugPanel,
        bar: PageActions,
        actions: Actions,
        window: QWidget,
        frame: FrameController,
    ) -> None:
        super().__init__(page)
        self._session, self._page, self._panel, self._actions = session, page, panel, actions
        self._window, self._frame, self._bar = window, frame, bar
        self._debugging = session.debugging
        self._view = session.debugging.view
        self._texts = DebugTexts(self)
        self._part = ""
        self._busy = delayed(self, BUSY_MS, self._show_position)
        self._bonds = Bindings()
        self._on_page = WhenVisible(page)
        self.tensor = TensorController(self._debugging, page, window)
        self.diagram = DebugDiagramController(page, session.files.drawing, lambda: self.tr("Laying out…"))
        actions.handle(commands.DEBUG, self.start)
        actions.handle(commands.FIND_OPERATOR, self.find_operator)
        actions.handle(commands.DEBUG_BREAKPOINT, self.toggle_breakpoint)
        actions.handle(commands.DEBUG_UNTIL_NAN, self._until_nan)
        actions.fill_bar(bar, "debug")
        self._connect()
        for signal in (session.selection.events.item, session.runs_changed, session.project_changed):
            self._bonds.follow(signal, lambda *_: self._show_subject())
        self._bonds.follow(self._debugging.refused, lambda text: actions.refused.emit(shown(text)))
        self._bonds.show(self._view, "parts", lambda _: self._on_page.call(self._show_parts))
        self._bonds.show(self._view, "source", lambda _: self._on_page.call(self._show_source))
        self._bonds.show(self._view, "breakpoints", lambda _: self._show_breakpoints())
        self._bonds.show(self._view, "conditions", panel.conditions.show_conditions)
        for name in ("watches", "stop"):
            self._bonds.follow(getattr(self._view.events, name), lambda _: self._show_watches())
        self._bonds.show(self._view, "changes", lambda _: self._show_changes())
        self._bonds.follow(self._view.events.message, lambda _: self._show_message())
        self._bonds.show(self._view, "state", lambda _: self._show_state())
        for show in (self._show_subject, self._show_watches, self._show_message):
            self._bonds.again(show, now=True)

    def _connect(self) -> None:
        page, panel, debugging = self._page, self._panel, self._debugging
        page.start_requested.connect(lambda: self._actions.trigger(commands.DEBUG))
        page.part_chosen.connect(self._choose_part)
        page.tree.menu_requested.connect(self._open_menu)
        page.source.breakpoint_toggled.connect(self._toggle_line)
        self.diagram.operator_chosen.connect(page.tree.select_operator)
        page.updates.parameter_chosen.connect(self.tensor.show_value)
        page.position.place_clicked.connect(self._show_position_again)
        panel.conditions.changed.connect(debugging.set_conditions)
        panel.breakpoint_switched.connect(self._switch_breakpoint)
        panel.breakpoint_opened.connect(self.edit_breakpoint)
        panel.breakpoint_removed.connect(debugging.remove_breakpoint)
        panel.watch_removed.connect(debugging.watch)
        panel.value_chosen.connect(self.tensor.show_value)

    # ----- begin -----

    def batch(self) -> Batch:
        """The batch that Start debugs: that of what is selected, as the panel has it."""
        checkpoint, number = self._panel.chosen_batch()
        return replace(self._debugging.selected(), checkpoint=checkpoint, batch=number)

    def start(self) -> str:
        """Prepare a batch, after the user's agreement to code."""
        reason = self._session.blocked(commands.DEBUG)
        if reason:
            return reason
        batch = self.batch()
        self._frame.show_page("debug")
        run = batch.path if batch.kind == "run" else ""
        if batch.kind == "model":
            self._debugging.start(batch)
        else:
            after_agreement(self._session, self._window, lambda: self._debugging.start(batch), run)
        return ""

    def find_operator(self) -> str:
        """Replay the selected run that diverged, up to the first operator with a bad value."""
        reason = self._session.blocked(commands.FIND_OPERATOR)
        if reason:
            return reason
        run = self._session.selected_run
        self._frame.show_page("debug")
        after_agreement(self._session, self._window, lambda: self._debugging.find_operator(run), run)
        return ""

    def _until_nan(self) -> str:
        return self._session.execute(commands.DEBUG_UNTIL_NAN, batches=self._panel.batches())

    def _show_subject(self) -> None:
        """Say what Start debugs, with the checkpoints of a run."""
        batch = self._debugging.selected()
        if batch.kind == "run":
            title = self._session.run_title(batch.path)
        elif batch.kind == "model":
            title = model_name(batch.path, self._session.run_titles)
        else:
            model = self._session.train.settings.model
            words = self.tr("chosen for the data") if model == "auto" else tr(title_of(model))
            title = self.tr("Edited model: {0}").format(words)

        def show(steps: list[int]) -> None:
            if self._debugging.selected() == batch:
                self._panel.set_subject(title, steps, batch.kind != "model")

        if batch.kind == "run":
            self._session.files.reading.do(lambda: steps_of(batch.path), show)
        else:
            show([])
        self._show_empty()
        self._actions.refresh()

    def _show_empty(self) -> None:
        if self._view.state == "idle":
            why = shown(self._debugging.not_possible(self._debugging.selected()))
            self._page.show_empty(why, "" if why else self.tr("Start debugging"))

    # ----- where it stands -----

    def _show_state(self) -> None:
        running = ("debug_step_back", "debug_step", "debug_until_nan", "debug_breakpoint", "debug_restart")
        begun = self._view.state not in ("idle", "ended")
        ended = ("debug", "debug_restart") if self._view.state == "ended" else ("debug",)
        self._bar.show_only(*(("debug_continue", *running, "debug_stop") if begun else ended))
        if self._view.state == "idle":
            self._show_empty()
        else:
            self._page.show_batch()
        self._actions.refresh()
        # A step takes a hundredth of a second: its words would only flash.
        if self._view.state == "running":
            self._busy.start()
        else:
            self._busy.stop()
            self._on_page.call(self._show_position)
        if self._view.state == "standing":
            self._on_page.call(self._show_operator)

    def _show_message(self) -> None:
        if not self._busy.isActive():
            self._on_page.call(self._show_position)

    def _show_position(self) -> None:
        view, texts = self._view, self._texts
        self._page.position.show_position(
            texts.look(view), texts.title(view), texts.place(view), texts.message(view), texts.note(view)
        )
        self._page.position.show_progress(view.state in ("starting", "running", "stopping"))

    def _show_parts(self) -> None:
        names = [part.name for part in self._view.parts]
        self._part = ""
        self._page.set_parts(names, names[0] if names else "")
        self._choose_part(names[0] if names else "")

    def _show_source(self) -> None:
        self._page.set_source(self._view.source_file, self._view.source)
        self._show_marks()

    def _choose_part(self, name: str) -> None:
        """Show the operators of a part, or the parameters of an update outside of a Program."""
        part = self._view.part(name)
        if part is not None and name == self._part:
            return
        self._part = name
        self._page.set_parts([each.name for each in self._view.parts], name)
        if part is None or part.program:
            program = {} if part is None else dict(part.program)
            self._page.tree.set_program(program_data(program, self._texts.part(name)))
            self._page.show_operators()
            self.diagram.set_program(program)
            count = theme.format_number(sum(len(block["ops"]) for block in program.get("blocks", [])))
            self._page.set_program_title(self.tr("{0} operators").format(count) if program else "")
        else:
            self._page.show_updates()
            count = theme.format_number(len(part.rows))
            self._page.set_program_title(self.tr("{0} parameters").format(count))
        self._show_updates()
        self._show_marks()

    def _show_operator(self) -> None:
        """Bring the operator of the position into view, with its line."""
        stop = self._view.stop
        if stop.part and self._view.part(stop.part) is not None:
            self._choose_part(stop.part)
        elif stop.reason == "begin" and self._view.parts:
            self._choose_part(self._view.parts[0].name)
        self._show_marks()
        self._show_updates()
        part, at = self._view.part(self._part), stop.at
        if part is not None and at is not None and part.operator_at(*at) is not None:
            self._page.tree.select_operator(*at)
            self.diagram.show_position(at)
        self._page.mark_line(where_line(stop, self._view.source_file))

    def _show_position_again(self) -> None:
        if self._view.state == "standing":
            self._show_operator()

    def _show_updates(self) -> None:
        stop = self._view.stop
        results = [row.name for row in stop.rows if row.role == "out" and stop.part == "update"]
        self._page.updates.set_rows(self._view.updates, results[0] if results else "")

    # ----- breakpoints -----

    def toggle_breakpoint(self) -> str:
        """Add a breakpoint at the selected line or operator, or remove it."""
        reason = self._session.blocked(commands.DEBUG_BREAKPOINT)
        if reason:
            return reason
        page = self._page
        if QApplication.focusWidget() is page.source:
            self._toggle_line(page.source.current_line())
            return ""
        group = self.diagram.selected_group() if page.shows_diagram() else None
        if group is not None:
            self._debugging.toggle_breakpoint(group)
            return ""
        selected, part = page.tree.selected_operator(), self._view.part(self._part)
        if selected is None or part is None or not part.program:
            return self.tr("Select an operator or a line first.")
        self._debugging.toggle_breakpoint(self._at_operator(part, *selected))
        return ""

    def _at_operator(self, part: Part, block: int, operator: int) -> Breakpoint:
        found = part.operator_at(block, operator) or {}
        return Breakpoint(
            "operator",
            part=part.name,
            operator=str(found.get("type", "")),
            where=place_in(part.program, block, operator),
        )

    def _toggle_line(self, line: int) -> None:
        if self._view.source_file:
            self._debugging.toggle_breakpoint(Breakpoint("line", file=self._view.source_file, line=line))

    def menu(self, block: int, operator: int) -> QMenu:
        """The breakpoints that an operator offers: at itself, its type, its layers, its line."""
        menu, part = QMenu(self._page), self._view.part(self._part)
        found = None if part is None else part.operator_at(block, operator)
        if part is None or found is None:
            return menu
        offers = [(self.tr("Breakpoint at this operator"), self._at_operator(part, block, operator))]
        kind = str(found["type"])
        offers.append((self.tr("Breakpoint at each {0}").format(kind), Breakpoint("operator", operator=kind)))
        path = str(found.get("layer") or "")
        while path:
            offers.append((self.tr("Breakpoint at layer {0}").format(path), Breakpoint("layer", layer=path)))
            path = path.rpartition(".")[0]
        if found["file"] and found["line"]:
            at = Breakpoint("line", file=found["file"], line=found["line"])
            offers.append((self.tr("Breakpoint at line {0}").format(at.name), at))
        places = {each.place for each in self._view.breakpoints}
        for words, offered in offers:
            action = menu.addAction(words, lambda offered=offered: self._debugging.toggle_breakpoint(offered))
            action.setCheckable(True)
            action.setChecked(offered.place in places)
        return menu

    def _open_menu(self, at: tuple[int, int], place: QPoint) -> None:
        menu = self.menu(*at)
        menu.exec(place)
        menu.deleteLater()

    def _switch_breakpoint(self, row: int, enabled: bool) -> None:
        found = self._view.breakpoints
        if 0 <= row < len(found):
            self._debugging.change_breakpoint(row, replace(found[row], enabled=enabled))

    def edit_breakpoint(self, row: int) -> None:
        """Ask for the hit count and the condition of a breakpoint."""
        found = self._view.breakpoints
        if 0 <= row < len(found):
            dialog = BreakpointDialog(self._window, found[row])
            dialog.accepted_breakpoint.connect(
                lambda changed: self._debugging.change_breakpoint(row, changed)
            )
            dialog.open()

    def _show_breakpoints(self) -> None:
        self._panel.set_breakpoints(self._view.breakpoints)
        self._on_page.call(self._show_marks)

    def _show_marks(self) -> None:
        """Marks of breakpoints and of the position, in operators and source."""
        view, part = self._view, self._view.part(self._part)
        file = view.source_file
        lines = {b.line: b.enabled for b in view.breakpoints if b.kind == "line" and b.file == file}
        self._page.set_breakpoint_lines(lines)
        if part is None or not part.program:
            return
        stands = view.state == "standing" and view.stop.part == part.name
        marks = OperatorMarks(part, view.breakpoints, view.stop.at if stands else None)
        self._page.tree.mark_operators(marks)
        self.diagram.mark(marks)

    # ----- watches and changes -----

    def _show_watches(self) -> None:
        watched = {row.name: row for row in self._view.stop.rows if row.role == "watch"}
        self._panel.set_watches(
            [
                (name, self._texts.figures(watched[name]) if name in watched else "\u2013")
                for name in self._view.watches
            ]
        )

    def _show_changes(self) -> None:
        self._panel.set_changes([(each.name, self._texts.change(each)) for each in self._view.changes])

    def close(self) -> None:
        """Follow the session no longer."""
        self._bonds.release()
        self._busy.stop()
        self._on_page.forget()
        self.tensor.close()
        self.diagram.close()


def steps_of(folder: str) -> list[int]:
    """The steps of the checkpoints of a run, without the best one, which belongs to no step."""
    return [each.step for each in checkpoints_of(folder) if not each.best]
