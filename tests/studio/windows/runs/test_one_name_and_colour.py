"""A run has one name and one colour in every place that shows it, read from the widgets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QLabel, QMenu, QWidget

from resources.quantities import THIN
from studio.session.runs.run_notes import read_notes
from studio.windows.runs.comparison_dialog import ComparisonDialog
from studio.windows.runs.run_notes_dialog import RunNotesDialog
from tests.studio.windows.runs.run_folders import make_run
from widgets import theme

LEFT = Qt.MouseButton.LeftButton
FIRST, SECOND = "lenet-static-001", "lenet-static-002"


@pytest.fixture
def runs(stage: Any, tmp_path: Path) -> Path:
    """Two runs of LeNet and a linear one; none is selected."""
    folder = tmp_path / "runs"
    make_run(folder / FIRST, started=1.0)
    make_run(folder / SECOND, started=2.0, learning_rate=0.01, accuracy=0.97654)
    make_run(folder / "linear-eager-003", started=3.0, model="linear", static=False)
    stage.session.refresh_runs()
    stage.window.activateWindow()
    return folder


@pytest.fixture
def click(stage: Any, runs: Path) -> Callable[..., None]:
    def click(name: str, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        shown = stage.window.project.runs
        QTest.mouseClick(shown.viewport(), LEFT, keys, shown.place_of(str(runs / name)).center())

    return click


def has_color(widget: QWidget, color: str, box: Any = None) -> bool:
    """Whether a pixel of the widget, or of a rectangle of it, has exactly this colour."""
    image = (widget.grab() if box is None else widget.grab(box)).toImage()
    wanted = QColor(color).rgb()
    return any(image.pixel(x, y) == wanted for y in range(image.height()) for x in range(image.width()))


def icon_color(box: QComboBox, place: int) -> str:
    pixmap = box.itemIcon(place).pixmap(14, 14)
    return pixmap.toImage().pixelColor(pixmap.width() // 2, pixmap.height() // 2).name().upper()


def places(stage: Any, folder: Path, name: str) -> dict[str, bool]:
    """Whether each place shows the run under this name and in its colour."""
    session, window, studio = stage.session, stage.window, stage.studio
    color = theme.run_color(session.run_color(str(folder)))
    found: dict[str, bool] = {}
    rows = window.project.runs
    found["list"] = rows.row(str(folder)).title == name
    found["colour in the list"] = has_color(rows.viewport(), color, rows.place_of(str(folder)))
    found["facts"] = dict(studio.train._panel.facts.rows())["Name"] == name
    models = studio.model_panel.models
    key = next(key for key in models.keys() if Path(key) == folder)  # noqa: SIM118  (a list)
    found["Predict"] = models.row(key).title == name
    found["colour on Predict"] = theme.run_color(models.row(key).color) == color
    page = window.current_page()
    studio.frame.show_page("export")
    box = studio.export_page.form.control("run")
    assert isinstance(box, QComboBox)
    at = next(at for at in range(box.count()) if box.itemText(at).partition(" · ")[0] == name)
    found["Export"] = box.itemText(at).endswith(f"{THIN}%")
    found["colour on Export"] = icon_color(box, at) == color
    if stage.session.export.run_folder == str(folder):
        labels = studio.export_panel.findChildren(QLabel)
        found["facts on Export"] = name in [label.text().replace("\u200b", "") for label in labels]
    studio.frame.show_page(page)
    loss = studio.train_page.loss
    chips = {chip.text(): chip for chip in loss._legend.chips.values()}
    alone = len(studio.train._chosen) == 1
    found["legend"] = ("train" if alone else name) in chips
    found["colour in the legend"] = has_color(chips["train" if alone else name], color)
    series = loss._series[str(folder)]
    found["colour of the curve"] = theme.run_color(series.color) == color
    if not alone:
        found["curve"] = series.label == name
    return {place: False for place, right in found.items() if not right}


def test_every_place_shows_the_same_name_and_colour_also_after_they_change(
    stage: Any, runs: Path, click: Callable[..., None], qtbot: Any
) -> None:
    for page in ("predict", "export", "train"):
        stage.studio.frame.show_page(page)
    click(FIRST)
    click(SECOND, Qt.KeyboardModifier.ControlModifier)
    assert places(stage, runs / SECOND, "LeNet, lr 0.01") == {}
    qtbot.waitUntil(stage.window.isActiveWindow)
    QTest.keyClick(stage.window, Qt.Key.Key_F2)
    dialog = stage.window.findChild(RunNotesDialog)
    QTest.keyClicks(dialog.name, "Fast learner")
    QTest.mouseClick(dialog.color.buttons[6], LEFT)
    QTest.mouseClick(dialog.buttons.button(QDialogButtonBox.StandardButton.Save), LEFT)
    assert stage.session.run_colors[str(runs / SECOND)] == 6
    assert places(stage, runs / SECOND, "Fast learner") == {}
    QTest.mouseClick(stage.window.project.strip.undo, LEFT)
    assert places(stage, runs / SECOND, "LeNet, lr 0.01") == {}
    assert stage.studio.actions.trigger("redo") == ""
    assert places(stage, runs / SECOND, "Fast learner") == {}
    QTest.mouseClick(stage.window.project.strip.button("compare_runs"), LEFT)
    comparison = stage.window.findChild(ComparisonDialog)
    heads = [comparison.table.horizontalHeaderItem(column) for column in (1, 2)]
    assert [head.text() for head in heads] == ["Fast learner", "LeNet"]
    colors = [theme.run_color(6), theme.run_color(0)]
    assert [icon_color(comparison.first, place) for place in (0, 1)] == colors
    assert [head.icon().pixmap(14, 14).toImage().pixelColor(7, 7).name().upper() for head in heads] == colors
    comparison.close()


def test_a_colour_is_chosen_in_the_menu_of_a_run(stage: Any, runs: Path, click: Callable[..., None]) -> None:
    click(FIRST)
    menu: QMenu = stage.studio.runs.doings.menu(str(runs / FIRST))
    colors = next(action.menu() for action in menu.actions() if action.text() == "Colour")
    assert isinstance(colors, QMenu)
    marked = [action.text() for action in colors.actions() if action.isChecked()]
    assert marked == ["Default colour"]
    colors.popup(QPoint(0, 0))
    teal = next(action for action in colors.actions() if action.text() == "Teal")
    QTest.mouseClick(colors, LEFT, pos=colors.actionGeometry(teal).center())
    assert read_notes(runs / FIRST)[0].color == 4
    shown = stage.window.project.runs
    assert has_color(shown.viewport(), theme.run_color(4), shown.place_of(str(runs / FIRST)))
    menu.close()
    assert stage.studio.actions.trigger("undo") == ""
    assert read_notes(runs / FIRST)[0].color is None


def test_deleting_a_run_changes_no_other_colour(stage: Any, runs: Path, click: Callable[..., None]) -> None:
    before = dict(stage.session.run_colors)
    click(FIRST)
    stage.session.run_changes.to_trash = lambda folder: folder.rename(runs.parent / folder.name)
    QTest.keyClick(stage.window.project.runs, Qt.Key.Key_Delete)
    del before[str(runs / FIRST)]
    assert stage.session.run_colors == before
