"""The page Code with real keys and clicks, over workers that say what the test says."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QFileSystemWatcher, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QComboBox,
    QLineEdit,
    QPushButton,
    QScrollArea,
)

from resources.code_outline import is_known
from resources.local_code import read_code
from studio.controllers.code import code_controller
from studio.session.code import user_models
from studio.session.code.drafts import draft_path
from studio.session.code.edited_file import stamp_of
from studio.windows.agreement_dialog import AgreementDialog
from studio.windows.code.code_page import CONVERTED, OPERATORS
from studio.windows.controls import ActionButton
from widgets import theme
from widgets.elided import ElidedLabel

TEXT = """from engine import nn


class Net(nn.Layer):
    def forward(self, x):
        x = self.conv(x)
        return x
"""
CONTROL = Qt.KeyboardModifier.ControlModifier
WAIT = 20_000


def found(file: Path, problems: Any = ()) -> dict[str, Any]:
    variable = {
        "name": "y",
        "shape": [-1, 4],
        "dtype": "float32",
        "persistable": False,
        "parameter": False,
        "stop_gradient": False,
    }
    made = {"inputs": {}, "outputs": {"Out": ["y"]}, "attrs": {}, "regions": [], "file": str(file)}
    operators = [{"type": "conv2d", "line": 6, **made}, {"type": "relu", "line": 7, **made}]
    return {
        "problems": list(problems),
        "output": [-1, 4],
        "parameters": 1234,
        "operations": 56789,
        "all_counted": True,
        "lines": {6: {"shapes": [[-1, 4]], "parameters": 1234, "operations": 56789, "counted": True}},
        "layers": [
            {
                "name": "conv",
                "kind": "Conv2D",
                "line": 6,
                "shape": [-1, 4, 2],
                "parameters": 1234,
                "operations": 56789,
                "counted": True,
            }
        ],
        "functions": [
            {
                "name": "Net.forward",
                "first": 5,
                "last": 7,
                "passes": [
                    ("original", "def forward(self, x):\n    x = self.conv(x)\n    return x"),
                    ("calls", "def forward(self, x):\n\n    x = _jst.call(self.conv)(x)\n    return x"),
                ],
                "changes": [[[], [], []], [[], [1], [1], []]],
            }
        ],
        "program": {"blocks": [{"idx": 0, "parent": -1, "vars": [variable], "ops": operators}]},
    }


class Desk:
    """The page with a file of an own model, which was agreed to."""

    def __init__(self, stage: Any, file: Path) -> None:
        self.stage, self.file = stage, file
        self.page, self.panel = stage.studio.code_page, stage.studio.code_panel
        self.editor, self.view = self.page.editor, stage.session.model_editor.view

    def tell(self, event: str, **values: Any) -> None:
        worker = next(each for each in reversed(self.stage.workers) if each.job and not each.ended())
        worker.tell(event, **values)
        self.stage.session.pump()

    def check(self, problems: Any = ()) -> None:
        self.tell("code_checked", **found(self.file, problems))
        self.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")


@pytest.fixture
def desk(stage: Any, tmp_path: Path) -> Desk:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    stage.session.agree(read_code(file))
    stage.studio.actions.trigger("page_code")
    stage.studio.code.open_file(str(file))
    return Desk(stage, file)


def test_a_file_becomes_the_model_and_shows_shapes_at_its_lines(desk: Desk) -> None:
    assert desk.stage.session.train.settings.model == f"{desk.file}:Net"
    assert desk.editor.code() == TEXT
    desk.check()
    assert desk.editor.note(6) == "[?, 4] \u00b7 1\u2009234 p \u00b7 56\u2009789 ops"
    assert desk.panel.table.item(0, 0).text() == "conv\nConv2D"
    cells = [desk.panel.table.item(0, column).text() for column in (1, 2, 3)]
    assert cells == ["4\u00d72", "1\u2009234", "56\u2009789"]
    desk.panel.table.cellClicked.emit(0, 0)
    assert desk.editor.caret_line() == 6


@pytest.mark.styled
def test_names_hints_and_buttons_are_whole_in_a_window_of_1280_pixels(desk: Desk) -> None:
    desk.stage.window.resize(1280, 800)
    desk.check()
    QTest.qWait(0)
    (forward,) = (label for label in desk.page.findChildren(ElidedLabel) if label.text() == "Net.forward")
    for words in ("Net.forward", "SmallClassifier.forward"):
        forward.setText(words)
        QTest.qWait(0)
        assert forward.shown_text() == words
    field = desk.page.inputs
    room = field.width() - 2 * theme.SPACE_S
    assert field.fontMetrics().horizontalAdvance(field.placeholderText()) < room
    buttons = desk.stage.window.top.findChildren(ActionButton)
    shown = {button.text(): button for button in buttons if button.isVisible()}
    assert list(shown) == ["New model…", "Open file…", "Save file"]
    assert shown["Open file…"].accessibleName() == "Open model source…"
    assert shown["Open file…"].toolTip()


def test_typing_is_tried_after_a_pause_and_saved_with_keys(desk: Desk, qtbot: Any) -> None:
    desk.check()
    desk.editor.show_line(7)
    desk.editor.setFocus()
    QTest.keyClick(desk.editor, Qt.Key.Key_End)
    QTest.keyClick(desk.editor, Qt.Key.Key_Return)
    QTest.keyClicks(desk.editor, "x = (")
    qtbot.waitUntil(lambda: bool(desk.view.problems), timeout=WAIT)
    assert (desk.view.problems[0].stage, desk.view.problems[0].line) == ("syntax", 8)
    assert desk.page.problems.item(0).text().startswith("line 8 \u00b7 Syntax: ")
    assert desk.editor.squiggles()[0].line == 8
    assert draft_path(desk.file).read_text() == desk.editor.code()
    QTest.keyClicks(desk.editor, ")")
    QTest.keyClick(desk.editor, Qt.Key.Key_S, CONTROL)
    assert desk.file.read_text() == desk.editor.code()
    assert not draft_path(desk.file).exists()
    assert desk.stage.session.needs_agreement() is None
    assert desk.stage.workers[-1].job.text == desk.editor.code()


def test_eager_errors_and_those_of_the_conversion_look_different(desk: Desk) -> None:
    problem = {"where": "mine.py:6", "what": "shapes", "do": "fix it", "details": "", "error": "ShapeError"}
    desk.check([{"stage": "eager", "line": 6, **problem}, {"stage": "static", "line": 7, **problem}])
    assert [(each.line, each.warning) for each in desk.editor.squiggles()] == [(6, False), (7, True)]
    assert "While it runs" in desk.page.problems.item(0).text()
    assert "to_static only" in desk.page.problems.item(1).text()
    desk.page.problems.itemClicked.emit(desk.page.problems.item(1))
    assert desk.editor.caret_line() == 7


def test_the_caret_and_the_operators_light_each_other(desk: Desk, qtbot: Any) -> None:
    desk.check()
    desk.editor.show_line(6)
    assert desk.page.converted.marked_lines() == (3,)
    qtbot.mouseClick(desk.page.tabs[OPERATORS], Qt.MouseButton.LeftButton)
    assert desk.page.tree.lit_operators() == [(0, 0)]
    QTest.keyClick(desk.editor, Qt.Key.Key_Down)
    assert desk.page.tree.lit_operators() == [(0, 1)]
    desk.page.tree.select_operator(0, 0)
    assert desk.editor.caret_line() == 6
    assert desk.editor.lit_lines() == (6,)
    qtbot.mouseClick(desk.page.tabs[CONVERTED], Qt.MouseButton.LeftButton)
    passes = desk.page.passes
    assert [passes.itemText(row) for row in range(passes.count())] == ["As written", "All passes"]
    desk.page.pass_chosen.emit(0)
    assert "_jst" not in desk.page.converted.code()
    assert desk.page.converted.marked_lines() == (2,)
    desk.page.converted.line_clicked.emit(3)
    assert desk.editor.caret_line() == 7


def test_each_change_of_the_conversion_names_its_pass_and_leads_to_its_help(desk: Desk, qtbot: Any) -> None:
    desk.check()
    desk.editor.show_line(6)
    converted, note = desk.page.converted, desk.page.pass_note
    assert converted.changed_lines() == (2, 3)
    assert note.text() == 'Line 3 was changed by <a href="conversion.md#calls">calls</a>'
    converted.show_line(4)
    assert note.text() == "Line 4 is as written"
    desk.page.pass_chosen.emit(0)
    assert (converted.changed_lines(), note.text()) == ((), "")
    note.linkActivated.emit("conversion.md#calls")
    shown = desk.stage.studio.help.shown
    assert shown.file == "conversion.md"
    assert shown.page.textCursor().block().text() == "calls"
    qtbot.waitUntil(lambda: 0 <= shown.page.cursorRect().top() < 40, timeout=WAIT)
    shown.close()


def test_a_file_changed_outside_is_read_again_or_asked_about(desk: Desk, qtbot: Any) -> None:
    desk.file.write_text(TEXT + "# theirs\n")
    qtbot.waitUntil(lambda: desk.editor.code() == TEXT + "# theirs\n", timeout=WAIT)
    assert "Run this file…" in desk.page.banner.buttons[0].text()  # a foreign text
    desk.editor.setFocus()
    QTest.keyClicks(desk.editor, "#")
    mine = desk.editor.code()
    desk.file.write_text(TEXT + "# theirs again\n")
    qtbot.waitUntil(lambda: desk.view.outside == "changed", timeout=WAIT)
    assert desk.editor.code() == mine
    desk.stage.studio.actions.trigger("save_model")
    assert "choose a version" in desk.stage.window.toast.text()
    qtbot.mouseClick(desk.page.banner.buttons[1], Qt.MouseButton.LeftButton)
    assert desk.editor.code() == TEXT + "# theirs again\n"
    QTest.keyClick(desk.editor, Qt.Key.Key_Z, CONTROL)
    assert desk.editor.code() == mine


def test_foreign_code_is_asked_for_on_the_page(stage: Any, tmp_path: Path, qtbot: Any) -> None:
    file = tmp_path / "theirs.py"
    file.write_text(TEXT)
    stage.studio.actions.trigger("page_code")
    stage.studio.code.open_file(str(file))
    before = len(stage.workers)
    assert stage.studio.code_page.banner.isVisible()
    qtbot.mouseClick(stage.studio.code_page.banner.buttons[0], Qt.MouseButton.LeftButton)
    (dialog,) = stage.window.findChildren(AgreementDialog)
    qtbot.mouseClick(dialog.allow, Qt.MouseButton.LeftButton)
    assert len(stage.workers) == before + 1
    assert stage.worker.job_name == "check_code"
    assert not stage.studio.code_page.banner.isVisible()


def test_a_template_becomes_a_file(stage: Any, tmp_path: Path) -> None:
    stage.studio.actions.trigger("page_code")
    assert stage.studio.code_page.empty.isVisible()
    titles = [action.text() for action in stage.studio.code_page.menu.actions()]
    assert {"Linear", "LeNet", "ResNet-8", "LSTM", "Transformer"} <= set(titles)
    stage.studio.code.new("lenet", str(tmp_path / "own"))
    assert stage.session.train.settings.model == f"{tmp_path / 'own.py'}:LeNet"
    stage.studio.code.new("lenet", str(tmp_path / "no" / "such" / "folder.py"))
    assert "could not be saved" in stage.window.toast.text()
    stage.studio.code.open_file(str(tmp_path / "absent.py"))
    assert "can't be read" in stage.window.toast.text()
    assert stage.session.model_editor.view.file == str(tmp_path / "own.py")


def test_a_source_that_is_dropped_is_edited(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    stage.window.files_dropped.emit([str(file)])
    assert stage.window.current_page() == "code"
    assert stage.studio.code_page.editor.code() == TEXT
    stage.window.files_dropped.emit([str(tmp_path / "absent.py")])
    assert "can't be read" in stage.window.toast.text()
    assert stage.session.model_editor.view.file == str(file)


def test_a_text_is_parsed_by_a_thread_where_it_is_measured_right_after_it_was_typed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    parsing: list[bool] = []
    may_go_on = threading.Event()
    outline = user_models.code_outline

    def parse(data: bytes) -> Any:
        if not is_known(data):
            parsing.append(threading.current_thread() is threading.main_thread())
            assert parsing[-1] or may_go_on.wait(WAIT / 1000)
        return outline(data)

    monkeypatch.setattr(user_models, "code_outline", parse)
    monkeypatch.setattr("resources.code_outline.QUICK", 0)  # as if it were a large text
    desk.stage.session.files.begin()
    QTest.keyClicks(desk.editor, "x = (")
    desk.stage.studio.code.flush()
    refused: list[str] = []
    desk.stage.studio.actions.refused.connect(refused.append)
    assert desk.stage.studio.actions.trigger("measure_model") == ""
    may_go_on.set()
    qtbot.waitUntil(lambda: bool(refused), timeout=WAIT)
    assert refused[0].startswith("line 1: ")
    assert parsing
    assert not any(parsing)


def test_ctrl_f_finds_in_the_editor(desk: Desk) -> None:
    assert desk.stage.studio.actions.trigger("find") == ""
    assert desk.page.find_bar.isVisible()
    QTest.keyClicks(desk.page.find_bar.box, "conv")
    assert desk.editor.textCursor().selectedText() == "conv"


def test_an_own_model_that_is_chosen_elsewhere_is_opened_when_the_page_is(
    stage: Any, tmp_path: Path, qtbot: Any
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    stage.session.change_setting("model", f"{file}:Net")
    assert stage.session.model_editor.view.file == ""
    page = stage.studio.code_page
    stage.session.files.begin()
    stage.studio.actions.trigger("page_code")
    assert page.empty.isVisible()
    assert page.empty.accessibleName() == "Opening mine.py…"
    assert not page.empty.button.isVisible()
    assert not page.open_button.isVisible()
    qtbot.waitUntil(lambda: page.editor.code() == TEXT, timeout=WAIT)
    stage.session.new_project()
    qtbot.waitUntil(page.empty.isVisible, timeout=WAIT)
    assert page.empty.accessibleName().startswith("Write a model of your own")
    assert page.open_button.isVisible()


def yes(stage: Any) -> None:
    (dialog,) = [each for each in stage.window.findChildren(AgreementDialog) if each.isVisible()]
    QTest.mouseClick(dialog.allow, Qt.MouseButton.LeftButton)


def test_an_agreement_holds_on_all_pages(stage: Any, tmp_path: Path) -> None:
    here, elsewhere = tmp_path / "mine.py", tmp_path / "other.py"
    here.write_bytes(TEXT.replace("\n", "\r\n").encode())
    elsewhere.write_bytes((TEXT + "# another one\n").encode())
    stage.studio.actions.trigger("page_code")
    banner = stage.studio.code_page.banner
    stage.studio.code.open_file(str(here))
    QTest.mouseClick(banner.buttons[0], Qt.MouseButton.LeftButton)
    yes(stage)
    assert stage.session.needs_agreement() is None, "agreed to on Code, it can be trained"
    stage.studio.code.open_file(str(elsewhere))
    assert banner.isVisible()
    stage.studio.actions.trigger("add_to_queue")
    yes(stage)
    stage.studio.actions.trigger("page_train")
    stage.studio.actions.trigger("page_code")
    assert not banner.isVisible(), "agreed to on Train, it can be tried"


@pytest.mark.styled
@pytest.mark.parametrize("size", [(1280, 800), (1000, 650), (640, 400)], ids=str)
def test_nothing_is_cut_off_and_every_control_has_a_name(
    desk: Desk, qtbot: Any, size: tuple[int, int]
) -> None:
    problem = {"where": "mine.py:6", "what": "shapes " * 30, "do": "fix it", "details": "", "error": "E"}
    desk.check([{"stage": "eager", "line": 6, **problem}])
    desk.page.find_bar.setFocus()
    desk.view.outside = "changed"
    window = desk.stage.window
    window.resize(*size)
    qtbot.waitUntil(lambda: (window.width(), window.height()) == size, timeout=WAIT)
    for which in (CONVERTED, OPERATORS):
        desk.page.show_view(which)
        QTest.qWait(0)
        for area in window.findChildren(QScrollArea):
            assert not area.isVisible() or area.horizontalScrollBar().maximum() == 0, area.widget()
        for button in desk.page.findChildren(QPushButton):
            if button.isVisible():
                words = button.fontMetrics().horizontalAdvance(button.text())
                assert words <= button.width(), button.text()
        for kind in (QLineEdit, QComboBox, QAbstractButton, QAbstractScrollArea):
            for control in (*desk.page.findChildren(kind), *desk.panel.findChildren(kind)):
                inner = control.objectName().startswith("qt_") or isinstance(control.parent(), QLineEdit)
                quiet = inner or control.focusPolicy() == Qt.FocusPolicy.NoFocus or not control.isVisible()
                assert quiet or control.accessibleName() or getattr(control, "text", str)(), control


def test_the_file_is_watched_by_a_thread(desk: Desk, qtbot: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []

    def stamp(path: Path) -> tuple[int, ...]:
        threads.append(threading.current_thread().name)
        return stamp_of(path)

    monkeypatch.setattr(code_controller, "stamp_of", stamp)
    desk.stage.session.files.reading.begin()
    desk.stage.studio.code._watch.setInterval(50)
    for text in (TEXT + "# theirs\n", TEXT + "# theirs again\n"):
        desk.file.write_text(text)
        qtbot.waitUntil(lambda text=text: desk.editor.code() == text, timeout=WAIT)
    assert set(threads) == {"reading"}
    assert desk.stage.studio.code.findChildren(QFileSystemWatcher) == []
