"""Every panel shows the selected run, read from the texts of the widgets after real clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QComboBox

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
    assert strip.state() == "Pausing... · Digits (built in)"
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
