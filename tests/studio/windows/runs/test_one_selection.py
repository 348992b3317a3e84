"""Every panel shows the selected run, read from the texts of the widgets after real clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from studio.windows.agreement_dialog import AgreementDialog
from tests.studio.windows.runs.run_folders import make_run
from tests.studio.windows.runs.test_selected_run import click_run
from tests.studio.windows.train.test_mistakes import end_epoch

ANIMALS = ("ant", "bee", "cat")
MISTAKES = {
    "confusion": [[3, 1, 0], [0, 4, 0], [0, 0, 4]],
    "hardest": [{"index": 1, "label": 0, "predicted": 1, "probability": 0.1}],
}


@pytest.fixture
def animals(stage: Any, tmp_path: Path) -> str:
    """A finished run whose classes are animals, in the list."""
    run = make_run(
        tmp_path / "runs" / "linear-static-001", model="linear", classes=ANIMALS, epoch=MISTAKES, started=1.0
    )
    stage.session.refresh_runs()
    return str(run)


def hardest(stage: Any) -> list[tuple[str, str]]:
    return [(sample.label, sample.predicted) for sample in stage.studio.train_page.hardest._samples]


def test_hardest_samples_have_the_class_names_of_their_run_while_another_one_trains(
    stage: Any, animals: str, qtbot: Any
) -> None:
    stage.start()
    click_run(stage, animals)
    qtbot.waitUntil(lambda: hardest(stage) != [])
    assert hardest(stage) == [("ant", "bee")]
    end_epoch(stage, 1)
    stage.session.mistakes.view.hardest_changed.emit()
    assert hardest(stage) == [("ant", "bee")]


def test_the_line_below_the_list_follows_the_training(stage: Any) -> None:
    stage.start()
    (stage.session.runs_folder / "x").mkdir(parents=True)
    make_run(Path(stage.session.train.folder), ended="", checkpoint=False, steps=3)
    stage.session.refresh_runs()
    strip = stage.window.project.strip
    assert strip.state() == "Training · Digits (built in)"
    stage.session.pause()
    assert strip.state() == "Pausing… · Digits (built in)"
    stage.tell("paused", step=3)
    stage.session.resume()
    stage.tell("preparing", message="Reading the data")
    assert strip.state() == "Reading the data · Digits (built in)"


def test_a_run_that_the_queue_starts_does_not_become_the_selected_one(stage: Any, animals: str) -> None:
    stage.start()
    assert stage.studio.actions.trigger("add_to_queue") == ""
    first = stage.session.train.folder
    make_run(Path(first), started=2.0)
    click_run(stage, animals)
    training = stage.workers[0]
    training.tell("finished", step=10, epoch=2, seconds=1.0, best_accuracy=0.5, best_step=5, reason="")
    training.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    stage.session.pump()
    assert stage.session.train.folder != first, "the next one has begun"
    assert stage.session.selected_run == animals
    assert stage.window.project.runs.chosen() == [animals]


def combo(stage: Any) -> QComboBox:
    found = stage.studio.export_page.form.control("run")
    assert isinstance(found, QComboBox)
    return found


def test_export_means_the_selected_run_or_says_why_it_can_not(
    stage: Any, animals: str, tmp_path: Path
) -> None:
    begun = make_run(tmp_path / "runs" / "lenet-static-002", started=2.0, checkpoint=False, steps=3, ended="")
    stage.session.refresh_runs()
    stage.studio.frame.show_page("export")
    assert combo(stage).currentText() == "Select a run", "nothing is selected"
    assert "elect a run" in stage.session.blocked("export")
    click_run(stage, animals)
    assert combo(stage).currentText().startswith(stage.session.run_titles[animals])
    click_run(stage, str(begun))
    assert combo(stage).currentText().startswith(stage.session.run_titles[str(begun)])
    assert "no checkpoint" in stage.studio.export._why_not.text()
    click_run(stage, animals)
    assert stage.studio.export._why_not.text() == ""


def checked(stage: Any) -> str:
    """What the page Export says of the check of an export; empty where it shows none."""
    page = stage.studio.export_page
    return page._summary.text() if page._summary.isVisibleTo(page) else ""


def test_the_check_of_an_export_stays_while_other_pages_are_visited(
    stage: Any, animals: str, tmp_path: Path
) -> None:
    other = make_run(tmp_path / "runs" / "lenet-static-002", started=2.0)
    stage.session.refresh_runs()
    click_run(stage, animals)
    stage.studio.frame.show_page("export")
    assert stage.studio.actions.trigger("export") == ""
    stage.tell(
        "exported",
        prefix=str(Path(animals) / "inference" / "model"),
        save_id="abc",
        difference=0.0,
        samples=4,
        latency=1e-3,
        sizes={"model.pdmodel": 1},
        accuracy=0.9,
        pictures="test",
        operators=[3, 2],
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    assert checked(stage).startswith("The files give the same answers")
    for name in ("train", "predict", "export"):
        stage.studio.frame.show_page(name)
        stage.session.refresh_runs()
    stage.session._settle("", None, False)
    assert checked(stage).startswith("The files give the same answers")
    click_run(stage, str(other))
    assert checked(stage) == "", "that was another run's"
    click_run(stage, animals)
    assert checked(stage).startswith("The files give the same answers")


# ----- what is selected loads where it is visible -----

EMPTY = {"blocks": [{"idx": 0, "parent": -1, "vars": [], "ops": []}]}


def traced(stage: Any) -> list[str]:
    """The folders of the runs whose models were traced."""
    return [worker.job.folder for worker in stage.workers if worker.job_name == "trace_run"]


def tell_program(stage: Any, model: str) -> None:
    stage.tell(
        "program",
        model=model,
        program=EMPTY,
        text=model,
        source="",
        source_file="",
        source_line=1,
        converted="",
    )


@pytest.fixture
def several(stage: Any, tmp_path: Path) -> list[str]:
    """Ten finished runs in the list, none with code of its own."""
    stage.load_selection()
    assert stage.studio.graph_page.is_empty()  # builds the page
    runs = [
        str(make_run(tmp_path / "runs" / f"linear-static-{n:03}", model="linear", started=float(n)))
        for n in range(1, 11)
    ]
    stage.session.refresh_runs()
    return runs


def test_ten_runs_that_are_passed_over_load_only_the_last(stage: Any, several: list[str], qtbot: Any) -> None:
    for folder in several:
        stage.session.select_run(folder)
    assert traced(stage) == []
    qtbot.waitUntil(lambda: traced(stage) != [])
    assert traced(stage) == [several[-1]]
    panel, name = stage.window.project, stage.session.run_titles[several[-1]]
    assert panel.program_name.text() == name
    assert panel._no_program.text() == f"Reading the Program of {name}…"
    assert not panel.show_graph.isVisible()
    tell_program(stage, "linear")
    assert panel.tree.isVisible()
    stage.studio.frame.show_page("graph")
    assert stage.studio.graph_page.text.toPlainText() == "linear"


def test_another_selection_ends_the_load_and_takes_the_program_away(
    stage: Any, several: list[str], qtbot: Any
) -> None:
    click_run(stage, several[8])
    qtbot.waitUntil(lambda: traced(stage) == [several[8]])
    first = stage.worker
    click_run(stage, several[9])
    assert first.notify is None, "its process was ended"
    qtbot.waitUntil(lambda: traced(stage) == [several[8], several[9]])
    tell_program(stage, "linear")
    click_run(stage, several[8])
    assert not stage.window.project.tree.isVisible(), "that was the other run's"


def test_a_load_that_fails_says_why_on_the_page_alone(stage: Any, several: list[str], qtbot: Any) -> None:
    click_run(stage, several[9])
    qtbot.waitUntil(lambda: traced(stage) != [])
    stage.tell(
        "failed",
        error="DataError",
        message="net.py: no such file; put it back",
        where="net.py",
        what="no such file",
        do="put it back",
        file="",
        line=0,
        details="",
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    panel = stage.window.project
    assert "no such file" in panel._no_program.text()
    assert stage.window.output.problems.problems() == []
    QTest.mouseClick(panel.show_graph, Qt.MouseButton.LeftButton)
    assert not panel.show_graph.isVisible()
    assert len(traced(stage)) == 2, "tried again"


def question(stage: Any) -> AgreementDialog:
    """The question that is open."""
    (dialog,) = [each for each in stage.window.findChildren(AgreementDialog) if each.isVisible()]
    return dialog


def test_code_is_run_only_after_allow_and_load(
    stage: Any, several: list[str], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    monkeypatch.setattr("studio.controllers.agreements.ask_agreement", lambda *of: asked.append(of))
    source = Path(several[9]) / "source"
    source.mkdir()
    (source / "net.py").write_text("raise SystemExit\n")
    click_run(stage, several[9])
    panel = stage.window.project
    qtbot.waitUntil(lambda: panel.show_graph.text() == "Allow and load…")
    assert "net.py: this run contains code" in panel._no_program.text()
    assert traced(stage) == []
    stage.studio.frame.show_page("predict")
    page = stage.studio.predict_page
    qtbot.waitUntil(lambda: page.again_button.text() == "Allow and load…")
    assert page.again_button.isVisible()
    stage.studio.frame.show_page("graph")
    button = stage.studio.graph_page._empty.button
    assert button.text() == "Allow and load…"
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = question(stage)
    assert dialog.code.code() == "raise SystemExit", "the code can be read before"
    QTest.mouseClick(dialog.cancel, Qt.MouseButton.LeftButton)
    assert traced(stage) == []
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    QTest.mouseClick(question(stage).allow, Qt.MouseButton.LeftButton)
    assert traced(stage) == [several[9]]
    stage.studio.frame.show_page("export")
    assert stage.studio.actions.trigger("export") == ""
    assert asked == [], "the agreement holds on every page"


def test_a_saved_model_becomes_the_selection(stage: Any, several: list[str], tmp_path: Path) -> None:
    click_run(stage, several[9])
    stage.studio.predict.load(str(tmp_path / "other"))
    assert stage.session.selected_run == ""
    assert stage.window.project.runs.chosen() == []
    assert stage.window.project.program_name.text() == "other"
    assert stage.studio.train_page.no_run() == (
        "other is a saved model: it has no training to show. Select a run."
    )
    stage.studio.frame.show_page("export")
    assert combo(stage).currentText() == "Select a run"
    click_run(stage, several[8])
    assert stage.session.selection.model == ""
    assert stage.session.predict.model is None
    assert not stage.session.predict.loading, "the model that was coming is released"


def test_the_training_of_another_run_does_not_take_the_program_panel(stage: Any, several: list[str]) -> None:
    stage.start()
    click_run(stage, several[9])
    training = stage.workers[0]
    training.tell(
        "program",
        model="lenet",
        program=EMPTY,
        text="lenet",
        source="",
        source_file="",
        source_line=1,
        converted="",
    )
    stage.session.pump()
    assert stage.session.graph.text == ""
    assert stage.window.project.program_name.text() == stage.session.run_titles[several[9]]
    stage.session.select_run(stage.session.train.folder)
    assert stage.session.graph.text == "lenet"
