"""A run that predicts numbers on the page Train: figures, curves with baselines, errors of samples."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from engine.training.corrections import read_corrections
from engine.training.measuring.predictions import NumberPredictions, PredictionsFolder
from studio.session.train.number_errors import number_in
from studio.windows.train.number_errors_card import NumberErrorsCards
from tests.studio.windows.runs.run_folders import make_run


def start(stage: Any) -> str:
    assert stage.studio.actions.trigger("start") == ""
    folder = stage.session.train.folder
    stage.tell(
        "started",
        config={"epochs": 2},
        folder=folder,
        step=0,
        epoch=1,
        steps_per_epoch=5,
        total_steps=10,
        train_samples=20,
        test_samples=4,
        classes=[],
        parameters=9,
        resumed_from="",
        task="numbers",
        targets=["price", "rent"],
        units=["EUR", "EUR"],
    )
    return folder


def end_epoch(stage: Any, epoch: int, r2: float, best: bool) -> None:
    folder = Path(stage.session.train.folder)
    true = np.array([[1, 10], [2, 20], [3, 30], [4, 40]], np.float32)
    wrong = np.array([[0, 0], [0.5, 0], [0, -9], [0, 1]], np.float32)
    images = np.zeros((0, 1, 1), np.uint8)
    found = NumberPredictions.of(true, true + wrong, [], images)
    PredictionsFolder(folder).write(5 * epoch, found, 5 * epoch)
    stage.tell(
        "epoch",
        epoch=epoch,
        step=5 * epoch,
        partial=False,
        train_loss=1.0,
        validation_loss=0.7,
        validation_r2=r2,
        validation_mae=2.5,
        worst=[],
        best=best,
        seconds=1.0,
        task="numbers",
    )


def test_figures_and_curves_are_r2_next_to_simple_models(stage: Any) -> None:
    folder = start(stage)
    page, figure = stage.studio.train_page, stage.studio.train_page.figures["accuracy"]
    stage.tell("baseline", split="test", constant={"r2": -0.01, "mae": 9.0}, linear={"r2": 0.4, "mae": 4.0})
    stage.tell(
        "steps",
        steps=[1, 2],
        losses=[2.0, 1.0],
        step=2,
        epoch=1,
        total_steps=10,
        samples_per_second=9.0,
        seconds_left=1.0,
        elapsed=1.0,
        learning_rate=0.1,
    )
    end_epoch(stage, 1, 0.875, best=True)
    assert figure.text() == "0.8750"
    assert figure.note() == (
        "MAE 2.500\u2009EUR; last and best, epoch 1; mean \u22120.01000, linear model 0.4000"
    )
    assert figure.accessibleName().startswith("Validation R²: 0.8750")
    assert page.curves.quantities["accuracy"].text() == "R²"
    xs, ys = page.accuracy.series_data(f"{folder}/validation")
    assert (xs.tolist(), ys.tolist()) == ([5.0], [0.875])
    end_epoch(stage, 2, 0.9, best=True)
    xs, ys = page.accuracy.series_data(f"{folder}/baseline/linear")
    assert (xs.tolist(), ys.tolist()) == ([0.0, 5.0, 10.0], [0.4] * 3)
    assert page.accuracy.series_data(f"{folder}/baseline/constant")[1][0] == -0.01


def test_samples_are_drawn_predicted_over_true_and_the_worst_are_listed(stage: Any, qtbot: Any) -> None:
    start(stage)
    end_epoch(stage, 1, 0.8, best=True)
    cards = stage.studio.train_page.number_errors
    qtbot.waitUntil(lambda: (stage.session.pump(), len(cards.scatter.points()[0]) == 4)[1])
    assert cards.isVisible()
    assert not stage.studio.train_page.confusion_card.isVisible()
    assert cards.scatter.points()[1].tolist() == [1.0, 2.5, 3.0, 4.0]
    shown = [[cards.table.item(row, column).text() for column in range(4)] for row in range(2)]
    assert shown == [["2", "3", "3", "0"], ["1", "2", "2.5", "0.5"]]
    QTest.mouseClick(cards.residuals, Qt.MouseButton.LeftButton)
    assert cards.scatter.points()[1].tolist() == [0.0, 0.5, 0.0, 0.0]
    assert cards.target.isVisible()
    cards.target.setCurrentIndex(1)
    cards.target.activated.emit(1)
    assert cards.scatter.points()[1].tolist() == [0.0, 0.0, -9.0, 1.0]
    assert cards.table.item(0, 3).text() == "\u22129"
    assert math.isclose(stage.session.number_errors.view.worst[0].error, -9.0)


def test_a_wrong_number_is_corrected_dropped_and_taken_back(stage: Any, qtbot: Any) -> None:
    start(stage)
    end_epoch(stage, 1, 0.8, best=True)
    cards = stage.studio.train_page.number_errors
    row = cards.correction
    qtbot.waitUntil(lambda: (stage.session.pump(), cards.table.rowCount() == 4)[1])
    assert not row.isVisible()
    at = cards.table.visualItemRect(cards.table.item(0, 0)).center()
    QTest.mouseClick(cards.table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert row.isVisible()
    assert not row.correct.isEnabled()
    assert stage.worker.job.places == (2, 1, 3, 0)
    assert stage.worker.job.targets[0] == (3.0, 30.0)
    places = [2, 1, 3, 0]
    digests = [f"{place:064x}" for place in places]
    stage.tell("mistakes", places=places, digests=digests, split_places=places, images=[[], [], [], []])
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")
    cards.target.setCurrentIndex(1)
    cards.target.activated.emit(1)
    assert row.field.text() == "30"
    row.field.selectAll()
    QTest.keyClicks(row.field, "abc")
    QTest.keyClick(row.field, Qt.Key.Key_Return)
    assert row.problem.text() == "The true value must be a number: got 'abc'."
    assert not stage.session.corrections.path.exists()
    row.field.selectAll()
    QTest.keyClicks(row.field, "21,5")
    QTest.mouseClick(row.correct, Qt.MouseButton.LeftButton)
    (made,), _ = read_corrections(stage.session.corrections.path)
    assert (made.sha256, made.action, made.target, made.were) == (
        digests[0],
        "value",
        (3.0, 21.5),
        (3.0, 30.0),
    )
    assert row.said.value() == "Corrected: it is 21.5\u2009EUR, in the next training with corrections"
    assert cards.table.item(0, 0).text() == "2 *"
    assert not row.problem.isVisible()
    stage.studio.mistakes.open_corrections()
    assert "3, 21.5 instead of 3, 30" in stage.studio.mistakes.list.list.item(0).text()
    QTest.mouseClick(row.drop, Qt.MouseButton.LeftButton)
    assert [each.action for each in read_corrections(stage.session.corrections.path)[0]] == ["drop"]
    QTest.mouseClick(row.undo, Qt.MouseButton.LeftButton)
    assert read_corrections(stage.session.corrections.path)[0] == []
    assert row.field.text() == "30"
    assert row.said.value() == ""


@pytest.mark.parametrize("text", ["", "abc", "nan", "inf", "1,2.5", "1e39"])
def test_an_invalid_true_value_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="The true value must be"):
        number_in(text)


def test_runs_of_another_task_are_not_drawn_in_one_plot_with_it(stage: Any) -> None:
    other = make_run(stage.session.runs_folder / "classes-001")
    folder = start(stage)
    end_epoch(stage, 1, 0.5, True)
    stage.session.refresh_runs()
    page = stage.studio.train_page
    stage.studio.train.show_runs([folder, str(other)])
    for name in ("loss", "accuracy"):
        keys = page.curves.plot(name).series_keys()
        assert keys
        assert all(key.startswith(folder) for key in keys)
    assert page.curves.note.text().startswith("Not drawn, since they predict something else")
    assert "LeNet" in page.curves.note.text()
    stage.studio.train.show_runs([folder])
    assert page.curves.note.isHidden()


def test_numbers_of_the_worst_samples_end_below_their_titles(qtbot: Any) -> None:
    cards = NumberErrorsCards()
    qtbot.addWidget(cards)
    cards.show_errors(np.arange(2.0), np.arange(2.0), "EUR", 1, [("7", "1 476", "1 384", "\u221291.04")])
    right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
    assert cards.table.horizontalHeader().defaultAlignment() == right
    assert {cards.table.item(0, column).textAlignment() for column in range(4)} == {right.value}


def test_the_true_value_is_offered_with_the_digits_that_it_has(stage: Any) -> None:
    start(stage)
    end_epoch(stage, 1, 0.5, True)
    cards = stage.studio.train_page.number_errors
    cards.table.setCurrentCell(0, 0)
    for value, text in ((12345.678, "12345.678"), (-91.04, "-91.04"), (30.0, "30")):
        view = stage.session.number_errors.view
        view.worst = [replace(view.worst[0], target=(3.0, float(np.float32(value))))]
        cards.target_chosen.emit(1)
        assert cards.correction.field.text() == text


def test_the_values_of_the_selected_sample_are_shown(qtbot: Any) -> None:
    cards = NumberErrorsCards()
    qtbot.addWidget(cards)
    numbers, rows = np.arange(2.0), [("7", "1", "2", "1"), ("9", "3", "2", "-1")]
    flats = [[["size", "30"], ["town", "Ulm"]], [[f"c{number}", "1"] for number in range(8)]]
    cards.show_errors(numbers, numbers, "EUR", 1, rows, flats)
    assert cards.values.text() == "size: 30, town: Ulm"
    assert not cards.sample.isVisibleTo(cards)
    cards.table.setCurrentCell(1, 0)
    assert cards.values.text() == "c0: 1, c1: 1, c2: 1, c3: 1, c4: 1, c5: 1, \u2026"
    assert cards.values.toolTip().endswith("c7: 1")
    cards.show_errors(numbers, numbers, "EUR", 2, rows, [np.zeros((4, 1), np.float32), None])
    assert not cards.sample.isVisibleTo(cards)  # the second row is still selected
    cards.table.setCurrentCell(0, 0)
    assert cards.sample.isVisibleTo(cards)
    assert not cards.values.isVisibleTo(cards)
