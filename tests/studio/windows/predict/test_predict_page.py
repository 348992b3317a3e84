"""The page Predict as a person uses it: models that stay in place."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from engine import nn
from tests.robust.untrusted_models import saved
from tests.studio.windows.conftest import Stage

WAIT = 60_000


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two saved models of digits."""
    folder = tmp_path_factory.mktemp("models")
    return [saved(nn.Sequential(nn.Flatten(), nn.Linear(784, 10)), folder / name) for name in ("one", "two")]


@pytest.fixture
def page(stage: Stage) -> Stage:
    import engine.training  # noqa: F401  (the window has it by then)

    stage.studio.frame.show_page("predict")
    return stage


def test_a_folder_of_images_becomes_a_table(
    page: Stage, qtbot: QtBot, digits: list[Path], tmp_path: Path
) -> None:
    from PIL import Image, ImageDraw

    view, panel = page.session.predict, page.studio.model_panel.many
    assert panel.isHidden()
    page.studio.predict.load(str(digits[0]))
    qtbot.waitUntil(lambda: view.model is not None, timeout=WAIT)
    folder = tmp_path / "pictures"
    folder.mkdir()
    for number in range(3):
        image = Image.new("L", (40, 40), 255)
        ImageDraw.Draw(image).line((10, 10, 10 + 5 * number, 30), fill=0, width=4)
        image.save(folder / f"{number}.png")
    out = tmp_path / "out.csv"
    page.studio.predict.many.start(str(folder), str(out))
    assert not panel.folder_button.isEnabled()
    qtbot.waitUntil(lambda: panel.words.text() == f"3 predicted into {out}", timeout=WAIT)
    assert panel.folder_button.isEnabled()
    assert len(out.read_text().splitlines()) == 4


def test_the_models_list_does_not_reorder_under_the_pointer(
    page: Stage, qtbot: QtBot, digits: list[Path]
) -> None:
    view, models = page.session.predict, page.studio.model_panel.models
    for prefix in digits:
        page.studio.predict.load(str(prefix))
        qtbot.waitUntil(lambda: not view.loading, timeout=WAIT)
    before = models.keys()
    assert set(before) == {str(prefix) for prefix in digits}
    other = next(place for place, key in enumerate(before) if view.model and key != view.model.prefix)
    middle = models.place_of(before[other]).center()
    qtbot.mouseClick(models.viewport(), Qt.MouseButton.LeftButton, pos=middle)
    qtbot.waitUntil(lambda: view.model is not None and view.model.prefix == before[other], timeout=WAIT)
    assert models.keys() == before
    assert models.chosen() == [before[other]]
