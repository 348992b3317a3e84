"""Measured on the page Code with real keys and clicks, over workers that say what the test says."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from resources import compiling
from resources.local_code import read_code
from studio.session.code import model_editor
from studio.session.code.edited_file import code_of_text
from studio.windows.agreement_dialog import AgreementDialog
from studio.windows.code.code_page import MEASURED
from studio.windows.code.measurement_table import CALLS

TEXT = """from engine import nn


class Net(nn.Layer):
    def forward(self, x):
        x = self.conv(x)
        return self.linear(x)
"""
LEFT = Qt.MouseButton.LeftButton


def row(name: str, line: int, seconds: float, share: float, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "line": line,
        "calls": 2.0,
        "seconds": seconds,
        "share": share,
        "bytes": 3.05e6,
        "gflops": None,
        **more,
    }


def measured(file: Path) -> dict[str, Any]:
    at6, at7 = row(f"{file}:6", 6, 0.0017, 0.4), row(f"{file}:7", 7, 0.0001, 0.025)
    rest = row("(loss, optimizer)", 0, 0.0001, 0.025)
    return {
        "operators": [
            row("conv2d", 0, 0.0017, 0.4, gflops=48.2, parts=[at6]),
            row("matmul_v2", 0, 0.0002, 0.05, parts=[at7, rest]),
        ],
        "lines": [at6, at7],
        "steps": 10,
        "seconds": 0.00425,
        "unrecorded": 0.004,
        "between": 0.55,
        "static": True,
        "batch_size": 64,
        "threads": 2,
        "compiled": ["conv2d"],
        "input_text": "",
    }


class Desk:
    """The page with a file of an own model, which was agreed to."""

    def __init__(self, stage: Any, file: Path) -> None:
        self.stage, self.file = stage, file
        self.page, self.shown = stage.studio.code_page, stage.studio.code_page.measured
        self.view = stage.session.model_editor.trials.measuring.view

    @property
    def worker(self) -> Any:
        return next(w for w in reversed(self.stage.workers) if w.job_name == "measure_code")

    def tell(self, event: str, **values: Any) -> None:
        self.worker.tell(event, **values)
        self.worker.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
        self.stage.session.pump()

    def cells(self, *path: int) -> list[str]:
        item = self.shown.tree.topLevelItem(path[0])
        item = item.child(path[1]) if len(path) > 1 else item
        return [item.text(place) for place in range(CALLS + 1)]


@pytest.fixture
def desk(stage: Any, tmp_path: Path, qtbot: Any) -> Desk:
    file = tmp_path / "mine.py"
    file.write_text(TEXT)
    stage.session.agree(read_code(file))
    stage.studio.actions.trigger("page_code")
    stage.studio.code.open_file(str(file))
    made = Desk(stage, file)
    qtbot.mouseClick(made.page.tabs[MEASURED], LEFT)
    return made


def test_a_measurement_is_a_tree_and_stands_at_its_lines(desk: Desk, qtbot: Any) -> None:
    start, stop = desk.shown.buttons
    assert (start.isVisible(), stop.isVisible()) == (True, False)
    qtbot.mouseClick(start, LEFT)
    assert (start.isVisible(), stop.isVisible()) == (False, True)
    job = desk.worker.job
    assert (job.text, job.class_name) == (TEXT, "Net")
    assert job.config["batch_size"] == desk.stage.session.train.settings.batch_size
    desk.tell("code_measured", **measured(desk.file))
    assert start.isVisible()
    assert desk.cells(0) == ["conv2d", "1.70", "40.00\u2009%", "3.05", "48.2", "2"]
    assert desk.cells(0, 0)[:2] == ["line 6", "1.70"]
    assert desk.cells(1, 1)[0] == "(loss, optimizer)"
    assert desk.cells(2)[:3] == ["(between the kernels)", "2.34", "55.00\u2009%"]
    assert "compiled kernels: 1, 2 threads" in desk.shown.about.text()
    assert desk.page.editor.note(6) == "1.70 ms 40.00\u2009%"


def test_a_measurement_is_shown_by_call_of_a_layer_too(desk: Desk) -> None:
    inner = row("act", 6, 0.0005, 0.1, fused=0, parts=[])
    network = row("", 0, 0.0017, 0.4, fused=3, parts=[inner])
    layers = [network, row("(loss)", 0, 0.0001, 0.025, fused=0, parts=[])]
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("code_measured", **measured(desk.file) | {"layers": layers})
    desk.shown.kinds.setCurrentIndex(1)
    desk.shown.kinds.activated.emit(1)
    assert desk.cells(0)[:2] == ["network (fused: 3 operators)", "1.70"]
    assert desk.cells(0, 0)[:2] == ["act", "0.500"]
    assert desk.cells(1)[0] == "(loss)"
    assert desk.cells(2)[0] == "(between the kernels)"


def test_where_llvmlite_is_missing_it_is_reported(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "missing", lambda: "no llvmlite; run: pip install llvmlite")
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("code_measured", **measured(desk.file) | {"compiled": []})
    assert "NumPy's kernels (no llvmlite; run: pip install llvmlite)" in desk.shown.about.text()


def test_rows_and_lines_lead_to_each_other(desk: Desk, qtbot: Any) -> None:
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("code_measured", **measured(desk.file))
    desk.page.editor.show_line(7)
    assert desk.shown.lit_rows() == ["matmul_v2", "line 7"]
    tree = desk.shown.tree
    place = tree.visualItemRect(tree.topLevelItem(0)).center()
    qtbot.mouseClick(tree.viewport(), LEFT, pos=place)
    assert desk.page.editor.caret_line() == 6
    assert desk.page.editor.lit_lines() == (6,)
    assert desk.shown.lit_rows() == ["conv2d", "line 6"]


def test_figures_of_another_text_are_reported_and_leave_the_lines(desk: Desk) -> None:
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("code_measured", **measured(desk.file))
    QTest.keyClicks(desk.page.editor, "#")
    desk.stage.studio.code.flush()
    assert "The text has changed: measure again." in desk.shown.about.text()
    assert desk.page.editor.note(6) == ""
    desk.page.editor.undo()
    desk.stage.studio.code.flush()
    assert desk.page.editor.note(6) == "1.70 ms 40.00\u2009%"


def test_errors_show_one_line_and_stop_ends_the_process(desk: Desk, qtbot: Any) -> None:
    desk.stage.studio.actions.trigger("measure_model")
    desk.tell("measure_failed", what="the shapes differ", do="use 4", line=6)
    assert desk.shown.problem.value() == "line 6: the shapes differ; use 4"
    start, stop = desk.shown.buttons
    qtbot.mouseClick(start, LEFT)
    assert not desk.shown.problem.isVisible()
    worker = desk.worker
    qtbot.mouseClick(stop, LEFT)
    desk.stage.session.pump()
    assert worker.killed
    assert (desk.view.running, desk.view.problem) == (False, "")
    assert desk.stage.studio.actions.trigger("stop_measuring") == "Nothing is being measured."


def test_files_are_read_in_a_thread_before_they_are_tried(
    desk: Desk, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []

    def read(*arguments: Any) -> Any:
        threads.append(threading.get_ident())
        return code_of_text(*arguments)

    monkeypatch.setattr(model_editor, "code_of_text", read)
    stage = desk.stage
    stage.session.files.begin()
    for name in ("measure_model", "plan_model"):
        stage.studio.actions.trigger(name)
        job = name.replace("model", "code")
        qtbot.waitUntil(lambda job=job: any(each.job_name == job for each in stage.workers))
    desk.file.with_name("theirs.py").write_text(TEXT)
    desk.file.write_text(f"import theirs\n{TEXT}")
    qtbot.waitUntil(lambda: stage.session.model_editor.view.state == "refused")
    stage.studio.code_page.banner.answered.emit("agree")
    qtbot.waitUntil(lambda: bool(stage.window.findChildren(AgreementDialog)))
    assert len(threads) >= 4
    assert threading.get_ident() not in threads


def test_a_file_without_an_agreement_is_not_measured(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(TEXT + "# theirs\n")
    desk.stage.studio.code.open_file(str(other))
    refused: list[str] = []
    desk.stage.studio.actions.refused.connect(refused.append)
    desk.stage.studio.actions.trigger("measure_model")
    assert refused == ["Agree first that this file is run."]
    assert not any(each.job_name == "measure_code" for each in desk.stage.workers)


def test_the_shape_in_the_input_field_is_measured(desk: Desk, qtbot: Any) -> None:
    desk.page.inputs.setFocus()
    qtbot.keyClicks(desk.page.inputs, "N, 3, 32, 32")
    qtbot.keyClick(desk.page.inputs, Qt.Key.Key_Return)
    qtbot.mouseClick(desk.shown.buttons[0], LEFT)
    assert desk.worker.job.input_text == "N, 3, 32, 32"
    desk.tell("code_measured", **measured(desk.file) | {"input_text": "N, 3, 32, 32"})
    assert "random numbers of the shape in Input: N, 3, 32, 32" in desk.shown.about.text()
    assert desk.page.editor.note(6) == "1.70 ms 40.00\u2009%"
    desk.page.inputs.setFocus()
    qtbot.keyClicks(desk.page.inputs, "; N, none")
    qtbot.keyClick(desk.page.inputs, Qt.Key.Key_Return)
    assert desk.view.stale
    qtbot.keyClicks(desk.page.inputs, " float31")
    qtbot.keyClick(desk.page.inputs, Qt.Key.Key_Return)
    assert desk.stage.studio.actions.trigger("measure_model").startswith("Input: N, none float31: no such")
