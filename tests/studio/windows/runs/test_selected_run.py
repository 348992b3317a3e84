"""One selected run for the list, the pages Train and Export, "Open run folder" and "Resume"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QPushButton

from tests.studio.windows.runs.run_folders import make_run


@pytest.fixture
def two(stage: Any, tmp_path: Path) -> tuple[str, str]:
    """An older run that was interrupted at step 8 and a newer one that has finished."""
    old = make_run(tmp_path / "runs" / "lenet-static-001", started=1.0, steps=8, ended="")
    new = make_run(
        tmp_path / "runs" / "linear-eager-001", started=2.0, speed=12345.6, model="linear", static=False
    )
    stage.session.refresh_runs()
    return str(old), str(new)


def click_run(stage: Any, folder: str) -> None:
    runs = stage.window.project.runs
    QTest.mouseClick(runs.viewport(), Qt.MouseButton.LeftButton, pos=runs.place_of(folder).center())


def test_a_click_in_the_list_means_the_run_on_every_page(
    stage: Any, two: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = two
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: not opened.append(QUrl(url).toLocalFile()))
    outcome: list[str] = []
    stage.session.selected_run_changed.connect(outcome.append)
    for folder in (old, new):
        click_run(stage, folder)
        assert stage.session.selected_run == folder
        assert stage.studio.train.shown() == folder
        assert stage.session.export.run_folder == folder
        assert stage.studio.actions.trigger("open_folder") == ""
    assert stage.window.right.windowTitle() == "Settings of the next run"
    speed = stage.studio.train_page.figures["throughput"]
    assert [label.text() for label in speed.findChildren(QLabel) if "img/s" in label.text()] == [
        "12\u2009300\u2009img/s"
    ]
    assert outcome == [old, new]
    assert opened == [old, new]


def test_a_run_selected_elsewhere_is_selected_in_the_list(stage: Any, two: tuple[str, str]) -> None:
    old, new = two
    stage.session.select_run(old)
    assert stage.window.project.runs.chosen() == [old]
    assert stage.studio.train.shown() == old
    stage.studio.actions.trigger("page_export")
    stage.studio.export_page.form.set_value("run", new)
    assert stage.session.selected_run == new
    assert stage.window.project.runs.chosen() == [new]
    stage.session.select_run("")
    assert stage.studio.train_page.welcomes()
    assert stage.studio.actions.trigger("open_folder") == "No run is selected."


def test_resume_means_the_selected_run(stage: Any, two: tuple[str, str]) -> None:
    old, new = two
    click_run(stage, new)
    assert "has finished" in stage.session.blocked("resume_run")
    assert not stage.studio.actions["resume_run"].isEnabled()
    click_run(stage, old)
    assert stage.studio.actions["resume_run"].isEnabled()
    assert stage.studio.actions.trigger("resume_run") == ""
    assert stage.worker.job.config["out"] == old
    assert stage.worker.job.resume is True


def test_a_run_that_failed_early_gives_its_reason_and_is_not_exported(stage: Any, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "net-001", steps=0, ended="", checkpoint=False)
    with (folder / "journal.jsonl").open("a") as journal:
        journal.write('{"event": "failed", "time": 2.0, "message": "data: /d.csv does not exist"}\n')
    stage.session.refresh_runs()
    click_run(stage, str(folder))
    stage.studio.actions.trigger("page_graph")
    stage.studio.selection.load()
    stage.tell("failed", message="the run's copy of its code does not exist", error="DataError", where="",
               what="", do="", file="", line=0, traceback="")  # fmt: skip
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    reason = "The run failed before its first step: data: /d.csv does not exist"
    shown = [label.text() for label in stage.window.findChildren(QLabel) if label.isVisible()]
    assert reason in shown
    assert not [text for text in shown if "copy of its code" in text]
    stage.studio.actions.trigger("page_export")
    [button] = [
        each
        for each in stage.studio.export_page.findChildren(QPushButton)
        if each.isVisible() and each.text() == "Export"
    ]
    assert not button.isEnabled()
    assert button.toolTip() == "this run has no checkpoint"
    stage.studio.actions.trigger("page_predict")
    stage.studio.selection.load()
    assert reason in [label.text() for label in stage.window.findChildren(QLabel) if label.isVisible()]


def test_a_start_selects_the_new_run(stage: Any, two: tuple[str, str]) -> None:
    click_run(stage, two[0])
    stage.start()
    assert stage.session.selected_run == stage.session.train.folder
    assert stage.window.project.runs.chosen() == [stage.session.train.folder]
    assert stage.studio.train.shown() == stage.session.train.folder


def test_a_run_that_is_gone_is_selected_no_longer(stage: Any, two: tuple[str, str], tmp_path: Path) -> None:
    old, _ = two
    stage.session.select_run(old)
    Path(old).rename(tmp_path / "elsewhere")
    stage.session.refresh_runs()
    assert stage.session.selected_run == ""
    shown = stage.window.project.runs
    assert shown.chosen() == []
    row = shown.row(old)
    assert row.detail.startswith("folder missing")
    assert "its folder has disappeared: put it back, or choose Remove from list" in row.tip
    (tmp_path / "elsewhere").rename(old)
    stage.session.refresh_runs()
    assert "missing" not in shown.row(old).detail
    Path(old).rename(tmp_path / "elsewhere")
    stage.session.refresh_runs()
    click_run(stage, old)
    assert "its folder has disappeared" in stage.session.blocked("resume_run")
    assert "its folder has disappeared" in stage.session.blocked("export")
    QTest.keyClick(shown, Qt.Key.Key_Delete)
    assert shown.row(old) is None
    stage.session.refresh_runs()
    assert shown.row(old) is None


def menu_of(stage: Any, folder: str) -> list[str]:
    """The entries of a run's menu that have to do with its removal."""
    menu = stage.studio.runs.doings.menu(folder)
    return [each.text() for each in menu.actions() if each.text() in ("Delete run", "Remove from list")]


def test_a_run_without_its_folder_is_removed_from_the_list_and_others_are_deleted(
    stage: Any, two: tuple[str, str], tmp_path: Path
) -> None:
    old, new = two
    trashed: list[Path] = []
    stage.session.run_changes.to_trash = lambda path: trashed.append(path)
    assert menu_of(stage, old) == ["Delete run"]
    button = stage.window.project.strip.button("remove_run")
    assert not button.isVisible()
    assert stage.session.blocked("remove_run") == "The folder of this run exists: delete the run."
    Path(old).rename(tmp_path / "elsewhere")
    stage.session.refresh_runs()
    assert menu_of(stage, old) == ["Remove from list"]
    assert menu_of(stage, new) == ["Delete run"]
    click_run(stage, old)
    assert stage.session.blocked("delete_run") == "This run has no folder: remove it from the list."
    files = sorted(tmp_path.rglob("*"))
    steps = stage.session.undo_stack.undoable
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert stage.window.project.runs.keys() == [new]
    assert (trashed, sorted(tmp_path.rglob("*"))) == ([], files)
    assert stage.session.undo_stack.undoable == steps
    assert not button.isVisible()
    (tmp_path / "elsewhere").rename(old)
    stage.session.refresh_runs()
    assert sorted(stage.window.project.runs.keys()) == sorted(two), "a folder that comes back is listed"


def test_a_finished_run_shows_how_fast_it_was(stage: Any, tmp_path: Path) -> None:
    folder = make_run(tmp_path / "runs" / "lenet-static-001", started=1.0)
    journal = folder / "journal.jsonl"
    lines = [
        line.replace('"accuracy": 0.5', '"accuracy": 0.5, "samples_per_second": 1234.0')
        for line in journal.read_text(encoding="utf-8").splitlines()
    ]
    journal.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stage.session.refresh_runs()
    click_run(stage, str(folder))
    assert stage.studio.train_page.figures["throughput"].text().startswith("1")
    assert stage.studio.train_page.figures["throughput"].text().endswith("img/s")


def test_of_several_runs_the_one_in_the_figures_is_named(stage: Any, two: tuple[str, str]) -> None:
    old, new = two
    page = stage.studio.train_page
    click_run(stage, new)
    assert page.subject() == ""
    runs = stage.window.project.runs
    place = runs.place_of(old).center()
    QTest.mouseClick(
        runs.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ControlModifier, pos=place
    )
    first = stage.session.run_title(stage.studio.train.shown())
    assert page.subject() == f"Figures, layers and mistakes are those of {first}, the first of 2 runs."
    click_run(stage, old)
    assert page.subject() == ""


def test_the_curves_of_a_run_that_is_not_readable_say_so(stage: Any, two: tuple[str, str]) -> None:
    click_run(stage, two[1])
    plot = stage.studio.train_page.curves.plots["loss"]
    journal = Path(two[0], "journal.jsonl")
    journal.unlink()
    journal.symlink_to(journal)  # which the system refuses to follow
    stage.session.refresh_runs()
    assert stage.window.project.runs.row(two[0]).detail.startswith("not readable")
    click_run(stage, two[0])
    assert plot._placeholder.text() == "The journal of this run can't be read"
    assert "can't be read" in stage.session.blocked("export")
    click_run(stage, two[1])
    assert plot._placeholder.text() == "The first points appear within a second"
