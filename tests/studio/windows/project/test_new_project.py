"""Nothing of one project stays on the screen after another one is opened, read from the widgets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from studio.session.problem_view import problem_from_message
from tests.studio.windows.runs.run_folders import make_run

EMPTY = {"blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": [], "forward_block_idx": -1}]}


def texts(widget: Any) -> str:
    return "\n".join(label.text() for label in widget.findChildren(QLabel) if label.isVisible())


def train(stage: Any) -> None:
    """A training that has finished, with its Program, a problem and a filter."""
    assert stage.studio.graph_page.is_empty()  # builds the page
    for number in (2, 3, 4, 5):
        make_run(stage.session.runs_folder / f"lenet-static-{number:03}", started=float(number))
    stage.studio.settings_panel.form.set_value("epochs", 9)
    stage.start()
    stage.tell(
        "program", model="lenet", program=EMPTY, text="a Program", source="x", source_file="lenet.py",
        source_line=1, converted="y",
    )  # fmt: skip
    stage.steps(1, 2.0, 1.0)
    make_run(Path(stage.session.train.folder), started=9.0)
    stage.tell("finished", step=10, epoch=2, seconds=1.0, best_accuracy=0.5, best_step=5, reason="")
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    for number in range(3):
        stage.session.problem.emit(problem_from_message(f"{number}: wrong", "Something failed"))
    QTest.keyClicks(stage.window.project.filter.box, "lenet")
    stage.session.run_list.sort_by("name")


def test_a_new_project_shows_nothing_of_the_one_before(stage: Any) -> None:
    train(stage)
    window, page = stage.window, stage.studio.train_page
    stage.studio.frame.show_page("predict")
    pad = stage.studio.predict_page.editors[0].pad
    QTest.mouseClick(pad, Qt.MouseButton.LeftButton)
    assert not pad.is_empty()
    assert stage.session.predict.complete
    stage.studio.frame.show_page("train")
    assert "Finished" in stage.studio.train._chip.text()
    assert stage.studio.actions.trigger("new_project") == ""
    assert stage.studio.settings_panel.form.value("epochs") != 9
    assert window.project.runs.keys() == []
    assert page.welcomes()
    assert page.loss.series_keys() == []
    assert not stage.studio.train._chip.isVisible()
    assert "Finished" not in window.status.field("state")
    assert window.output.problems.problems() == []
    assert window.status.problems.icon().isNull(), "no warning next to 'No problems'"
    assert window.project.filter.box.text() == ""
    assert stage.session.run_list.sort == "date"
    assert not window.project.tree.isVisible()
    assert window.project.program_name.text() == ""
    stage.studio.frame.show_page("graph")
    assert stage.studio.graph_page.is_empty()
    assert stage.studio.graph_page.text.toPlainText() == ""
    stage.studio.frame.show_page("export")
    assert "lenet" not in texts(stage.studio.export_page)
    stage.studio.frame.show_page("predict")
    assert stage.studio.predict_page.editors[0].pad.is_empty()
    assert not stage.session.predict.complete
    assert "lenet-static" not in texts(stage.studio.model_panel)


def test_measurements_of_one_project_are_not_shown_in_another(stage: Any, tmp_path: Path) -> None:
    stage.session.save_project(tmp_path / "other")
    stage.session.new_project()
    train(stage)
    session = stage.session
    session.execute("export")
    session.quantization.view.prefix, session.quantization.view.message = "p", "No report here."
    session.rate_finder.view.begin("LeNet")
    session.rate_finder.view.state = "done"
    session.model_check.state = "done"
    stage.studio.opening.open_project(str(tmp_path / "other" / "project.studio.json"))
    assert session.quantization.view.prefix == ""
    assert session.rate_finder.view.state == "idle"
    assert session.model_check.state == "idle"
    assert session.mistakes.view.folder == ""
    assert session.export.run_folder == ""


def test_a_new_project_edits_no_file_of_the_one_before(stage: Any, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("from engine import nn\n\n\nclass Mine(nn.Layer):\n    pass\n")
    stage.studio.frame.show_page("code")
    stage.studio.code.open_file(str(file))
    page = stage.studio.code_page
    assert "Mine" in page.editor.code()
    assert stage.studio.actions.trigger("new_project") == ""
    stage.studio.frame.show_page("code")
    assert (page.editor.code(), stage.session.model_editor.view.state) == ("", "empty")
    assert "mine" not in texts(page)
    assert not page.banner.isVisible()
