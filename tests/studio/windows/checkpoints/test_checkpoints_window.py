"""The window of a run's checkpoints: slider, keys, playing, cards, and what is said of damaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.controllers.checkpoints.checkpoints_controller import CheckpointsController
from studio.session import commands
from studio.session.checkpoints.animation_job import WriteAnimation
from studio.session.checkpoints.checkpoints_view import GivenSample
from tests.studio.session.checkpoints.stored_run import write_numbers_run, write_run, write_step
from tests.studio.windows.command_place import CommandPlace


class Place(CommandPlace):
    """The window, opened by its command over a run of three checkpoints."""

    def __init__(self, folder: Path, window: QWidget, run: Path | None = None) -> None:
        super().__init__(folder, window)
        self.run = run or write_run(folder / "run")
        damaged = self.run / "checkpoints" / "step-00000015.h5"
        damaged.write_bytes(b"not a checkpoint")
        self.session.refresh_runs()
        self.session.select_run(str(self.run))
        self.controller = CheckpointsController(self.session, window, self.actions)
        assert self.actions.trigger(commands.SHOW_CHECKPOINTS) == ""
        assert self.controller.dialog is not None
        self.dialog = self.controller.dialog
        self.view = self.session.checkpoints.view


class Silent:
    """A network that is asked and does not answer."""

    def __init__(self, *values: object) -> None:
        self.asked: list[object] = []

    def ask(self, *values: object) -> None:
        self.asked.append(values)

    def alive(self) -> bool:
        return False

    def close(self) -> None:
        self.asked.clear()

    def join(self, timeout: float) -> None:
        assert not self.alive()


@pytest.fixture
def place(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.setattr("studio.session.checkpoints.checkpoint_answers.ModelClient", Silent)
    window = QWidget()
    qtbot.addWidget(window)
    found = Place(tmp_path / "runs", window)
    yield found
    found.controller.close()


def test_the_slider_moves_everything(place: Place) -> None:
    dialog = place.dialog
    assert dialog.bar.words().startswith("step 30 · epoch 3 · 3 of 3")
    assert dialog.matrix.counts().tolist() == [[4, 0], [1, 3]]
    assert dialog.curve.chart.position() == 30
    dialog.bar.slider.setValue(0)
    assert place.view.place == 0
    assert dialog.bar.words().startswith("step 10 · epoch 1 · 1 of 3")
    assert dialog.matrix.counts().tolist() == [[4, 0], [3, 1]]
    assert dialog.curve.chart.position() == 10
    assert [sample.index for sample in dialog.hardest.samples()] == [5]
    assert np.asarray(dialog.hardest.samples()[0].image).max() == 10
    np.testing.assert_array_equal(
        dialog.weights.values.grid.planes().values, place.view.weights.planes if place.view.weights else []
    )
    assert not dialog.bar.back.isEnabled()
    assert dialog.bar.forward.isEnabled()


def test_the_best_checkpoint_is_named(place: Place) -> None:
    place.dialog.bar.slider.setValue(1)
    assert place.dialog.bar.words().endswith("best")


def test_damaged_checkpoints_are_named_with_the_reason(place: Place) -> None:
    first, second = place.dialog.left_out
    assert "step-00000015.h5: not a Model Studio file" in first.text()
    assert not first.isHidden()
    assert second.isHidden()
    for step in (16, 17):
        (place.run / "checkpoints" / f"step-{step:08d}.h5").write_bytes(b"")
    place.session.checkpoints.refresh()
    assert second.text() == "Left out too: step-00000016.h5, step-00000017.h5"
    assert "step-00000017.h5: the file is empty" in second.toolTip()


def test_keys_step_and_play(place: Place, qtbot: QtBot) -> None:
    dialog = place.dialog
    qtbot.keyClick(dialog, Qt.Key.Key_Left)
    assert place.view.place == 1
    qtbot.keyClick(dialog, Qt.Key.Key_Home)
    assert place.view.place == 0
    qtbot.keyClick(dialog, Qt.Key.Key_End)
    assert place.view.place == 2
    dialog.bar.speed.setCurrentIndex(3)
    qtbot.keyClick(dialog, Qt.Key.Key_Space)
    assert place.view.place == 0  # from the beginning, since the last one was shown
    assert dialog.bar.play.accessibleName() == "Pause"
    qtbot.waitUntil(lambda: place.view.place == 2, timeout=5000)
    qtbot.waitUntil(lambda: dialog.bar.play.accessibleName() == "Play", timeout=5000)


def test_a_step_by_hand_pauses(place: Place, qtbot: QtBot) -> None:
    qtbot.keyClick(place.dialog, Qt.Key.Key_Space)
    qtbot.keyClick(place.dialog, Qt.Key.Key_Right)
    assert place.dialog.bar.play.accessibleName() == "Play"


def test_another_layer_is_chosen(place: Place) -> None:
    weights = place.dialog.weights
    weights.layer_chosen.emit("conv.bias")
    assert sum(weights.values.histogram.counts()) == 2
    assert weights.layers.currentData() == "conv.bias"
    assert weights.values.grid.isHidden()
    weights.layer_chosen.emit("fc.weight")
    assert not weights.values.grid.isHidden()
    assert not weights.values.histogram.isHidden()
    assert sum(weights.values.histogram.counts()) == 12
    weights.layer_chosen.emit("conv.weight")
    assert weights.values.histogram.isHidden()


def test_the_change_since_the_checkpoint_before_is_said(place: Place) -> None:
    changes = place.dialog.weights.changes
    assert changes.accessibleName() == "Change since step 20"
    assert changes.note() == "50 % of the norm of the weights"
    place.dialog.bar.slider.setValue(0)
    assert changes.none.accessibleName() == "There is no checkpoint before this one."


def test_an_evaluation_before_the_checkpoint_says_how_much_earlier(place: Place) -> None:
    write_step(place.run, 37)
    place.session.checkpoints.refresh()
    assert place.view.current is not None
    assert place.view.current.step == 37
    assert "measured after epoch 3, 7 steps earlier" in place.dialog.measured()


def test_closing_ends_what_it_started(place: Place) -> None:
    place.dialog.close()
    assert place.view.folder == ""
    assert place.actions.trigger(commands.SHOW_CHECKPOINTS) == ""
    assert place.view.place == 2


def test_code_that_needs_an_agreement_is_asked_for(place: Place) -> None:
    (place.run / "source").mkdir()
    (place.run / "source" / "net.py").write_text("raise SystemExit\n")
    place.controller._ask_about_hard(0)
    button = place.dialog.sample.none.button
    assert not button.isHidden()
    assert button.text() == "Allow and compute…"


def test_the_animation_is_written_with_progress_and_can_be_cancelled(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "a.gif"
    monkeypatch.setattr(
        "studio.controllers.checkpoints.checkpoints_controller.ask_for_drawing", lambda *asked: out
    )
    dialog = place.dialog
    dialog.save_requested.emit("gif")
    job = place.session.checkpoints.animation.job
    assert job == WriteAnimation(
        str(place.run), str(out), "conv.weight", place.session.run_title(str(place.run))
    )
    assert not dialog.stop.isHidden()
    place.tell("animation_progress", message="", done=3, total=6)
    assert dialog.progress.value() == 50
    place.tell("animation_written", out=str(out), shown=3, total=9)
    place.end()
    assert dialog.saved.text() == f"Saved: {out} · 3 of 9 checkpoints, evenly spaced"
    assert dialog.stop.isHidden()
    dialog.save_requested.emit("strip")
    place.tell("failed", error="SaveError", message="a.gif: could not be saved: no space", details="", step=0)
    place.end()
    assert dialog.saved.text() == "a.gif: could not be saved: no space"


def test_answer_and_map_are_shown_as_computed_now(place: Place) -> None:
    view, card = place.view, place.dialog.sample
    view.input_form = "digit"
    place.session.checkpoints.answers.give(GivenSample((np.full((28, 28), 0.5, np.float32),), 5, 1))
    assert card.now.isHidden()
    view.ranking = (("odd", 0.75), ("even", 0.25))
    assert not card.now.isHidden()
    assert card.bars.rows() == [("odd", 0.75), ("even", 0.25)]
    assert not card.draw.isHidden()
    place.session.checkpoints.answers.map = lambda: np.eye(28, dtype=np.float32)  # type: ignore[method-assign]
    place.controller._show_map()
    np.testing.assert_array_equal(card.map.map(), np.eye(28))
    view.ranking, view.numbers = (), (("height", 1.5, "cm"),)
    assert card._numbers.rows() == [("height", "1.5\u2009cm")]


def test_a_click_on_the_curve_shows_the_nearest_checkpoint(place: Place, qtbot: QtBot) -> None:
    dialog, chart = place.dialog, place.dialog.curve.chart
    dialog.show()
    chart.redraw()
    view = chart.plotItem.getViewBox()
    qtbot.keyClick(dialog, Qt.Key.Key_Space)
    for step, shown in ((11.0, 0), (19.0, 1), (30.0, 2)):
        at = chart.mapFromScene(view.mapViewToScene(QPointF(step, sum(view.viewRange()[1]) / 2)))
        qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert place.view.place == shown
        assert chart.position() == place.view.current.step if place.view.current else -1
    assert dialog.bar.play.accessibleName() == "Play"  # a step by hand pauses
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.RightButton, pos=chart.viewport().rect().center())
    assert place.view.place == 2


def test_the_sample_of_predict_is_taken(place: Place) -> None:
    card, predict = place.dialog.sample, place.session.predict
    assert card.from_predict.isHidden()
    place.session.checkpoints.ask_about(np.zeros((28, 28), np.float32))
    drawn = np.full((28, 28), 0.25, np.float32)
    predict.fed = (drawn,)
    assert not card.from_predict.isHidden()
    card.from_predict.click()
    assert place.view.sample is not None
    assert place.view.sample.values[0] is drawn
    assert card._origin.text() == "As on the page Predict"
    assert card.from_predict.isHidden()


def test_an_empty_pad_asks_nothing(place: Place) -> None:
    card = place.dialog.sample
    card.start_drawing()
    assert place.view.sample is None
    drawing = np.zeros((280, 280), np.float32)
    drawing[100:180, 130:150] = 1
    card.drawn.emit(drawing)
    assert place.view.sample is not None
    assert place.view.sample.values[0].shape == (28, 28)
    card.drawn.emit(np.zeros((280, 280), np.float32))
    assert place.view.sample is None


def test_a_checkpoint_between_evaluations_can_be_measured(place: Place) -> None:
    dialog = place.dialog
    assert dialog.measure.isHidden()
    write_step(place.run, 37)
    place.session.checkpoints.refresh()
    assert not dialog.measure.isHidden()
    dialog.measure.click()
    assert dialog.measure.text() == "Measuring…"
    assert not dialog.measure.isEnabled()
    place.tell(
        "checkpoint_measured",
        values={"validation_loss": 0.5, "validation_accuracy": 1.0},
        confusion=[[4, 0], [0, 4]],
        hardest=[],
        pictures=np.zeros((0, 28, 28), np.uint8),
        worst=[],
    )
    place.end()
    assert dialog.matrix.counts().tolist() == [[4, 0], [0, 4]]
    assert not dialog.now.isHidden()
    assert dialog.measure.isHidden()
    assert dialog.measured() == "measured now: accuracy 100.00\u2009%, loss 0.5000"


def test_hardest_samples_of_numbers_are_shown_with_their_values(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studio.session.checkpoints.checkpoint_answers.ModelClient", Silent)
    window = QWidget()
    qtbot.addWidget(window)
    session_run = write_numbers_run(tmp_path / "runs" / "run")
    place = Place(tmp_path / "runs", window, session_run)
    dialog = place.dialog
    assert dialog.hardest.isHidden() or not dialog.hardest.samples()
    rows = [[dialog.worst.table.item(row, column).text() for column in range(4)] for row in range(3)]
    assert rows[0] == ["2", "3", "33", "30"]
    assert dialog.worst.values.text() == "area: 2, age: 20"
    assert [dialog.target.itemText(place) for place in range(dialog.target.count())] == ["price", "rent"]
    assert not dialog.target.isHidden()
    dialog.target_chosen.emit(1)
    assert dialog.worst.table.item(0, 2).text() == "0.2"
    dialog.bar.slider.setValue(0)
    assert dialog.worst.table.item(0, 2).text() == "0.2"
    assert dialog.worst.table.item(0, 0).text() == "2"
    place.controller.close()
