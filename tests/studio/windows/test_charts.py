"""The charts of the page Train: actions in sight, colours, and which figures the key figures are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog


def end_epoch(stage: Any, epoch: int, accuracy: float, best: bool) -> None:
    stage.tell("epoch", epoch=epoch, step=5 * epoch, partial=False, train_loss=1.0, train_accuracy=0.5,
               validation_loss=0.7 / epoch, validation_accuracy=accuracy, confusion=[], best=best,
               seconds=1.0, hardest=[], pictures=np.zeros((0, 28, 28), np.uint8))  # fmt: skip


def test_every_chart_shows_its_actions(
    stage: Any, qtbot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.start()
    stage.steps(1, 2.3, 1.9, 1.5)
    page = stage.studio.train_page
    target = tmp_path / "points.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *args: (str(target), ""))
    for plot in (page.loss, page.accuracy):
        bar = plot.actions_bar
        assert all(button.isVisible() for button in (bar.fit, bar.table, bar.export))
    QTest.mouseClick(page.loss.actions_bar.table, Qt.MouseButton.LeftButton)
    assert page.loss._table.isVisible()
    QTest.mouseClick(page.loss.actions_bar.table, Qt.MouseButton.LeftButton)
    page.loss.actions_bar.kinds["csv"].trigger()
    assert target.read_text(encoding="utf-8").splitlines() == [
        "series,step,value", "train,1,2.3", "train,2,1.9", "train,3,1.5",
    ]  # fmt: skip
    page.loss.chart.set_view(2, 3)
    QTest.mouseClick(page.loss.actions_bar.fit, Qt.MouseButton.LeftButton)
    assert page.loss.chart.follows


def test_a_validation_curve_has_the_colour_of_its_run(stage: Any) -> None:
    stage.start()
    loss, folder = stage.studio.train_page.loss, stage.session.train.folder
    train, validation = loss._series[folder], loss._series[f"{folder}/validation"]
    assert train.color == validation.color
    assert (train.dashed, validation.dashed) == (False, True)


def test_the_key_figures_say_which_they_are(stage: Any) -> None:
    stage.start()
    figures = stage.studio.train_page.figures
    stage.steps(1, 2.3, 1.5)
    assert (figures["loss"].text(), figures["loss"].note()) == ("1.500", "of the last batch")
    assert figures["accuracy"].note() == ""
    end_epoch(stage, 1, 0.97, best=True)
    assert figures["accuracy"].note() == "last and best, epoch 1"
    end_epoch(stage, 2, 0.96, best=False)
    assert (figures["accuracy"].text(), figures["accuracy"].note()) == ("96.00\u2009%", "last, epoch 2")
    stage.tell("finished", step=10, epoch=2, reason="", validation_accuracy=0.96, best_accuracy=0.97,
               best_step=5, seconds=2.0, folder="", checkpoint="")  # fmt: skip
    stage.studio.train.show_runs([stage.session.train.folder])
    assert (figures["loss"].text(), figures["loss"].note()) == ("0.3500", "validation, epoch 2")
    assert (figures["accuracy"].text(), figures["accuracy"].note()) == ("97.00\u2009%", "best, epoch 1")
    assert figures["accuracy"].accessibleName() == "Validation accuracy: 97.00\u2009%, best, epoch 1"
