"""The charts of the page Train: actions in sight, colours, and which figures the key figures are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from studio.session.train.layers_view import LayersViewModel
from widgets.distribution.sparkline import VALUES_ROLE


def end_epoch(stage: Any, epoch: int, accuracy: float, best: bool) -> None:
    stage.tell(
        "epoch",
        epoch=epoch,
        step=5 * epoch,
        partial=False,
        train_loss=1.0,
        train_accuracy=0.5,
        validation_loss=0.7 / epoch,
        validation_accuracy=accuracy,
        confusion=[],
        best=best,
        seconds=1.0,
        hardest=[],
        pictures=np.zeros((0, 28, 28), np.uint8),
    )


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
        "series,step,value",
        "train,1,2.3",
        "train,2,1.9",
        "train,3,1.5",
    ]
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
    stage.tell(
        "finished",
        step=10,
        epoch=2,
        reason="",
        validation_accuracy=0.96,
        best_accuracy=0.97,
        best_step=5,
        seconds=2.0,
        folder="",
        checkpoint="",
    )
    stage.studio.train.show_runs([stage.session.train.folder])
    assert (figures["loss"].text(), figures["loss"].note()) == ("0.3500", "validation, epoch 2")
    assert (figures["accuracy"].text(), figures["accuracy"].note()) == ("97.00\u2009%", "best, epoch 1")
    assert figures["accuracy"].accessibleName() == "Validation accuracy: 97.00\u2009%, best, epoch 1"


def test_other_quantities_and_axes_are_a_click_away(stage: Any, qtbot: Any) -> None:
    stage.start()
    card, folder = stage.studio.train_page.curves, stage.session.train.folder
    stage.tell(
        "steps",
        steps=[1, 2],
        losses=[2.0, 1.0],
        accuracies=[0.1, 0.2],
        step=2,
        epoch=1,
        total_steps=10,
        samples_per_second=500.0,
        seconds_left=1.0,
        elapsed=4.0,
        learning_rate=0.01,
        memory=2_000_000,
        scalars={"gradient_norm": [3.0, 2.5]},
    )
    expected = {"rate": [0.01, 0.01], "throughput": [500, 500], "memory": [2, 2], "gradient": [3.0, 2.5]}
    for name, values in expected.items():
        QTest.mouseClick(card.quantities[name], Qt.MouseButton.LeftButton)
        plot = card.plots[name]
        assert plot.isVisible()
        assert not card.plots["accuracy"].isVisible()
        np.testing.assert_allclose(plot.series_data(folder)[1], values)
    stage.steps(3, 0.5)
    assert card.plots["rate"].series_data(folder)[1].tolist() == [0.01, 0.01, 0.001]
    end_epoch(stage, 1, 0.9, best=True)
    validation = f"{folder}/validation"
    for place, xs, end, words in ((1, [0.2, 0.4, 0.6], 1.0, "epoch"), (0, [1, 2, 3], 5, "step")):
        card.axis.setCurrentIndex(place)
        for name, plot in card.plots.items():
            if name in card.quantities:  # drawn when it appears
                QTest.mouseClick(card.quantities[name], Qt.MouseButton.LeftButton)
            measured = xs[:2] if name in ("memory", "gradient") else xs  # the third step has neither
            np.testing.assert_allclose(plot.series_data(folder)[0], measured)
            np.testing.assert_allclose(plot.chart.marks, [end])
            assert plot.chart._bottom.labelText == words
        loss = card.plots["loss"]
        assert loss.series_data(validation)[0].tolist() == [end]
        assert loss._series[validation].best == end
    card.axis.setCurrentIndex(2)
    np.testing.assert_allclose(card.plots["loss"].series_data(folder)[0], [2.0, 4.0, 1.0])  # as reported
    assert card.plots["loss"].series_data(validation)[0].tolist() == [1.0]


def test_a_click_on_a_curve_selects_its_run(stage: Any, qtbot: Any) -> None:
    stage.start()
    stage.steps(1, 2.0, 2.0, 2.0)
    chart, folder = stage.studio.train_page.loss.chart, stage.session.train.folder
    with stage.session.selection.events.item.blocked():  # so that the curve stays on the page
        stage.session.selection.clear()
    chart.redraw()
    view = chart.plotItem.getViewBox()
    at = chart.mapFromScene(view.mapViewToScene(QPointF(1.6, 2.0)))
    QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at + QPoint(0, 40))
    assert stage.session.selected_run == ""
    QTest.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at)
    qtbot.waitUntil(lambda: stage.session.selected_run == folder)


# ----- layers -----


def tell_layers(stage: Any, step: int, ratio: float = 1e-3, dead: int = 0) -> None:
    spread = {"low": -1.0, "high": 1.0, "counts": [1, 5, step], "bad": 0}
    sizes = {"conv1.weight": 100, "conv1.bias": 10, "linear1.weight": 100, "linear1.bias": 10}
    states = [
        {
            "name": name,
            "size": size,
            "matrix": size == 100,
            "norm": 1.0,
            "gradient_norm": 0.25,
            "ratio": ratio,
            "weights": spread,
            "gradients": spread,
        }
        for name, size in sizes.items()
    ]
    units = [{"name": "conv1", "operator": "relu", "units": 4, "dead": dead}]
    stage.tell("layers", step=step, epoch=1, parameters=states, units=units, seconds=0.01)


def test_the_tab_layers_follows_the_training_and_goes_back_with_the_slider(stage: Any, qtbot: Any) -> None:
    stage.start()
    card = stage.studio.train_page.curves
    QTest.mouseClick(card.tabs["layers"], Qt.MouseButton.LeftButton)
    panel = card.layers
    assert panel.isVisible()
    assert not panel.table.isVisible()
    tell_layers(stage, 1, ratio=2e-2)
    tell_layers(stage, 5, dead=3)
    assert [panel.table.item(row, 0).text() for row in range(2)] == ["conv1", "linear1"]
    assert [panel.table.item(0, column).text() for column in (1, 3, 4)] == ["0.0010", "0.250", "75.00\u2009%"]
    assert panel.weights.counts() == (1, 5, 5)
    assert panel.table.item(1, 2).data(VALUES_ROLE) == [2e-2, 1e-3]
    QTest.keyClick(panel.slider, Qt.Key.Key_Left)
    assert panel.table.item(0, 1).text() == "0.020"
    assert panel.weights.counts() == (1, 5, 1)
    tell_layers(stage, 9)
    assert panel.look().step == 1  # looked at by hand: it stays
    QTest.keyClick(panel.slider, Qt.Key.Key_End)
    tell_layers(stage, 10)
    assert panel.look().step == 10


def test_an_alert_stands_in_problems_and_next_to_its_layer_without_a_toast(stage: Any, qtbot: Any) -> None:
    stage.start()
    panel = stage.studio.train_page.curves.layers
    tell_layers(stage, 5, dead=3)
    stage.tell(
        "layer_alert",
        step=5,
        epoch=1,
        layer="conv1",
        kind="dead",
        value=0.75,
        message="conv1, step 5: 3 of 4 units are zero; try a smaller learning rate",
    )
    problems = stage.window.output.problems.problems()
    assert [(each.level, each.text[:14]) for each in problems] == [("warning", "conv1, step 5:")]
    assert not stage.window.toast.isVisible()
    assert "conv1, step 5" in panel.notice.text()
    assert [panel.table.item(row, 0).text() for row in range(2)] == ["\u26a0 conv1", "linear1"]


def test_a_hint_is_neither_a_problem_nor_a_warning(stage: Any, qtbot: Any) -> None:
    stage.start()
    panel = stage.studio.train_page.curves.layers
    tell_layers(stage, 5)
    message = "conv1.bias, step 5: no effect on the output: bias_attr=False omits such a bias"
    stage.tell(
        "layer_alert", step=5, epoch=1, layer="conv1.bias", kind="no_effect", value=1.0, message=message
    )
    assert stage.window.output.problems.problems() == []
    assert panel.notice.text() == f"No alerts. Hint: {message}"
    assert panel.notice.property("role") == "mute"
    assert [panel.table.item(row, 0).text() for row in range(2)] == ["conv1", "linear1"]
    assert message in panel.table.item(0, 0).toolTip()


def test_a_damaged_look_of_a_journal_is_left_out() -> None:
    model = LayersViewModel()
    model.show(
        [
            {"event": "layers", "step": 1},
            {
                "event": "layers",
                "step": 2,
                "epoch": 1,
                "units": [],
                "parameters": [{"name": "a", "size": "x"}],
            },
            {"event": "layer_alert"},
        ]
    )
    assert (model.looks, model.alerts) == ([], [])
