"""Activations on the page Graph as a person uses them: the chip, the pad, the boxes and the values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine import nn
from studio.windows.graph.graph_page import DIAGRAM, TREE
from tests.robust.untrusted_models import saved
from tests.studio.windows.conftest import Stage

WAIT = 60_000
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    network = nn.Sequential(nn.Conv2D(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 26 * 26, 10))
    return saved(network, tmp_path_factory.mktemp("model") / "model")


def drawn() -> np.ndarray:
    image = np.zeros((280, 280), np.float32)
    image[80:200, 120:160] = 1.0
    return image


def test_boxes_show_activations_of_the_drawing_next_to_them(stage: Stage, qtbot: QtBot, model: Path) -> None:
    import engine.training  # noqa: F401  (the window has it by then)

    studio, session = stage.studio, stage.session
    view = session.explaining.activations.view
    stage.window.resize(1280, 800)
    studio.predict.load(str(model))
    qtbot.waitUntil(lambda: session.predict.model is not None, timeout=WAIT)
    studio.frame.show_page("graph")
    page = studio.graph_page
    session.predict_models.show_program()
    qtbot.waitUntil(lambda: bool(session.graph.program), timeout=WAIT)
    page.show_view(DIAGRAM)
    drawing = session.graph_tools.diagram
    qtbot.waitUntil(lambda: drawing.shown is not None, timeout=WAIT)
    low = drawing.shown.scene.boxes[:, 3].max()  # type: ignore[union-attr]
    panel = studio.inspector.layout().itemAt(0).widget()
    assert panel.isHidden()
    qtbot.mouseClick(page.bar.activations, LEFT)
    assert panel.isVisible()
    qtbot.waitUntil(lambda: drawing.shown.scene.boxes[:, 3].max() > low, timeout=WAIT)  # type: ignore[union-attr]
    qtbot.waitUntil(lambda: panel.note.text().startswith("Draw, or choose a test sample."), timeout=WAIT)
    panel.pad.set_image(drawn())
    qtbot.waitUntil(lambda: len(view.found) > 0, timeout=WAIT)
    assert np.array_equal(studio.predict_page.pad.array() > 0, panel.pad.array() > 0)
    relu = next(n for n, op in enumerate(session.graph.program["blocks"][0]["ops"]) if op["type"] == "relu")
    node = drawing.node_of((0, relu))
    assert node is not None
    page.diagram.center_on(node)
    qtbot.waitUntil(lambda: view.found[0, relu].channels is not None, timeout=WAIT)
    picture = page.diagram._pictures.of(node)
    assert picture is not None
    assert picture.planes is not None
    assert picture.planes.values.shape[0] == 4
    assert picture.words.startswith("4 \u00d7 26 \u00d7 26 \u00b7 ")
    assert "zeros" in page.diagram.tip(page.diagram.box_rect(node).center())
    fed = page.diagram._pictures.of(len(session.graph.program["blocks"][0]["ops"]))
    assert fed is not None
    assert fed.planes is not None
    assert np.array_equal(fed.planes.values[0], session.predict.fed[0])
    # A click shows the values.
    session.graph.select(0, relu)
    qtbot.waitUntil(lambda: len(panel.tensor.image.planes().values) == 4, timeout=WAIT)
    assert panel.tensor.name() == view.found[0, relu].variable
    panel.tensor.show_kind("table")
    # So does one on a group: those of its last operator. Then the operator that was selected before again.
    studio.graph.diagram.group_selected.emit("first", [(0, 0), (0, relu - 1)])
    assert panel.tensor.name() == view.found[0, relu - 1].variable
    page.diagram.selected.emit(node)
    assert panel.tensor.name() == view.found[0, relu].variable
    panel.clear_button.click()
    assert session.predict.fed == (None,)
    qtbot.waitUntil(lambda: view.stopped == "input", timeout=WAIT)
    assert page.diagram._pictures.of(node) is None
    page.show_view(TREE)
    assert session.explaining.activations._client is None  # its process has ended
    page.show_view(DIAGRAM)
    page.bar.activations.click()
    qtbot.waitUntil(lambda: drawing.shown.scene.boxes[:, 3].max() == low, timeout=WAIT)  # type: ignore[union-attr]
    assert panel.isHidden()
