"""The page Export: names that files can't have, and what a check says."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLineEdit, QScrollArea
from pytestqt.qtbot import QtBot

from resources.settings.export import FOLDER
from resources.settings.model_inputs import ModelInputRow
from studio.controllers.export.export_controller import answers_text, compared_text
from studio.session.export.export_view import Verification, name_problem
from tests.studio.answering_run import make_run
from tests.studio.windows.conftest import Stage


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("digits", ""),
        ("lenet-1.2", ""),
        ("\u6570\u5b57", ""),
        ("a:b*", "can't have : *"),
        ('q?"<>|', "can't have ? \" < > |"),
        ("a/b", "can't have /"),
        ("a\tb", "the control character U+0009"),
        ("end.", "end with a space or a dot"),
        ("Con.digits", "Windows keeps the name Con"),
    ],
)
def test_names_that_files_can_not_have_anywhere(name: str, reason: str) -> None:
    assert reason in name_problem(name)
    assert bool(reason) == bool(name_problem(name))


def test_a_name_is_refused_under_its_field_and_export_says_why(
    stage: Stage, qtbot: QtBot, tmp_path: Path
) -> None:
    stage.session.export.choose_run(str(tmp_path))
    stage.studio.frame.show_page("export")
    form = stage.studio.export_page.form
    line: Any = form.control("name")
    assert isinstance(line, QLineEdit)
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(line, "my:model*")
    assert form.errors() == {"name": "A file name can't have : *"}
    assert stage.session.export.prefix == str(tmp_path / "inference" / "my")
    assert stage.studio.actions.trigger("export") == "A file name can't have : *"
    assert stage.session.export.state == "idle"
    qtbot.keyClick(line, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(line, "digits")
    assert form.errors() == {}
    assert stage.session.export.prefix == str(tmp_path / "inference" / "digits")


def test_each_of_several_inputs_has_a_row(stage: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    page, export = stage.studio.export_page, stage.session.export
    own = (ModelInputRow("image", (-1, 1, 8, 8)), ModelInputRow("word", (-1, 1), "int64"))
    export.change(input_name="picture")  # of an earlier run with one input
    export.choose_run(str(tmp_path), refused="This run has written nothing yet.")
    export.choose_run(str(tmp_path), (1, 8, 8), inputs=own)
    stage.studio.frame.show_page("export")
    assert [
        (name.text(), shape.text(), dtype.currentText()) for name, shape, dtype in page.input_rows.rows
    ] == [
        ("image", "None, 1, 8, 8", "float32"),
        ("word", "None, 1", "int64"),
    ]
    assert not page.input_form.control("input_name").isVisible()
    name, shape, dtype = page.input_rows.rows[1]
    qtbot.keyClick(name, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(name, "token")
    dtype.setFocus()
    qtbot.keyClick(dtype, Qt.Key.Key_Up)
    assert export.settings.inputs == "image: None,1,8,8 float32; token: None,1 int32"
    assert (export.run_settings().input_name, export.run_settings().inputs) == ("x", export.settings.inputs)
    qtbot.keyClicks(shape, ", many")
    assert "token: not a size" in stage.studio.actions.trigger("export")
    assert (shape.property("invalid"), name.property("invalid")) == (True, None)
    assert export.settings.inputs.endswith("token: None,1 int32")
    for _ in range(len(", many")):
        qtbot.keyClick(shape, Qt.Key.Key_Backspace)
    assert page.input_rows.problem() == ""
    export.choose(method="post_training")
    assert stage.studio.actions.trigger("export") == "Only models with one input are quantized here."
    export.choose(method="none")
    export.change(format=FOLDER)
    assert "export the model as ONNX" in stage.studio.actions.trigger("export")
    export.change(format="packed")
    export.choose_run(str(tmp_path / "other"), (1, 8, 8))
    assert page.input_form.control("input_name").isVisible()
    assert not page.input_rows.isVisible()
    assert (export.run_settings().input_name, export.run_settings().inputs) == ("picture", "")
    export.choose_run(str(tmp_path), (1, 8, 8), inputs=own)
    assert page.input_rows.rows[1][0].text() == "token"
    export.choose_run(str(tmp_path / "third"), (1, 8, 8), inputs=own[:1] * 2)
    assert export.settings.inputs == "", "of other data"


@pytest.mark.parametrize(
    ("difference", "images", "words"),
    [
        (0.0, "test", "256 test samples: the same scores to the last digit as before saving"),
        (
            2.4e-7,
            "test",
            "256 test samples: the scores differ by at most 2.4e\u22127 from those before saving",
        ),
        (0.0, "noise", "256 samples of noise, as the data is not available: the same scores"),
    ],
)
def test_a_check_says_what_was_compared(qapp: Any, difference: float, images: str, words: str) -> None:
    result = Verification(difference, 256, 1e-5, {}, 0.9, images)
    assert words in compared_text(result, QObject())


def test_files_that_answer_differently_are_not_said_to_answer_alike(qapp: Any) -> None:
    same, other = (Verification(difference, 256, 1e-5, {}, 0.9) for difference in (2e-6, 0.4))
    assert answers_text(same, QObject()).startswith("The files give the same answers as the trained model")
    assert answers_text(other, QObject()).startswith("The files give nearly the same answers")


def test_exported_files_are_listed_and_verified_again(stage: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    run = make_run(tmp_path / "runs" / "first", {10: 3}, best=10)
    folder = run / "inference"
    folder.mkdir()
    for suffix in ("pdmodel", "pdiparams", "pdiparams.info"):
        (folder / f"model.{suffix}").write_bytes(b"x" * 500)
    (folder / "half.pdmodel").write_bytes(b"x")
    stage.session.refresh_runs()
    stage.studio.frame.show_page("export")
    card = stage.studio.export_page.standing
    assert card.files.keys() == [str(folder / "model")]
    [row] = card.files.rows()
    assert row.title == "Linear \u00b7 model"
    assert row.value.startswith("1.50\u2009kB \u00b7 20")
    qtbot.mouseClick(card.verify_button, Qt.MouseButton.LeftButton)
    assert (stage.worker.job_name, stage.worker.job.folder) == ("verify", str(run))
    assert not card.verify_button.isEnabled()
    assert card.reason.text() == "Another task is running."
    stage.tell(
        "exported",
        prefix=str(folder / "model"),
        difference=0.0,
        samples=256,
        latency=1e-4,
        sizes={"model.pdmodel": 500},
        accuracy=0.5,
        pictures="test",
        operators=[],
        save_id="ab",
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    rows = dict(stage.studio.export_page.facts.rows())
    assert rows["Compared"] == "256 test samples: the same scores to the last digit as before saving"
    assert card.verify_button.isEnabled()


@pytest.mark.styled
def test_a_narrow_page_is_not_cut_off_sideways(stage: Stage, qtbot: QtBot) -> None:
    stage.studio.frame.show_page("export")
    stage.window.resize(1000, 650)
    page = stage.studio.export_page
    qtbot.waitUntil(lambda: stage.window.width() == 1000)
    holder = page.parentWidget().parentWidget().parentWidget()
    assert isinstance(holder, QScrollArea)
    qtbot.waitUntil(lambda: holder.horizontalScrollBar().maximum() == 0)


def test_one_file_is_the_default_and_the_formats_are_one_field(stage: Stage) -> None:
    page = stage.studio.export_page
    stage.studio.frame.show_page("export")
    form = page.form
    assert form.value("format") == "packed"
    assert form.control("compress").isVisibleTo(page)
    assert "NAME.h5" in form.control("name").toolTip()
    form.control("format").setCurrentIndex(0)
    assert stage.session.export.settings.format == "native"
    assert not form.control("compress").isVisibleTo(page)
    assert "NAME.pdiparams.info" in form.control("name").toolTip()
    assert not form.control("fixed").isVisibleTo(page)
    form.control("format").setCurrentIndex(4)
    assert stage.session.export.settings.format == FOLDER
    assert form.control("fixed").isVisibleTo(page)
    assert "NAME/predict.py" in form.control("name").toolTip()
    form.control("format").setCurrentIndex(2)
    stage.session.export.choose_run("/a/run")
    stage.session.export.choose(method="weights_only")
    assert "are written as one file or three files" in stage.session.export.why_not
    line: Any = page.about_form.control("license")
    line.setText("MIT")
    line.editingFinished.emit()
    assert stage.session.export.settings.license == "MIT"
    assert stage.studio.actions.trigger("undo") == ""
    assert (line.text(), stage.session.export.settings.license) == ("", "")
    assert stage.studio.actions.trigger("undo") == ""
    assert form.value("quantize") == "none"


def test_folder_and_name_of_the_files_are_undone_and_stored_in_the_project(
    stage: Stage, qtbot: QtBot, tmp_path: Path
) -> None:
    session, form = stage.session, stage.studio.export_page.form
    session.undo_stack._clock = count(step=2.0).__next__
    session.save_project(tmp_path / "own")
    run = str(make_run(session.runs_folder / "first", {10: 3}, best=10))
    session.refresh_runs()
    session.select_run(run)
    stage.studio.frame.show_page("export")
    name: Any = form.control("name")
    name.selectAll()
    qtbot.keyClick(name, Qt.Key.Key_D)
    assert session.project.export_prefix == str(Path(run) / "inference" / "d")
    folder: Any = form.control("folder")
    folder.selectAll()
    qtbot.keyClicks(folder, str(tmp_path / "own" / "exports"))
    qtbot.keyClick(folder, Qt.Key.Key_Return)
    assert session.project.export_prefix == str(tmp_path / "own" / "exports" / "d")
    assert session.undo_stack.undoable == "Change folder and name of the files"
    name.selectAll()
    qtbot.keyClicks(name, ":")
    assert form.errors() == {"name": "A file name can't have :"}

    undo = stage.studio.actions["undo"]
    while session.project.export_prefix:
        undo.trigger()
    assert (form.errors(), name.text(), folder.text()) == ({}, "model", str(Path(run) / "inference"))
    session.select_run(str(tmp_path / "another"))
    assert folder.text() == str(tmp_path / "another" / "inference"), "it follows the run again"
    redo = stage.studio.actions["redo"]
    while redo.isEnabled():
        redo.trigger()
    assert (name.text(), folder.text()) == ("d", str(tmp_path / "own" / "exports"))

    session.save_project()
    text = (tmp_path / "own" / "project.studio.json").read_text(encoding="utf-8")
    assert '"export_prefix": "./exports/d"' in text
    session.new_project()
    assert (session.project.export_prefix, session.export.chosen_prefix) == ("", "")
    session.open_project(tmp_path / "own")
    assert session.export.prefix == str(tmp_path / "own" / "exports" / "d")
    assert session.undo_stack.undoable == ""
