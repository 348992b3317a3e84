"""The list of runs under real clicks and keys: what it shows, and what is done with runs from there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from engine.files.checkpoint import write_checkpoint
from studio.session.runs.run_notes import read_notes
from studio.windows.runs.comparison_dialog import ComparisonDialog
from studio.windows.runs.run_notes_dialog import RunNotesDialog
from tests.studio import answering_run
from tests.studio.windows.runs.run_folders import make_run

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def runs(stage: Any, tmp_path: Path) -> Path:
    """A finished run, one that was interrupted, and a finished linear one; none is selected."""
    folder = tmp_path / "runs"
    make_run(folder / "lenet-static-001", started=1.0)
    make_run(folder / "lenet-static-002", started=2.0, steps=8, ended="", learning_rate=0.01)
    make_run(folder / "linear-eager-001", started=3.0, model="linear", static=False)
    stage.session.refresh_runs()
    stage.window.activateWindow()
    return folder


@pytest.fixture
def click(stage: Any, runs: Path) -> Callable[..., None]:
    def click(name: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        shown = stage.window.project.runs
        QTest.mouseClick(shown.viewport(), LEFT, keys, shown.place_of(str(runs / name)).center())

    return click


def entry(stage: Any, runs: Path, name: str, title: str) -> None:
    """Choose an entry of a run's context menu."""
    menu = stage.studio.runs.doings.menu(str(runs / name))
    next(action for action in menu.actions() if action.text() == title).trigger()
    menu.deleteLater()


def test_an_interrupted_run_looks_interrupted_and_offers_to_resume(
    stage: Any, runs: Path, click: Callable[..., None]
) -> None:
    row = stage.window.project.runs.row(str(runs / "lenet-static-002"))
    assert row.mark == "warning"
    assert row.detail.startswith("interrupted at step")
    assert stage.window.project.runs.row(str(runs / "lenet-static-001")).mark == "check"
    strip = stage.window.project.strip
    click("lenet-static-001")
    assert not strip.button("resume_run").isVisible()
    click("lenet-static-002")
    assert strip.state().startswith("interrupted at step")
    assert strip.button("resume_run").text() == "Resume"
    QTest.mouseClick(strip.button("resume_run"), LEFT)
    assert (stage.worker.job.config["out"], stage.worker.job.resume) == (
        str(runs / "lenet-static-002"),
        True,
    )


def test_no_two_curves_are_called_the_same(stage: Any, runs: Path, click: Callable[..., None]) -> None:
    click("lenet-static-001")
    click("lenet-static-002", Qt.KeyboardModifier.ControlModifier)
    summary = stage.studio.train_page.loss.summary()
    assert "LeNet" in summary
    assert "LeNet, lr 0.01" in summary


def test_a_run_is_named_tagged_and_noted(
    stage: Any, runs: Path, click: Callable[..., None], qtbot: Any
) -> None:
    click("lenet-static-001")
    qtbot.waitUntil(stage.window.isActiveWindow)
    QTest.keyClick(stage.window, Qt.Key.Key_F2)
    dialog = stage.window.findChild(RunNotesDialog)
    QTest.keyClicks(dialog.name, "The first")
    dialog.tags.setText("x" * 60)
    save = dialog.buttons.button(QDialogButtonBox.StandardButton.Save)
    QTest.mouseClick(save, LEFT)
    assert "too long" in dialog.wrong.text()
    assert dialog.isVisible()
    dialog.tags.setText("baseline, wide")
    QTest.keyClicks(dialog.note, "for comparison")
    QTest.mouseClick(save, LEFT)
    shown = stage.window.project
    assert shown.runs.row(str(runs / "lenet-static-001")).title == "The first"
    assert shown.strip.note.value() == "baseline, wide \u2013 for comparison"
    assert shown.runs.chosen() == [str(runs / "lenet-static-001")]
    QTest.mouseClick(shown.strip.undo, LEFT)
    assert shown.runs.row(str(runs / "lenet-static-001")).title == "LeNet"
    assert read_notes(runs / "lenet-static-001")[0].name == ""


def test_filter_order_and_hidden_runs(stage: Any, runs: Path, click: Callable[..., None]) -> None:
    panel = stage.window.project
    click("lenet-static-001")
    stage.studio.actions.trigger("hide_run")
    names = [Path(key).name for key in panel.runs.keys()]  # noqa: SIM118  (a list is not a mapping)
    assert names == ["linear-eager-001", "lenet-static-002"]
    assert stage.session.selected_run == str(runs / "lenet-static-001"), "a hidden run can still be meant"
    assert stage.studio.train.shown() == str(runs / "lenet-static-001")
    panel.filter.hidden.trigger()
    assert panel.runs.row(str(runs / "lenet-static-001")).faint
    panel.filter.action("name").trigger()
    assert [row.title for row in panel.runs.rows()] == [
        "LeNet",
        "LeNet, lr 0.01",
        "Linear",
    ]
    QTest.keyClicks(panel.filter.box, "eager")
    assert [row.title for row in panel.runs.rows()] == ["Linear"]


def test_few_runs_that_are_all_shown_have_no_filter(stage: Any, runs: Path) -> None:
    panel = stage.window.project
    offered = {}
    for shown, there in ((0, 0), (3, 3), (2, 3), (4, 4), (1, 9)):
        panel.set_counts(shown, there)
        offered[shown, there] = not panel.filter.isHidden()
    assert offered == {(0, 0): False, (3, 3): False, (2, 3): True, (4, 4): True, (1, 9): True}
    panel.filter.box.setText("eager")
    panel.set_counts(3, 3)
    assert not panel.filter.isHidden(), "its text can be deleted"


def test_a_run_is_deleted_with_the_key_and_put_back(
    stage: Any, runs: Path, click: Callable[..., None], tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    stage.session.run_changes.to_trash = lambda path: path.rename(tmp_path / "files" / path.name)
    click("lenet-static-001")
    QTest.keyClick(stage.window.project.runs, Qt.Key.Key_Delete)
    assert not (runs / "lenet-static-001").exists()
    assert len(stage.window.project.runs.keys()) == 2
    QTest.mouseClick(stage.window.project.strip.undo, LEFT)
    assert (runs / "lenet-static-001" / "journal.jsonl").is_file()
    assert len(stage.window.project.runs.keys()) == 3
    stage.session.run_changes.to_trash = shutil.rmtree  # a trash that does not report where it has the run
    click("lenet-static-001")
    QTest.keyClick(stage.window.project.runs, Qt.Key.Key_Delete)
    assert stage.window.toast.text().startswith("lenet-static-001: in the system's trash. Undo can't restore")
    assert "Delete" not in stage.session.undo_stack.undoable


def test_a_run_is_duplicated_into_the_settings(stage: Any, runs: Path) -> None:
    entry(stage, runs, "lenet-static-002", "Duplicate run")
    assert stage.studio.settings_panel.form.value("learning_rate") == 0.01
    assert stage.studio.train_page.welcomes()
    stage.start()
    assert stage.worker.job.config["learning_rate"] == 0.01
    assert stage.worker.job.config["out"].endswith("lenet-static-003")


def test_two_runs_are_compared(stage: Any, runs: Path, click: Callable[..., None]) -> None:
    click("lenet-static-001")
    assert stage.studio.actions.trigger("compare_runs").startswith("Select two")
    for name, rate in (("lenet-static-001", 1), ("lenet-static-002", 2)):
        (runs / name / "source").mkdir()
        (runs / name / "source" / "net.py").write_text(f"rate = {rate}\n")
    click("lenet-static-002", Qt.KeyboardModifier.ControlModifier)
    QTest.mouseClick(stage.window.project.strip.button("compare_runs"), LEFT)
    dialog = stage.window.findChild(ComparisonDialog)
    table = dialog.table
    rows = {table.item(row, 0).text(): row for row in range(table.rowCount())}
    assert [table.item(rows["\u2260 Learning rate"], column).text() for column in (1, 2)] == ["0.01", "0.001"]
    assert dialog.source.left.code() == "net.py\nrate = 2"
    assert dialog.source.right.code() == "net.py\nrate = 1"
    QTest.mouseClick(dialog.after, LEFT)
    assert dialog._places.text() == "difference 1 of 1"
    QTest.mouseClick(dialog.copy_difference, LEFT)
    assert "-rate = 2\n+rate = 1" in QGuiApplication.clipboard().text()
    assert not table.isRowHidden(rows["Batch size"])
    dialog.only.click()
    assert table.isRowHidden(rows["Batch size"])
    assert not table.isRowHidden(rows["\u2260 Learning rate"])
    dialog.first.setCurrentIndex(1)
    assert not dialog.source.isVisible(), "the source of one run twice"
    dialog.close()


def test_a_finished_run_is_tried_on_predict_without_an_export(
    stage: Any, runs: Path, click: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(stage.session.predict_models, "load", lambda choice, quiet: asked.append(choice))
    click("lenet-static-001")
    QTest.mouseClick(stage.window.project.strip.button("try_run"), LEFT)
    assert stage.window.current_page() == "predict"
    assert [choice.path for choice in asked] == [str(runs / "lenet-static-001")]
    (runs / "linear-eager-001" / "checkpoints" / "step-00000010.h5").unlink()
    stage.session.refresh_runs()
    click("linear-eager-001")
    assert not stage.window.project.strip.button("try_run").isVisible()


def test_selecting_one_of_several_keeps_the_others_next_to_it(
    stage: Any, runs: Path, click: Callable[..., None]
) -> None:
    click("lenet-static-001")
    click("linear-eager-001", Qt.KeyboardModifier.ControlModifier)
    first, last = str(runs / "lenet-static-001"), str(runs / "linear-eager-001")
    assert stage.window.project.runs.chosen() == [last, first]
    stage.session.select_run(first)
    assert stage.window.project.runs.chosen() == [first, last]
    assert stage.studio.train.shown() == first
    assert stage.session.export.run_folder == first
    assert last in stage.studio.train_page.loss.series_keys()
    plot = stage.studio.train_page.loss
    assert plot.quiet() == [last, f"{last}/validation"]
    plot.curve_clicked.emit(f"{last}/validation")
    assert stage.session.selected_run == last
    assert stage.window.project.runs.chosen() == [last, first]
    assert plot.quiet() == [first, f"{first}/validation"], "the curve of the selected run stands out"


def test_rows_that_did_not_change_are_not_reported_anew(stage: Any, runs: Path) -> None:
    changed: list[int] = []
    resets: list[int] = []
    model = stage.window.project.runs.model()
    model.dataChanged.connect(lambda first, last: changed.append(first.row()))
    model.modelReset.connect(lambda: resets.append(1))
    stage.session.refresh_runs()
    stage.studio.runs.list.show_runs()
    assert (changed, resets) == ([], [])
    stage.session.run_changes.rename(str(runs / "lenet-static-001"), "one of three")
    assert (sorted(set(changed)), resets) == ([1, 2], []), "its neighbour needs no number any more"


def test_one_slow_reading_of_the_list_does_not_stop_the_next_ones(
    stage: Any, runs: Path, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking = stage.studio.runs.list._looking

    def interval_after(seconds: float) -> int:
        stage.session.listing_seconds = seconds
        looking.setInterval(1)
        qtbot.waitUntil(lambda: looking.interval() > 1)
        return int(looking.interval())

    monkeypatch.setattr(stage.session, "refresh_runs", lambda: None)
    assert interval_after(30.0) == 10_000  # the first one, while the machine is busy
    assert interval_after(0.2) == 4000
    assert interval_after(0.002) == 1000


def test_the_list_shows_runs_of_others_and_missing_folders_while_files_are_read_in_threads(
    stage: Any, runs: Path, qtbot: Any
) -> None:
    stage.session.files.begin()
    listed = stage.window.project.runs
    new, old = str(runs / "lenet-static-009"), runs / "lenet-static-001"
    make_run(Path(new), started=9.0)
    shutil.rmtree(old)
    qtbot.waitUntil(lambda: listed.row(new) is not None)
    assert listed.row(str(old)).detail.startswith("folder missing")


def test_a_run_that_trains_can_predict_from_its_first_checkpoint_on(stage: Any, qtbot: QtBot) -> None:
    session = stage.session
    stage.start()
    folder = session.train.folder
    answering_run.make_run(Path(folder), {}, 0)
    session.refresh_runs()
    qtbot.waitUntil(lambda: session.listed_run(folder) is not None, timeout=10_000)
    assert session.listed_run(folder).exportable == "this run has no checkpoint"
    path = write_checkpoint(Path(folder) / "checkpoints", 3, {"progress": {"step": 3}})
    stage.tell("checkpoint", path=str(path), step=3)
    qtbot.waitUntil(lambda: session.listed_run(folder).exportable == "", timeout=10_000)
    assert session.train.busy
