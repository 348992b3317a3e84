"""The page Debug with real clicks and keys, over a child that says what the test says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from studio.session import commands
from studio.session.debug.breakpoints import Breakpoint, Conditions
from studio.session.debug.debug_requests import ChangeValue, GoOn, ShowValue, WatchFor
from studio.windows.debug.breakpoint_dialog import BreakpointDialog
from studio.windows.debug.change_dialog import ChangeDialog
from tests.studio.debug_events import FILE, opened, stopped, value

LEFT = Qt.MouseButton.LeftButton
NONE, SHIFT, CTRL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


class Desk:
    """The window at the page Debug, and what its child was asked."""

    def __init__(self, stage: Any, qtbot: QtBot) -> None:
        self.stage, self.qtbot = stage, qtbot
        self.session = stage.session
        self.refused: list[str] = []
        stage.studio.actions.refused.connect(self.refused.append)
        stage.studio.actions.trigger("page_debug")
        stage.window.activateWindow()
        qtbot.waitUntil(lambda: QApplication.activeWindow() is stage.window)
        self.page, self.panel = stage.studio.debug_page, stage.studio.debug_panel
        self.view = self.session.debugging.view

    def press(self, key: Qt.Key, modifier: Qt.KeyboardModifier = NONE) -> None:
        """A key as the system sends it: to the window, which looks for shortcuts first."""
        QTest.keyClick(self.stage.window, key, modifier)
        QApplication.processEvents()

    def tell(self, event: dict[str, Any]) -> None:
        kind = event.pop("event")
        self.stage.tell(kind, **event)
        QApplication.processEvents()

    def stop(self, position: int, reason: str = "step", **values: Any) -> None:
        row = {"text": "", "line": 0, "hit": 0, "refused": ""}
        rows = values.pop("breakpoints", [row for _ in self.view.breakpoints])
        values.setdefault("request", self.session.debugging._moving)
        self.tell(stopped(position, reason, watching=self.watching, breakpoints=rows, **values))

    def start(self) -> None:
        """Stand before the first operator."""
        self.press(Qt.Key.Key_F5)
        assert self.view.state == "starting"
        self.tell(opened())
        self.tell(stopped(0, "begin", request=-1, watching=0))
        self.stop(0, "begin")

    @property
    def requests(self) -> list[Any]:
        return list(self.stage.worker.commands)

    @property
    def watching(self) -> int:
        return int(next(each.request for each in reversed(self.requests) if isinstance(each, WatchFor)))

    @property
    def way(self) -> str:
        """The last movement that was asked for."""
        return str(next(each.way for each in reversed(self.requests) if isinstance(each, GoOn)))


@pytest.fixture
def desk(stage: Any, qtbot: QtBot) -> Desk:
    return Desk(stage, qtbot)


def test_the_page_opens_by_its_keys_and_offers_to_begin(stage: Any, qtbot: QtBot) -> None:
    stage.window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.activeWindow() is stage.window)
    QTest.keyClick(stage.window, Qt.Key.Key_7, CTRL)
    assert stage.window.current_page() == "debug"
    assert stage.studio.debug_page.is_empty()
    QTest.keyClick(stage.window, Qt.Key.Key_8, CTRL)
    assert stage.window.current_page() == "predict"


def test_keys_step_continue_and_stop_on_this_page(desk: Desk) -> None:
    desk.start()
    assert not desk.page.is_empty()
    assert desk.page.position.text().startswith("Before the first operator of batch 3")
    for key, modifier, way in (
        (Qt.Key.Key_F10, NONE, "step"),
        (Qt.Key.Key_F10, CTRL, "back"),
        (Qt.Key.Key_F5, NONE, "continue"),
    ):
        desk.stop(1)
        desk.press(key, modifier)
        assert desk.way == way
    desk.press(Qt.Key.Key_F5, SHIFT)
    assert desk.view.state == "stopping"
    assert desk.page.position.text().startswith("Stopping")
    assert desk.session.train.state == "idle"  # F5 is the training's on the other pages alone


def test_the_same_keys_are_those_of_the_training_elsewhere(desk: Desk) -> None:
    desk.start()
    actions = desk.stage.studio.actions
    desk.stage.studio.frame.show_page("train")
    asked = len(desk.requests)
    for key in (Qt.Key.Key_F10, Qt.Key.Key_F9):
        desk.press(key)
    assert len(desk.requests) == asked
    assert [actions[name].shortcut().toString() for name in ("start", "debug_continue")] == ["F5", ""]
    desk.press(Qt.Key.Key_F5)
    assert desk.session.train.state == "starting"
    desk.stage.studio.frame.show_page("debug")
    assert [actions[name].shortcut().toString() for name in ("start", "resume", "stop_early")] == [""] * 3
    assert "F5" in actions["debug_continue"].toolTip()


def test_no_two_enabled_commands_have_the_same_keys_on_any_page(desk: Desk) -> None:
    actions = desk.stage.studio.actions
    for begun in (False, True):
        if begun:
            desk.start()
        for page in commands.PAGES:
            desk.stage.studio.frame.show_page(page)
            shown = [
                (actions[which].shortcut().toString(), which.id)
                for which in commands.COMMANDS
                if actions[which].isEnabled() and not actions[which].shortcut().isEmpty()
            ]
            assert len({keys for keys, _ in shown}) == len(shown), (page, shown)
        desk.stage.studio.frame.show_page("debug")


def test_a_stop_shows_operator_line_and_values(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    page = desk.page
    assert page.tree.selected_operator() == (0, 1)
    assert page.tree.marked_operators()[0, 1] == ("position", "accent")
    assert page.source.marked_lines() == (20,)
    assert [row.name for row in page.values.values()] == ["a", "b"]
    assert page.tensor.name() == "b"
    sent = desk.requests[-1]
    assert isinstance(sent, ShowValue)
    assert (sent.name, sent.kind, sent.options) == ("b", "image", {"sample": 0, "first": 0})
    for words in ("log", "features.1", "net.py:20", "Compiled kernels round otherwise."):
        assert words in page.position.text()


def test_the_first_bad_value_is_named_with_the_extremes_of_the_inputs(desk: Desk, qtbot: QtBot) -> None:
    desk.start()
    button = desk.stage.studio._bars["debug"].buttons["debug_until_nan"]
    qtbot.mouseClick(button, LEFT)
    assert desk.way == "until_nan"
    words = "the inputs are finite, the result is not"
    desk.stop(2, "not finite", outputs=[value("b", nan=7)], value="b", message=words)
    text = desk.page.position.text()
    assert text.startswith("log is the first operator with a bad value")
    assert "Result b: \u22121.5 to 2.5, 7 NaN" in text
    assert "Input a: \u22121.5 to 2.5" in text
    assert desk.page.values.text("b", "bad") == "7"
    desk.press(Qt.Key.Key_F10)
    desk.stop(3, "finite", message="batch 3 is finite: 3 operators forward")
    assert desk.page.position.text().startswith("Everything is finite")


def test_a_breakpoint_at_the_selected_operator(desk: Desk) -> None:
    desk.start()
    desk.page.tree.select_operator(0, 2)
    desk.page.tree.view.setFocus()
    desk.press(Qt.Key.Key_F9)
    (made,) = desk.view.breakpoints
    assert (made.kind, made.part, made.where, made.operator) == ("operator", "forward", ((0, 2),), "relu")
    assert desk.page.tree.marked_operators()[0, 2] == ("breakpoint", "bad")
    assert desk.panel.breakpoints.item(0).text() == "relu"
    desk.press(Qt.Key.Key_F9)
    assert desk.view.breakpoints == ()
    assert desk.page.tree.marked_operators() == {}


def test_a_breakpoint_at_a_line_by_key_or_click(desk: Desk, qtbot: QtBot) -> None:
    desk.start()
    source = desk.page.source
    source.setFocus()
    source.show_line(20)
    desk.press(Qt.Key.Key_F9)
    assert [(each.kind, each.file, each.line) for each in desk.view.breakpoints] == [("line", FILE, 20)]
    assert source.breakpoints() == {20: True}
    assert set(desk.page.tree.marked_operators()) == {(0, 1), (0, 2)}
    source.show_line(1)
    at = QPoint(4, source.cursorRect().center().y())
    qtbot.mouseClick(source._gutter, LEFT, pos=at)
    assert [each.line for each in desk.view.breakpoints] == [20, 1]
    row = {"text": "net.py:10", "line": 10, "hit": 0, "refused": ""}
    desk.stop(0, "begin", breakpoints=[{**row, "text": "net.py:20", "line": 20}, row])
    assert set(source.breakpoints()) == {10, 20}


def test_layers_types_and_lines_are_offered_in_the_menu_of_an_operator(desk: Desk) -> None:
    desk.start()
    menu = desk.stage.studio.debug.menu(0, 1)
    words = [action.text() for action in menu.actions()]
    assert words == [
        "Breakpoint at this operator",
        "Breakpoint at each log",
        "Breakpoint at layer features.1",
        "Breakpoint at layer features",
        "Breakpoint at line net.py:20",
    ]
    menu.actions()[3].trigger()
    assert [each.layer for each in desk.view.breakpoints] == ["features"]
    assert set(desk.page.tree.marked_operators()) == {(0, 0), (0, 1), (0, 2)}
    assert desk.stage.studio.debug.menu(0, 1).actions()[3].isChecked()


def test_breakpoints_are_switched_edited_and_removed_in_the_panel(desk: Desk, qtbot: QtBot) -> None:
    desk.start()
    desk.session.debugging.toggle_breakpoint(Breakpoint("layer", layer="features.1"))
    rows = desk.panel.breakpoints
    rows.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert [each.enabled for each in desk.view.breakpoints] == [False]
    assert desk.page.tree.marked_operators()[0, 1] == ("breakpoint-off", "bad")
    rows.setCurrentRow(0)
    qtbot.mouseClick(desk.panel.edit, LEFT)
    (dialog,) = desk.stage.window.findChildren(BreakpointDialog)
    dialog.hits.setValue(3)
    dialog.form.above.setChecked(True)
    dialog.form.limit.setText("50")
    dialog.accept()
    (found,) = desk.view.breakpoints
    assert (found.hits, found.condition) == (3, {"kind": "above", "limit": 50.0})
    assert "from hit 3" in rows.item(0).text()
    rows.setCurrentRow(0)
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    assert desk.view.breakpoints == ()


def test_a_refused_breakpoint_says_why(desk: Desk) -> None:
    desk.start()
    desk.session.debugging.toggle_breakpoint(Breakpoint("line", file=FILE, line=29))
    why = "debug: net.py:29: no operator comes from this line or a later one"
    desk.stop(0, "begin", breakpoints=[{"text": "", "line": 0, "hit": 0, "refused": why}])
    desk.panel.breakpoints.setCurrentRow(0)
    assert "not here" in desk.panel.breakpoints.item(0).text()
    assert desk.panel._why.text() == why


def test_conditions_are_edited_and_invalid_ones_named(desk: Desk, qtbot: QtBot) -> None:
    form = desk.panel.conditions
    form.not_finite.setChecked(True)
    form.ignored.setFocus()
    qtbot.keyClicks(form.ignored, "log, attention")
    qtbot.keyClick(form.ignored, Qt.Key.Key_Return)
    form.shape.setText("[32, ?, 4]")
    form.shape.editingFinished.emit()
    form.shape_is.setChecked(True)
    shown = desk.view.conditions
    assert (shown.not_finite, shown.ignored, shown.shape) == (True, ("log", "attention"), (32, -1, 4))
    form.limit.setText("-1")
    form.limit.editingFinished.emit()
    assert form.problem() == "The limit must be a number from 0 on: got \u201c-1\u201d"
    assert desk.view.conditions == replace(shown)
    desk.session.debugging.set_conditions(Conditions())
    assert not form.not_finite.isChecked()


def test_answers_about_a_value_reach_the_view(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    number = desk.requests[-1].request
    values = {"values": np.ones((3, 4, 4), np.float32), "first": 0, "total": 3, "sample": 0, "samples": 2}
    head = {"event": "debug_shown", "request": number, "name": "b"}
    desk.tell({**head, "kind": "image", "values": {**values, "step": 1, "low": None, "high": 2.0}})
    assert desk.page.tensor.image.planes().values.shape == (3, 4, 4)
    desk.page.tensor.show_kind("table")
    desk.qtbot.waitUntil(lambda: getattr(desk.requests[-1], "kind", "") == "rows")
    sent = desk.requests[-1]
    assert sent.options == {"row": 0, "column": 0, "count": 24, "width": 4}
    rows = [[0.5, "nan", "-inf", 2.0] for _ in range(24)]
    found = {"row": 0, "column": 0, "rows": 24, "columns": 4, "values": rows}
    desk.tell({**head, "request": sent.request, "kind": "rows", "values": found})
    assert [desk.page.tensor.table.text(3, column) for column in range(4)] == [
        "0.5",
        "NaN",
        "\u2212\u221e",
        "2",
    ]
    desk.page.tensor.show_kind("statistics")
    counts = dict.fromkeys(("count", "nan", "positive_infinite", "negative_infinite", "zero", "bytes"), 4)
    figures = {"minimum": None, "maximum": None, "mean": None, "deviation": None}
    sent = desk.requests[-1]
    answer = {**head, "request": sent.request, "kind": "statistics", "values": {**counts, **figures}}
    desk.tell(answer)
    assert desk.page.tensor.statistics.texts()["Zero"] == "4 (100.00\u2009%)"


def test_a_value_that_was_chosen_stays_at_the_next_positions(desk: Desk) -> None:
    desk.start()
    names = [{"name": name, "shape": [2, 3, 4, 4], "dtype": "float32", "kept": True} for name in "xab"]
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    desk.qtbot.mouseClick(desk.page.all_values, LEFT)
    assert desk.requests[-1].values
    desk.stop(2, values=names, request=desk.watching)
    assert [row.name for row in desk.page.values.values()] == ["x", "a", "b"]
    desk.page.values.value_chosen.emit("x")
    assert desk.page.tensor.name() == "x"
    desk.press(Qt.Key.Key_F10)
    desk.stop(3, values=names)
    assert desk.page.tensor.name() == "x"


def test_a_number_is_typed_into_the_table(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    desk.page.tensor.cell_entered.emit((0, 1, 2, 3), "nan")
    sent = desk.requests[-1]
    assert sent == ChangeValue(sent.request, "b", "number", "nan", (0, 1, 2, 3))
    change = {"name": "b", "how": "number", "value": "nan", "index": [0, 1, 2, 3], "position": 2}
    desk.stop(2, changes=[change])
    assert desk.panel.changes.item(0).text() == "b  [0, 1, 2, 3] = nan"


def test_a_value_is_filled_or_scaled_by_its_dialog(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    desk.page.values.change_requested.emit("b")
    (dialog,) = desk.stage.window.findChildren(ChangeDialog)
    dialog.value.setText("x")
    dialog.accept()
    assert dialog.problem() == "Not a number: \u201cx\u201d"
    dialog.ways["number"].setChecked(True)
    dialog.value.setText("inf")
    dialog.index.setText("0, 9, 0, 0")
    dialog.accept()
    assert "No index" in dialog.problem()
    dialog.ways["scale"].setChecked(True)
    dialog.accept()
    sent = desk.requests[-1]
    assert sent == ChangeValue(sent.request, "b", "scale", "inf", ())


def test_a_watched_value_is_shown_at_each_stop(desk: Desk) -> None:
    desk.start()
    desk.page.values.watch_requested.emit("loss")
    assert desk.requests[-1].watches == ("loss",)
    desk.press(Qt.Key.Key_F10)
    desk.stop(1, watches=[value("loss", shape=(1,))])
    assert desk.panel.watches.item(0).text() == "loss  \u22121.5 to 2.5"
    desk.panel.watches.setCurrentRow(0)
    desk.qtbot.keyClick(desk.panel.watches, Qt.Key.Key_Delete)
    assert desk.view.watches == ()


def test_updates_outside_of_a_program_are_rows(desk: Desk) -> None:
    desk.start()
    desk.qtbot.mouseClick(desk.page.parts["update"], LEFT)
    assert desk.page.updates.isVisible()
    rows = [{"name": "w", "before": value("w"), "gradient": value("w@GRAD", nan=2), "after": None}]
    desk.press(Qt.Key.Key_F10)
    desk.stop(3, updates=rows, part="update", where=[[0, 0]], outputs=[value("w")])
    assert desk.page.updates.text("w", "before") == "\u22121.5 \u2026 2.5"
    assert desk.page.updates.text("w", "after") == "\u2013"
    bar = desk.stage.studio._bars["debug"]
    desk.qtbot.mouseClick(bar.buttons["debug_restart"], LEFT)
    desk.stop(0, reason="begin", part="", where=[], outputs=[])
    assert desk.page.parts["forward"].isChecked()
    assert not desk.page.updates.isVisible()


def test_a_child_that_died_is_named_and_restart_is_offered(desk: Desk) -> None:
    desk.session.debugging.toggle_breakpoint(Breakpoint("operator", operator="log"))
    desk.start()
    desk.press(Qt.Key.Key_F5)
    message = "debugger: the system ended it because memory ran out; take a smaller batch size"
    details = {"killed": False, "exit_code": -9, "message": message, "details": ""}
    desk.tell({"event": "worker_ended", "clean": False, **details})
    text = desk.page.position.text()
    assert text.startswith("The debugger's process has died")
    assert "memory ran out" in text
    assert "Breakpoints, conditions and watches stay." in text
    bar = desk.stage.studio._bars["debug"]
    assert desk.panel.breakpoints.count() == 1
    desk.qtbot.mouseClick(bar.buttons["debug_restart"], LEFT)
    assert desk.view.state == "starting"
    shown = {name for name, button in bar.buttons.items() if not button.isHidden()}
    assert {"debug_continue", "debug_step", "debug_stop"} <= shown


def test_a_request_that_is_refused_is_reported(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    number = desk.session.debugging._moving
    desk.tell({"event": "debug_refused", "request": number, "message": "debug: b: shape [2] and [3]"})
    assert desk.refused == ["debug: b: shape [2] and [3]"]
    assert desk.view.state == "standing"


def test_help_opens_at_the_page_of_the_debugger(desk: Desk) -> None:
    desk.press(Qt.Key.Key_F1)
    shown = desk.stage.studio.help.shown
    assert shown is not None
    assert "Debug" in shown.page.toPlainText()[:200]
    assert "F10, page Debug" in desk.stage.studio.help.keys_text()


def test_every_button_of_the_page_has_words(desk: Desk) -> None:
    desk.start()
    for button in desk.page.findChildren(QPushButton):
        assert button.accessibleName() or button.text()


def test_the_diagram_shows_position_and_breakpoints_and_offers_layers(desk: Desk) -> None:
    desk.start()
    page, diagram = desk.page, desk.page.diagram
    desk.qtbot.mouseClick(page.as_diagram, LEFT)
    assert page.shows_diagram()
    desk.qtbot.waitUntil(lambda: len(diagram.scene().ids) > 0)
    view = desk.stage.studio.debug.diagram._view
    desk.session.debugging.toggle_breakpoint(Breakpoint("operator", operator="conv2d"))
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    log, group = view.node_of((0, 1)), view.diagram.parents_of(view.node_of((0, 1)))[-1]
    desk.qtbot.waitUntil(lambda: diagram.current() == log)  # the group around it was opened
    assert view.is_shown(log)
    assert diagram._marks[log] == ("current",)
    assert diagram._marks[view.node_of((0, 0))] == ("breakpoint",)
    diagram.selected.emit(view.node_of((0, 2)))
    assert page.tree.selected_operator() == (0, 2)
    diagram.select([group])
    diagram.setFocus()
    desk.press(Qt.Key.Key_F9)
    assert [each.layer for each in desk.view.breakpoints] == ["", "features.1"]
    desk.qtbot.mouseClick(page.as_diagram, LEFT)
    assert not page.shows_diagram()
    assert page.source.isVisible()


def test_the_diagram_opens_at_the_position(desk: Desk) -> None:
    desk.start()
    desk.press(Qt.Key.Key_F10)
    desk.stop(2)
    desk.qtbot.mouseClick(desk.page.as_diagram, LEFT)
    view = desk.stage.studio.debug.diagram._view
    desk.qtbot.waitUntil(lambda: view.diagram is not None)
    desk.qtbot.waitUntil(lambda: desk.page.diagram.current() == view.node_of((0, 1)))
