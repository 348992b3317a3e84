"""Plan on the page Code with real keys and clicks, over workers that say what the test says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QPushButton, QScrollArea

from engine.jit.saved.structure import compare_structure
from resources.local_code import read_code
from studio.session.export.compared_programs import ComparedPrograms
from studio.session.export.program_pair import pair_of
from studio.windows.code.code_page import CONVERTED, MEASURED, OPERATORS, PLANNED
from studio.windows.export.compared_programs_dialog import ComparedProgramsDialog
from tests.studio.windows.code.test_code_page import TEXT, found
from tests.studio.windows.code.test_measurement import measured
from widgets import theme

LEFT = Qt.MouseButton.LeftButton
WAIT = 20_000


def row(text: str, lines: list[int], **more: Any) -> dict[str, Any]:
    name = text.partition(" = ")[2].partition("(")[0]
    return {
        "name": name,
        "text": text,
        "depth": 0,
        "parts": [name],
        "lines": lines,
        "how": "kernel",
        "reuses": False,
        "bytes": 3_050_000,
        "kernel": "numpy",
        "why": "none",
        **more,
    }


def planned(many: int = 1) -> dict[str, Any]:
    built = [("", "a = conv2d(x, w)", 0, [6]), ("", "b = relu(a)", 0, [7])] * many
    fused = [
        ("-", "a = conv2d(x, w)", 0, [6]),
        ("-", "b = relu(a)", 0, [7]),
        ("+", "b = conv2d_fusion(x, w)", 0, [6, 7]),
    ] * many
    step = {"gone": [], "made": [], "moved": 0, "changed": 0}
    rows = [
        row("b = conv2d_fusion(x, w)", [6, 7], parts=["conv2d", "relu"], kernel="fast", why=""),
        row("c = flatten(b)", [7], how="view", bytes=0),
        row("d = matmul_v2(c, w)", [7], why="product", reuses=True),
        row("e = fill_constant(None)", [], how="constant", kernel="", why="", bytes=4),
    ]
    return {
        "batch_size": 64,
        "threads": 2,
        "static": True,
        "passes": [
            {"name": "as built", "operators": 2 * many, "lines": built, **step},
            {
                "name": "fuse_convolutions",
                "operators": many,
                "lines": fused,
                **step,
                "gone": [["conv2d", 1], ["relu", 1]],
                "made": [["conv2d_fusion", 1]],
            },
        ],
        "parts": [
            {
                "title": "forward and backward",
                "peak": 4_000_000,
                "during": "matmul_v2",
                "given": 1_000_000,
                "unknown": 0,
                "rows": rows * many,
                "owners": [("conv2d_fusion", 6, 3_000_000), ("matmul_v2", 7, 1_000_000)],
            }
        ],
        "updates": [{"name": "adam_flat", "parameters": 2, "numbers": 7850, "kernel": "fast", "why": ""}],
        "alone": 1,
    }


class Desk:
    """The page with a file of an own model, whose dry run went well."""

    def __init__(self, stage: Any, file: Path) -> None:
        self.stage, self.file = stage, file
        self.page, self.shown = stage.studio.code_page, stage.studio.code_page.planned

    def jobs(self, kind: str = "plan_code") -> list[Any]:
        return [w for w in self.stage.workers if w.job_name == kind]

    def tell(self, kind: str, event: str, **values: Any) -> None:
        worker = self.jobs(kind)[-1]
        worker.tell(event, **values)
        worker.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
        self.stage.session.pump()

    def check(self, problems: Any = ()) -> None:
        self.tell("check_code", "code_checked", **found(self.file, problems))

    def cells(self, place: int) -> list[str]:
        item = self.shown.tree.topLevelItem(place)
        return [item.text(at) for at in range(self.shown.tree.columnCount())]

    def choose(self, qtbot: Any, key: Qt.Key) -> None:
        self.page.stages.setFocus()
        qtbot.keyClick(self.page.stages, key)


@pytest.fixture
def desk(stage: Any, tmp_path: Path, qtbot: Any) -> Desk:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    stage.session.agree(read_code(file))
    stage.studio.actions.trigger("page_code")
    stage.studio.code.open_file(str(file))
    made = Desk(stage, file)
    made.check()
    qtbot.mouseClick(made.page.tabs[PLANNED], LEFT)
    return made


def test_the_plan_is_made_when_its_view_becomes_visible(desk: Desk, qtbot: Any) -> None:
    (worker,) = desk.jobs()
    assert (worker.job.text, worker.job.class_name) == (TEXT, "Net")
    assert desk.shown.about.text().startswith("Training two steps")
    (again,) = desk.shown.buttons
    assert not again.isVisible()
    desk.tell("plan_code", "code_planned", **planned())
    assert desk.page.stages.currentText() == "Execution: forward and backward"
    assert desk.cells(0) == ["conv2d_fusion(x, w) \u2192 b", "compiled", "3.05", "6, 7"]
    assert desk.cells(1)[1:3] == ["view", ""]
    assert desk.cells(2)[1] == "NumPy, in place: BLAS computes products"
    assert desk.cells(3)[1] == "once"
    assert desk.cells(4)[:2] == ["adam_flat: 2 parameters side by side, 7\u2009850 numbers", "compiled"]
    assert desk.cells(5)[0] == "Parameters that are updated one by one: 1"
    assert desk.shown.about.text().startswith("4 operators; 1 of 2 kernels are compiled; 1 are fused")
    qtbot.mouseClick(again, LEFT)
    assert len(desk.jobs()) == 2


def test_facts_common_to_all_operators_appear_once(desk: Desk) -> None:
    outcome = planned()
    for each in outcome["parts"][0]["rows"]:
        each.update(kernel="numpy", why="absent")
    desk.tell("plan_code", "code_planned", **outcome)
    assert "0 of 2 kernels are compiled" in desk.shown.about.text()
    assert "llvmlite is not installed: pip install llvmlite" in desk.shown.about.text()
    assert [desk.cells(n)[1] for n in range(3)] == ["NumPy", "view", "NumPy, in place"]


def test_passes_and_memory_are_chosen_with_keys(desk: Desk, qtbot: Any) -> None:
    desk.tell("plan_code", "code_planned", **planned())
    desk.choose(qtbot, Qt.Key.Key_Up)
    assert desk.page.stages.currentText() == "fuse_convolutions: 2 became 1"
    assert desk.shown.about.text() == "conv2d, relu became conv2d_fusion."
    assert [desk.cells(n)[0][0] for n in range(3)] == ["\u2212", "\u2212", "+"]
    for which in ("dark", "light"):
        desk.stage.studio.frame.use_theme(which)
        colors = [desk.shown.tree.topLevelItem(n).foreground(0).color() for n in (0, 2)]
        assert colors == [QColor(theme.current().bad), QColor(theme.current().ok)]
    desk.choose(qtbot, Qt.Key.Key_Up)
    assert desk.page.stages.currentText() == "As built: 2 operators"
    assert desk.cells(1) == ["relu(a) \u2192 b", "7"]
    desk.choose(qtbot, Qt.Key.Key_End)
    assert desk.page.stages.currentText() == "Memory: forward and backward, 4.00 MB"
    assert desk.cells(0) == ["conv2d_fusion", "3.00", "75.00\u2009%", "6"]
    assert "in matmul_v2" in desk.shown.about.text()


def test_lines_operators_rows_of_the_plan_and_of_time_light_each_other(desk: Desk, qtbot: Any) -> None:
    desk.tell("plan_code", "code_planned", **planned())
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("measure_code", "code_measured", **measured(desk.file))
    qtbot.mouseClick(desk.page.tabs[PLANNED], LEFT)
    tree = desk.shown.tree
    qtbot.mouseClick(tree.viewport(), LEFT, pos=tree.visualItemRect(tree.topLevelItem(0)).center())
    assert desk.page.editor.lit_lines() == (6, 7)
    assert desk.page.editor.caret_line() == 6
    assert [name.partition("(")[0] for name in desk.shown.lit_rows()] == ["conv2d_fusion"]
    assert desk.page.measured.lit_rows() == ["conv2d", "line 6"]
    desk.page.editor.show_line(7)
    assert [name.partition("(")[0] for name in desk.shown.lit_rows()] == [
        "conv2d_fusion",
        "flatten",
        "matmul_v2",
    ]
    qtbot.mouseClick(desk.page.tabs[OPERATORS], LEFT)
    assert desk.page.tree.lit_operators() == [(0, 1)]
    desk.page.tree.operator_selected.emit((0, 0))
    assert [name.partition("(")[0] for name in desk.shown.lit_rows()] == ["conv2d_fusion"]


def test_another_text_is_planned_after_its_dry_run(desk: Desk) -> None:
    desk.tell("plan_code", "code_planned", **planned())
    QTest.keyClicks(desk.page.editor, "#")
    desk.stage.studio.code.flush()
    assert desk.shown.about.text().startswith("The text has changed since.")
    assert desk.shown.lit_rows() == []
    assert len(desk.jobs()) == 1
    desk.check()
    assert len(desk.jobs()) == 2
    QTest.keyClicks(desk.page.editor, "#")
    desk.stage.studio.code.flush()
    desk.check([{"stage": "eager", "line": 6, "where": "", "what": "no", "do": "", "details": ""}])
    assert len(desk.jobs()) == 2
    desk.tell("plan_code", "plan_failed", what="the shapes differ", do="use 4", line=6)
    assert desk.shown.problem.value() == "line 6: the shapes differ; use 4"
    desk.page.editor.undo()
    desk.stage.studio.code.flush()
    desk.check()
    assert [worker.job.text for worker in desk.jobs()] == [TEXT, "#" + TEXT, TEXT]


def test_a_text_that_is_edited_while_it_is_planned_is_planned_anew(desk: Desk) -> None:
    QTest.keyClicks(desk.page.editor, "#")
    desk.stage.studio.code.flush()
    first = desk.jobs()[0]
    desk.check()
    assert first.killed
    desk.stage.session.pump()
    assert [job.job.text.startswith("#") for job in desk.jobs()] == [False, True]


def test_nothing_is_planned_while_hidden_or_if_the_dry_run_fails(desk: Desk, qtbot: Any) -> None:
    desk.tell("plan_code", "code_planned", **planned())
    qtbot.mouseClick(desk.page.tabs[CONVERTED], LEFT)
    assert not desk.page.stages.isVisible()
    QTest.keyClicks(desk.page.editor, "#")
    desk.stage.studio.code.flush()
    desk.check()
    assert len(desk.jobs()) == 1
    qtbot.mouseClick(desk.page.tabs[MEASURED], LEFT)
    assert len(desk.jobs()) == 1
    qtbot.mouseClick(desk.page.tabs[PLANNED], LEFT)
    assert len(desk.jobs()) == 2


@pytest.mark.styled
@pytest.mark.parametrize("size", [(1280, 800), (1000, 650)])
def test_nothing_is_cut_off(desk: Desk, qtbot: Any, size: tuple[int, int]) -> None:
    desk.tell("plan_code", "code_planned", **planned(many=300) | {"static": False})
    window = desk.stage.window
    window.resize(*size)
    qtbot.waitUntil(lambda: (window.width(), window.height()) == size, timeout=WAIT)
    for place in range(desk.page.stages.count()):
        desk.page.stages.setCurrentIndex(place)
        desk.page.stages.activated.emit(place)
        QTest.qWait(0)
        for area in window.findChildren(QScrollArea):
            assert not area.isVisible() or area.horizontalScrollBar().maximum() == 0, area.widget()
        for button in desk.page.findChildren(QPushButton):
            if button.isVisible():
                words = button.fontMetrics().horizontalAdvance(button.text())
                assert words <= button.width(), button.text()
        assert desk.shown.tree.height() > 60
    for chooser in desk.page.findChildren(QComboBox):
        assert chooser.accessibleName()
    assert desk.shown.tree.accessibleName()


def test_a_pass_is_shown_side_by_side_and_leads_to_its_help(desk: Desk, qtbot: Any) -> None:
    op = {"inputs": {"X": ["x"]}, "outputs": {"Out": ["y"]}, "attrs": {}, "regions": [], "layer": "act"}
    variables = [
        {"name": name, "shape": [2], "dtype": "float32", "persistable": False, "stop_gradient": True,
         "parameter": False, "data": name == "x"}
        for name in "xy"
    ]  # fmt: skip
    before, after = (
        {
            "version": 2,
            "inputs": ["x"],
            "outputs": ["y"],
            "blocks": [{"idx": 0, "parent": -1, "vars": variables, "ops": [{**op, "type": kind}]}],
        }
        for kind in ("relu", "tanh")
    )
    compared = ComparedPrograms("fuse_convolutions", before, after, compare_structure(before, after))
    desk.tell("plan_code", "code_planned", **{**planned(), "pairs": [None, pair_of(compared)]})
    assert not desk.shown.pair.isVisible(), "a plan"
    desk.choose(qtbot, Qt.Key.Key_Up)
    assert desk.shown.pair.isVisible()
    qtbot.mouseClick(desk.shown.pair, LEFT)
    dialog = desk.page.findChild(ComparedProgramsDialog)
    left, right = dialog.programs.diagrams
    qtbot.waitUntil(lambda: right.scene().ids.size > 0, timeout=WAIT)
    assert [list(each.scene().titles)[1] for each in (left, right)] == ["act · relu", "act · tanh"]
    assert dialog.windowTitle() == "fuse_convolutions: before and after"
    dialog.close()
    qtbot.mouseClick(desk.shown.about_pass, LEFT)
    assert desk.stage.studio.help.shown.page.textCursor().block().text() == "fuse_convolutions"
    desk.choose(qtbot, Qt.Key.Key_Up)
    assert not desk.shown.about_pass.isVisible(), "nothing was passed over yet"
    desk.stage.studio.help.shown.close()
