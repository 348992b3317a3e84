"""The page Predict with a model that never ends: the window answers, the model is cancelled or stopped."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from engine.core.models.limits import ENVIRONMENT
from engine.inference import process
from tests.robust.untrusted_models import Endless, image, saved, unsign
from tests.studio.windows.conftest import Stage

WAIT = 60_000
CALM, BRIGHT = (image(brightness).reshape(28, 28) for brightness in (0.1, 1.0))


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unsign(saved(Endless(), tmp_path_factory.mktemp("endless") / "endless"))


class Ticks:
    """A timer of the window and the longest time between two of its ticks."""

    def __init__(self) -> None:
        self.longest = 0.0
        self._last = time.monotonic()
        self._timer = QTimer()
        self._timer.setInterval(5)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now = time.monotonic()
        self.longest, self._last = max(self.longest, now - self._last), now


@pytest.fixture
def page(stage: Stage, qapp: QApplication) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def test_a_stuck_model_leaves_the_window_alone_and_is_cancelled(
    page: Stage, qtbot: QtBot, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "seconds=1e6, steps=1e17")
    view, shown = page.session.predict, page.studio.predict_page
    ticks = Ticks()
    page.studio.predict.load(f"{endless}.pdmodel")
    qtbot.waitUntil(lambda: view.model is not None, timeout=WAIT)
    page.session.predict_models.ask(BRIGHT)
    qtbot.waitUntil(shown.cancel_button.isVisible, timeout=WAIT)
    assert shown.detail.text() == "The model computes…"
    for number in range(50):  # drawing goes on meanwhile
        page.session.predict_models.ask(np.full((28, 28), number / 100, np.float32))
    begin = time.monotonic()
    shown.cancel_button.click()
    qtbot.waitUntil(lambda: not view.asking, timeout=WAIT)
    assert time.monotonic() - begin < 1.0
    assert ticks.longest < 0.5
    assert shown.detail.text() == "Cancelled."
    assert not shown.cancel_button.isVisible()
    view.fed = (CALM,)
    assert shown.again_button.text() == "Try again"
    shown.again_button.click()
    qtbot.waitUntil(lambda: len(shown.bars.rows()) == 10, timeout=WAIT)
    assert not shown.again_button.isVisible()
    page.studio.model_panel.graph_button.click()
    qtbot.waitUntil(lambda: not page.session.graph.loading, timeout=WAIT)
    kinds = [operator.type for operator in page.studio.graph_page.tree.program().blocks[0].operators]
    assert "while" in kinds


def test_over_the_limit_the_page_says_so_and_allows_more(
    page: Stage, qtbot: QtBot, endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, "seconds=1, steps=100")
    monkeypatch.setattr(process, "MORE_SECONDS", 0.5)
    view, shown = page.session.predict, page.studio.predict_page
    page.studio.predict.load(str(endless))
    qtbot.waitUntil(lambda: view.model is not None, timeout=WAIT)
    page.session.predict_models.ask(BRIGHT)
    qtbot.waitUntil(lambda: view.stopped == "limit", timeout=WAIT)
    assert "choose Allow more" in shown.detail.text()
    assert shown.again_button.isVisible()
    assert shown.again_button.text() == "Allow more"
