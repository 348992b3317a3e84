"""Cells and hardest samples in the window: real clicks and keys open, correct and undo."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QFileDialog, QWidget

from engine.training.corrections import read_corrections
from engine.training.measuring.predictions import Predictions, PredictionsFolder
from studio.session.train.mistakes_view import SampleFilter

DIGITS = [str(i) for i in range(10)]


def evaluation() -> Predictions:
    """Ten images, one of each digit: 4 is taken for 9, and 7 for 1."""
    labels = np.arange(10, dtype=np.uint32)
    answers = labels.copy()
    answers[4], answers[7] = 9, 1
    shares = np.full((10, 10), 0.01, np.float16)
    shares[np.arange(10), answers] = 0.9
    of_truth = shares[np.arange(10), labels].astype(np.float32)
    hardest = np.array([4, 7, 0])
    images = np.stack([np.full((28, 28), place, np.uint8) for place in hardest])
    return Predictions(labels, answers, of_truth, np.full(10, 0.9, np.float32), shares, hardest, images)


def end_epoch(stage: Any, epoch: int, images: bool = True) -> None:
    """An epoch of the training was measured, and its predictions lie in the run's folder."""
    found = evaluation()
    PredictionsFolder(Path(stage.session.train.folder)).write(5 * epoch, found, 5 * epoch)
    hardest = [
        {
            "index": int(i),
            "label": int(found.labels[i]),
            "predicted": int(found.answers[i]),
            "probability": float(found.of_truth[i]),
        }
        for i in found.hardest
    ]
    confusion = (found.confusion() * epoch).tolist()
    more = {"pictures": found.pictures} if images else {}
    training = stage.workers[0]
    training.tell(
        "epoch",
        epoch=epoch,
        step=5 * epoch,
        partial=False,
        train_loss=1.0,
        train_accuracy=0.5,
        validation_loss=0.7,
        validation_accuracy=0.8,
        confusion=confusion,
        best=True,
        seconds=1.0,
        hardest=hardest,
        **more,
    )
    stage.session.pump()


@pytest.fixture
def trained(stage: Any) -> Any:
    stage.start()
    end_epoch(stage, 1)
    end_epoch(stage, 2)
    return stage


def answer(stage: Any, qtbot: Any, places: list[int]) -> None:
    """The child that reads images answers."""
    qtbot.waitUntil(lambda: stage.worker.job_name == "read_mistakes", timeout=20_000)
    assert stage.worker.job.places == tuple(places)
    stage.tell(
        "mistakes",
        places=places,
        digests=[f"{place:064x}" for place in places],
        split_places=places,
        images=np.stack([np.full((28, 28), 9 * place, np.uint8) for place in places]),
    )
    stage.tell("worker_ended", clean=True, killed=False, exit_code=0, message="", details="")


def click(widget: QWidget) -> None:
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)


def test_a_click_on_a_cell_opens_its_images(trained: Any, qtbot: Any) -> None:
    stage, page = trained, trained.studio.train_page
    at = page.confusion.cell_rect(4, 9).center().toPoint()
    QTest.mouseClick(page.confusion, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    gallery = stage.studio.mistakes.gallery
    assert gallery.isVisible()
    answer(stage, qtbot, [4])
    assert gallery.windowTitle() == "LeNet: 4 taken for 9, epoch 2"
    (sample,) = gallery.grid.samples()
    assert (sample.index, sample.label, sample.predicted) == (4, "4", "9")
    assert sample.image[0, 0] == 36
    assert gallery.facts.rows() == [
        ("Image", "4 of the test data"),
        ("True", "4 (1.00\u2009%)"),
        ("Predicted", "9 (90.00\u2009%)"),
    ]
    assert gallery.bars.rows()[0][0] == "9"
    end_epoch(stage, 3)  # what is looked at stays
    assert gallery.windowTitle() == "LeNet: 4 taken for 9, epoch 2"
    QTest.keyClick(gallery, Qt.Key.Key_Escape)
    assert not gallery.isVisible()
    assert stage.session.mistakes.view.what == ""
    end_epoch(stage, 4)
    assert page.confusion.counts()[4, 9] == 4


def test_return_on_a_cell_and_on_a_hardest_sample(trained: Any, qtbot: Any) -> None:
    stage, page = trained, trained.studio.train_page
    page.confusion.setFocus()
    for key in [Qt.Key.Key_Down] * 7 + [Qt.Key.Key_Right]:
        QTest.keyClick(page.confusion, key)
    QTest.keyClick(page.confusion, Qt.Key.Key_Return)
    answer(stage, qtbot, [7])
    gallery = stage.studio.mistakes.gallery
    assert gallery.windowTitle() == "LeNet: 7 taken for 1, epoch 2"
    gallery.close()
    QTest.keyClick(page.hardest, Qt.Key.Key_Right)
    QTest.keyClick(page.hardest, Qt.Key.Key_Return)
    answer(stage, qtbot, [4, 7, 0])
    assert gallery.windowTitle() == "LeNet: hardest samples, epoch 2"
    assert gallery.facts.rows()[0] == ("Image", "7 of the test data")
    assert len(gallery.bars.rows()) == 10


def test_all_samples_are_filtered(trained: Any, qtbot: Any) -> None:
    stage, page = trained, trained.studio.train_page
    click(page.all_samples)
    gallery, bar = stage.studio.mistakes.gallery, stage.studio.mistakes.gallery.filter
    qtbot.waitUntil(lambda: stage.worker.job_name == "read_mistakes", timeout=20_000)
    assert gallery.windowTitle() == "LeNet: test samples, epoch 2"
    places = [each.index for each in stage.session.mistakes.view.samples]
    assert len(places) == stage.session.mistakes.view.total == 10
    choose(bar.verdict, "Wrong")
    answer(stage, qtbot, [4, 7])
    assert [sample.index for sample in gallery.grid.samples()] == [4, 7]
    choose(bar.label, "4")
    answer(stage, qtbot, [4])
    bar.low.setValue(95)  # it was sure by 90 %
    assert gallery.grid.samples() == []
    assert stage.session.mistakes.view.total == 0
    assert gallery._none.accessibleName() == "There are no such samples."
    bar.high.setValue(90)
    assert (bar.low.value(), bar.high.value()) == (90, 90)
    answer(stage, qtbot, [4])
    choose(bar.answer, "9")
    choose(bar.order, "As in the data")
    assert stage.session.mistakes.view.filter == SampleFilter(4, 9, False, 0.9, 0.9, "data")
    gallery.close()
    at = page.confusion.cell_rect(7, 1).center().toPoint()
    QTest.mouseClick(page.confusion, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    assert (bar.label.currentText(), bar.answer.currentText()) == ("7", "1")
    assert (bar.verdict.currentText(), bar.low.value(), bar.high.value()) == ("Right and wrong", 0, 100)


def choose(box: QComboBox, text: str) -> None:
    """As a user does with the keyboard."""
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def test_relabelled_dropped_and_taken_back(trained: Any, qtbot: Any) -> None:
    stage, page = trained, trained.studio.train_page
    at = page.hardest.cells()[0].center().toPoint()
    QTest.mouseClick(page.hardest, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, at)
    gallery, path = stage.studio.mistakes.gallery, stage.session.corrections.path
    assert not gallery.relabel.isEnabled()  # its image is not read yet
    answer(stage, qtbot, [4, 7, 0])
    assert gallery.classes.currentText() == "9"
    click(gallery.relabel)
    QTest.keyClick(gallery.grid, Qt.Key.Key_Right)
    click(gallery.drop)
    stored, _ = read_corrections(path)
    assert [(each.data, each.index, each.action, each.label, each.was) for each in stored] == [
        ("digits", 4, "relabel", 9, 4),
        ("digits", 7, "drop", -1, 7),
    ]
    assert gallery.said.value().startswith("Excluded")
    click(gallery.undo)
    assert [each.index for each in read_corrections(path)[0]] == [4]
    click(gallery.all)
    corrections = stage.studio.mistakes.list
    assert corrections.list.count() == 1
    assert "test image 4: 9 instead of 4" in corrections.list.item(0).text()
    assert not corrections.train.isEnabled()  # while a training runs
    stage.workers[0].tell("worker_ended", clean=False, killed=True, exit_code=-9, message="", details="")
    stage.session.pump()
    click(corrections.train)
    assert stage.worker.job_name == "train"
    assert stage.worker.job.config["corrections"] == str(path)
    assert not gallery.isVisible()
    click(corrections.undo)
    assert read_corrections(path)[0] == []


def test_the_slider_goes_through_the_epochs(trained: Any, qtbot: Any) -> None:
    stage, card = trained, trained.studio.train_page.confusion_card
    assert card.matrix.counts()[4, 9] == 2
    assert (card.slider.maximum(), card.slider.value()) == (1, 1)
    card.slider.setFocus()
    QTest.keyClick(card.slider, Qt.Key.Key_Left)
    assert card.matrix.counts()[4, 9] == 1
    end_epoch(stage, 3)  # an earlier epoch that is looked at stays
    assert card.matrix.counts()[4, 9] == 1
    QTest.keyClick(card.slider, Qt.Key.Key_End)
    assert card.matrix.counts()[4, 9] == 3
    end_epoch(stage, 4)  # the last one is followed
    assert card.matrix.counts()[4, 9] == 4
    click(card.shares)
    assert card.matrix._table().texts()[4][9] == "100"


def test_the_matrix_is_saved(trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = iter([(str(tmp_path / "a.csv"), ""), (str(tmp_path / "b"), "SVG (*.svg)"), ("", "")])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: next(asked))
    for _ in range(3):
        click(trained.studio.train_page.confusion_card.save)
    assert (tmp_path / "a.csv").read_text().splitlines()[5].startswith("4,0,0,0,0,0,0,0,0,0,2,2,0.0")
    assert (tmp_path / "b.svg").read_text().startswith("<?xml")


def test_a_run_of_before_shows_its_mistakes_after_a_restart(trained: Any, qtbot: Any) -> None:
    stage = trained
    folder = stage.session.train.folder
    for worker in stage.workers:
        worker.kill()
    stage.session.pump()
    stage.session.mistakes.show("", "", [], ())
    stage.session.mistakes.view.hardest.clear()
    tables = stage.session.mistakes.view.tables
    assert tables == []
    from studio.session.runs.epoch_tables import EpochTable

    stage.session.mistakes.show(
        folder, "digits", [EpochTable(2, 10, 0.8, evaluation().confusion().astype(np.uint32))], tuple(DIGITS)
    )
    page = stage.studio.train_page
    qtbot.waitUntil(lambda: len(page.hardest.samples()) == 3, timeout=20_000)
    assert [sample.image[0, 0] for sample in page.hardest.samples()] == [4, 7, 0]
