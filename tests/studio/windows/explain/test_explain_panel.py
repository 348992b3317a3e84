"""The panel that explains an answer: on Predict, with a process that explains, and by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from engine import nn
from studio.session.explain.explain_client import ExplainFailed
from studio.windows.explain.explain_panel import ExplainPanel
from studio.windows.predict.predict_page import PredictPage
from tests.robust.untrusted_models import saved
from tests.studio.answering_run import make_run
from tests.studio.windows.conftest import Stage

WAIT = 60_000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A saved model of digits."""
    folder = tmp_path_factory.mktemp("models")
    return saved(nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), folder / "digits")


def drawn() -> np.ndarray:
    image = np.zeros((28, 28), np.float32)
    image[8:20, 12:16] = 1.0
    return image


def test_predict_explains_the_answer_by_each_method(
    stage: Stage, qtbot: QtBot, digits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import engine.training  # noqa: F401  (the window has it by then)

    studio, session = stage.studio, stage.session
    view = session.explaining.predict.view
    studio.frame.show_page("predict")
    page: PredictPage = studio.predict_page
    studio.predict.load(str(digits))
    qtbot.waitUntil(lambda: session.predict.model is not None, timeout=WAIT)
    assert studio.actions.reason("save_map").startswith("No map yet.")
    session.predict_models.ask(drawn())
    assert view.fed == session.predict.fed
    assert not view.working  # the panel is hidden
    assert studio.actions.trigger("explain") == ""
    assert page.is_why_shown()
    panel = page.explain
    assert panel.facts.text() == "Computing the map…"
    qtbot.waitUntil(lambda: view.found is not None, timeout=WAIT)
    qtbot.waitUntil(lambda: bool(session.predict.ranking), timeout=WAIT)
    assert np.array_equal(panel.over.image(), drawn())
    assert panel.facts.text().startswith(f"Score of {session.predict.ranking[0][0]}: ")
    assert [panel.target.itemText(n) for n in range(3)] == ["The answer", "0", "1"]
    # Of a linear model the gradient is its weights, whatever the image.
    first = panel.over.map()
    qtbot.mouseClick(panel.methods["integrated"], LEFT)
    qtbot.waitUntil(lambda: view.found is not None and view.found.method == "integrated", timeout=WAIT)
    shown = panel.over.map()
    assert first is not None
    assert shown is not None
    assert np.allclose(np.abs(shown), first * drawn(), atol=1e-5)
    assert "a gap of 0.00" in panel.facts.text()
    panel.target.setCurrentIndex(panel.target.findData(4))
    panel.target.activated.emit(panel.target.currentIndex())
    qtbot.waitUntil(lambda: view.found is not None and view.found.target == 4, timeout=WAIT)
    qtbot.mouseClick(panel.methods["occlusion"], LEFT)
    qtbot.waitUntil(lambda: view.found is not None and view.found.method == "occlusion", timeout=WAIT)
    assert np.isfinite(panel.over.map()).all()  # type: ignore[arg-type]
    path = tmp_path / "map.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *given: (str(path), ""))
    assert studio.actions.trigger("save_map") == ""
    qtbot.waitUntil(path.exists, timeout=WAIT)
    qtbot.waitUntil(lambda: not QImage(str(path)).isNull(), timeout=WAIT)
    qtbot.mouseClick(panel.copy_button, LEFT)
    assert not QGuiApplication.clipboard().image().isNull()
    # An empty drawing.
    session.predict_models.clear()
    assert panel.over.isHidden() or panel.over.map() is None
    assert panel.facts.text() == "Give the model an input first."
    assert not panel.save_button.isEnabled()
    page.show_why(False)
    assert session.explaining.predict._client is None  # its process has ended


def test_nan_has_no_map_and_the_reason_is_shown(stage: Stage, qtbot: QtBot, digits: Path) -> None:
    import engine.training  # noqa: F401

    studio, session = stage.studio, stage.session
    studio.frame.show_page("predict")
    studio.predict.load(str(digits))
    qtbot.waitUntil(lambda: session.predict.model is not None, timeout=WAIT)
    studio.predict_page.show_why(True)
    broken = drawn()
    broken[0, 0] = np.nan
    session.predict_models.ask(broken)
    panel = studio.predict_page.explain
    expected = "No map: 1 value of the input is NaN or infinite."
    qtbot.waitUntil(lambda: panel.facts.text() == expected, timeout=WAIT)
    assert session.explaining.predict.view.stopped == "nan"


@pytest.fixture
def panel(qtbot: QtBot) -> ExplainPanel:
    panel = ExplainPanel()
    qtbot.addWidget(panel)
    panel.resize(700, 320)
    panel.show()
    return panel


def test_methods_that_can_not_be_used_are_grey_with_the_reason(panel: ExplainPanel) -> None:
    why = "the model is quantized: it computes with integers, and integers have no gradients"
    panel.set_methods("occlusion", {"saliency": why, "integrated": why, "occlusion": ""})
    assert [name for name, chip in panel.methods.items() if chip.isEnabled()] == ["occlusion"]
    assert panel.methods["saliency"].toolTip() == why
    assert panel.reasons.text() == f"Saliency, Integrated gradients: {why}"
    assert panel.reasons.isVisible()
    panel.set_methods("saliency", {})
    assert panel.methods["saliency"].isEnabled()
    assert not panel.reasons.isVisible()


def test_each_method_has_its_options(panel: ExplainPanel) -> None:
    fields = {
        "steps": panel.steps,
        "baseline": panel.baseline,
        "size": panel.size_box,
        "stride": panel.stride,
        "color": panel.color,
        "opacity": panel.opacity,
    }

    def shown() -> set[str]:
        return {name for name, field in fields.items() if field.isVisible()}

    panel.show_options("saliency")
    assert shown() == {"opacity"}
    panel.show_options("integrated", steps=64, baseline="white")
    assert shown() == {"steps", "baseline", "opacity"}
    assert (panel.steps.value(), panel.baseline.currentText()) == (64, "White")
    panel.show_options("occlusion")
    assert shown() == {"size", "stride", "color", "opacity"}
    panel.show_options("occlusion", image=False)
    assert shown() == {"color"}
    assert [panel.color.itemData(n) for n in range(panel.color.count())] == ["mean", "zero"]


def test_values_that_code_sets_are_not_taken_for_a_choice(panel: ExplainPanel, qtbot: QtBot) -> None:
    chosen: list[tuple[str, object]] = []
    panel.option_chosen.connect(lambda name, value: chosen.append((name, value)))
    panel.show_options("integrated", steps=64, baseline="white", size=3, stride=2)
    assert chosen == []
    panel.steps.setValue(65)
    assert chosen == [("steps", 65)]


def test_outputs_are_offered_where_there_are_several(panel: ExplainPanel) -> None:
    panel.set_outputs(["scores"], 0)
    assert not panel.output.isVisible()
    panel.set_outputs(["scores", "ids"], 1)
    assert panel.output.isVisible()
    assert panel.output.currentText() == "ids"


def test_a_row_has_a_bar_for_each_column(panel: ExplainPanel) -> None:
    panel.show_bars([("age", "31", 0.5), ("income", "2", -0.25)])
    assert panel.bars.isVisible()
    assert not panel.over.isVisible()
    assert panel.save_button.isEnabled()
    assert not QImage.fromData(panel.content(), "PNG").isNull()


def test_the_tools_go_below_the_images_of_a_narrow_panel(panel: ExplainPanel, qtbot: QtBot) -> None:
    panel.show_map(drawn(), drawn())
    left = panel._tools.mapTo(panel, panel._tools.rect().topLeft()).x()
    assert left > panel.over.width()
    panel.resize(420, 600)
    qtbot.waitUntil(lambda: panel._tools.mapTo(panel, panel._tools.rect().topLeft()).x() == 0)


def test_a_limit_offers_to_allow_more(stage: Stage, qtbot: QtBot, digits: Path) -> None:
    studio, session = stage.studio, stage.session
    studio.frame.show_page("predict")
    explanations = session.explaining.predict
    panel = studio.predict_page.explain
    studio.predict_page.show_why(True)
    explanations._answered(ExplainFailed(None, "model: it took longer than 1 s; allow more", "limit"))
    assert panel.more_button.isVisibleTo(panel)
    explanations.feed(())
    assert not panel.more_button.isVisibleTo(panel)


def test_another_checkpoint_of_a_run_is_explained(stage: Stage, qtbot: QtBot, tmp_path: Path) -> None:
    import engine.training  # noqa: F401

    studio, session = stage.studio, stage.session
    folder = make_run(session.runs_folder / "run", {1: 3, 2: 5}, 2)
    session.refresh_runs()
    qtbot.waitUntil(lambda: session.listed_run(str(folder)) is not None, timeout=WAIT)
    studio.frame.show_page("predict")
    studio.predict.models.load_run(str(folder))
    qtbot.waitUntil(lambda: len(session.predict.checkpoints) == 3, timeout=WAIT)
    session.predict_models.ask(drawn())
    studio.predict_page.show_why(True)
    view = session.explaining.predict.view
    qtbot.waitUntil(lambda: view.found is not None and view.found.target == 5, timeout=WAIT)
    session.predict_models.use_checkpoint(session.predict.checkpoints[0].path)
    qtbot.waitUntil(lambda: view.found is not None and view.found.target == 3, timeout=WAIT)
