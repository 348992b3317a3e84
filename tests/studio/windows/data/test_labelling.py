"""Labelling with real clicks and keys: from a dropped folder of images to a trained run."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from tests.engine.training.sources.images.test_labels import flat
from tests.studio.windows.data.test_own_data import WAIT_MS, opened, stage, trained

__all__ = ["stage"]


def press(widget, *keys):
    for key in keys:
        QTest.keyClick(widget, key)


def tile(page, file):
    (item,) = [item for row in range(page.tiles.count()) if (item := page.tiles.item(row)).toolTip() == file]
    return item


def click(page, file, modifier=Qt.KeyboardModifier.NoModifier):
    place = page.tiles.visualItemRect(tile(page, file)).center()
    QTest.mouseClick(page.tiles.viewport(), Qt.MouseButton.LeftButton, modifier, place)


def add_classes(page, *names):
    for name in names:
        QTest.keyClicks(page.name, name)
        press(page.name, Qt.Key.Key_Return)


def test_images_are_labelled_by_keys_and_clicks_and_trained(stage, qtbot, tmp_path):
    opened(stage, qtbot, flat(tmp_path / "own", 12), "labelling")
    page, actions = stage.studio.data_page.labelling, stage.studio.actions
    assert page.isVisible()
    assert stage.window.focusWidget() is page.name
    add_classes(page, "dark", "bright")
    press(page.name, Qt.Key.Key_Return)
    assert stage.window.focusWidget() is page.tiles
    press(page.tiles, Qt.Key.Key_1, Qt.Key.Key_2)
    assert [tile(page, f"{number}.png").text() for number in (0, 1, 10)] == ["dark", "bright", "\u2013"]
    assert page.selected() == ("10.png",)  # names are in the order of the alphabet
    assert "two images in each of two classes" in page.reason.text()
    train = stage.studio._bars["data"].buttons["train_labelled"]
    assert not train.isEnabled()
    click(page, "3.png")
    click(page, "5.png", Qt.KeyboardModifier.ControlModifier)
    bright = page.classes.topLevelItem(1)
    place = page.classes.visualItemRect(bright).center()
    QTest.mouseClick(page.classes.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert page.progress.text() == "4 of 12 labelled"
    assert bright.text(2) == "3"
    stage.window.activateWindow()
    qtbot.waitUntil(stage.window.isActiveWindow, timeout=WAIT_MS)
    QTest.keyClick(stage.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert page.progress.text() == "2 of 12 labelled"
    assert page.selected() == ("3.png", "5.png")
    press(page.tiles, Qt.Key.Key_2)
    for number in (2, 4, 6, 8, 10):
        click(page, f"{number}.png")
        press(page.tiles, Qt.Key.Key_1)
    for number in (7, 9):
        click(page, f"{number}.png")
        press(page.tiles, Qt.Key.Key_2)
    assert page.selected() == ("11.png",)
    press(page.tiles, Qt.Key.Key_Delete)
    assert (tile(page, "11.png").text(), page.progress.text()) == ("excluded", "11 of 11 labelled")
    assert actions.reason("next_unlabelled") == ""
    qtbot.mouseClick(train, Qt.MouseButton.LeftButton)
    assert stage.window.current_page() == "train"
    config = trained(stage, qtbot)
    assert config["data"] == str(tmp_path / "own")
    qtbot.waitUntil(lambda: stage.session.train.state == "finished", timeout=WAIT_MS)


def test_the_filter_shows_what_is_left_and_an_empty_state(stage, qtbot, tmp_path):
    opened(stage, qtbot, flat(tmp_path / "own", 3), "labelling")
    page = stage.studio.data_page.labelling
    add_classes(page, "dark", "bright", "dark")
    assert page.name.text() == "dark"  # there is one already
    page.name.clear()
    assert page.classes.topLevelItemCount() == 2
    page.filter.setCurrentIndex(1)
    page.filter.activated.emit(1)
    press(page.tiles, Qt.Key.Key_2)
    assert [page.tiles.item(row).toolTip() for row in range(page.tiles.count())] == ["1.png", "2.png"]
    press(page.tiles, Qt.Key.Key_Space)
    assert page.selected() == ("2.png",)
    press(page.tiles, Qt.Key.Key_1, Qt.Key.Key_9, Qt.Key.Key_1)
    assert page.empty.isVisible()
    assert not page.tiles.isVisible()
    qtbot.mouseClick(page.empty.button, Qt.MouseButton.LeftButton)
    assert page.tiles.count() == 3
    click(page, "0.png")
    press(page.tiles, Qt.Key.Key_Backspace)
    assert tile(page, "0.png").text() == "\u2013"
    press(page.classes, Qt.Key.Key_Down, Qt.Key.Key_Return)
    assert page.progress.text() == "3 of 3 labelled"


def test_a_class_is_renamed_in_the_list(stage, qtbot, tmp_path):
    opened(stage, qtbot, flat(tmp_path / "own", 3), "labelling")
    page = stage.studio.data_page.labelling
    add_classes(page, "drak", "bright")
    press(page.tiles, Qt.Key.Key_1)
    for typed, expected in (("dark", "dark"), ("bright", "dark")):
        page.classes.editItem(page.classes.topLevelItem(0), 1)
        field = page.classes.findChild(QLineEdit)
        field.setText(typed)
        press(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: page.classes.findChild(QLineEdit) is None, timeout=WAIT_MS)
        assert page.classes.topLevelItem(0).text(1) == expected
    assert tile(page, "0.png").text() == "dark"


def test_labels_are_changed_later_by_the_button_of_the_page(stage, qtbot, tmp_path):
    opened(stage, qtbot, flat(tmp_path / "own", 5), "labelling")
    page, bar = stage.studio.data_page.labelling, stage.studio._bars["data"]
    add_classes(page, "dark", "bright")
    press(page.tiles, Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_1)
    assert not bar.buttons["finish_labelling"].isEnabled()
    press(page.tiles, Qt.Key.Key_2)
    qtbot.mouseClick(bar.buttons["finish_labelling"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: stage.session.data.state == "ready", timeout=WAIT_MS)
    assert stage.studio.data_page.balance.isVisible()
    assert not bar.buttons["train_labelled"].isVisible()
    qtbot.mouseClick(bar.buttons["label_images"], Qt.MouseButton.LeftButton)
    qtbot.waitUntil(page.isVisible, timeout=WAIT_MS)
    assert page.progress.text() == "4 of 5 labelled"
    assert stage.window.focusWidget() is page.tiles


def test_the_classes_are_next_to_the_images_or_above_them(stage, qtbot, tmp_path):
    stage.window.resize(1280, 800)
    opened(stage, qtbot, flat(tmp_path / "own", 3), "labelling")
    page = stage.studio.data_page.labelling
    for width, abreast in ((1280, True), (1000, False), (1280, True)):
        stage.window.resize(width, 800)
        qtbot.waitUntil(lambda abreast=abreast: (page.classes_card.x() > 0) == abreast)
        area = stage.studio.data_page.parentWidget().rect()
        assert (
            page.classes_card.mapTo(stage.studio.data_page, page.classes_card.rect().topRight()).x()
            < area.width()
        )


def test_classes_are_typed_and_backspace_returns_to_the_image_before(stage, qtbot, tmp_path):
    opened(stage, qtbot, flat(tmp_path / "own", 6), "labelling")
    page = stage.studio.data_page.labelling

    def activate():
        stage.window.activateWindow()
        qtbot.waitUntil(stage.window.isActiveWindow, timeout=WAIT_MS)

    def one(key):
        QTest.keyClick(stage.window.focusWidget(), key)

    def keys(text):
        for each in text:
            QTest.keyClicks(stage.window.focusWidget(), each)

    keys("dark")
    one(Qt.Key.Key_Return)
    one(Qt.Key.Key_Return)
    assert stage.window.focusWidget() is page.tiles
    one(Qt.Key.Key_1)
    keys("bright")
    assert (page.name.text(), stage.window.focusWidget() is page.name) == ("bright", True)
    one(Qt.Key.Key_Return)
    one(Qt.Key.Key_Return)
    keys("121")
    assert page.progress.text() == "4 of 6 labelled"
    assert page.selected() == ("4.png",)
    one(Qt.Key.Key_Backspace)
    assert (page.selected(), page.progress.text()) == (("3.png",), "4 of 6 labelled")
    one(Qt.Key.Key_Backspace)
    assert (page.selected(), page.progress.text()) == (("3.png",), "3 of 6 labelled")
    one(Qt.Key.Key_Backspace)
    assert (page.selected(), page.progress.text()) == (("2.png",), "3 of 6 labelled")
    keys("1")
    assert [tile(page, f"{n}.png").text() for n in range(4)] == ["dark", "dark", "dark", "\u2013"]
    assert page.selected() == ("3.png",)
    activate()
    QTest.keyClick(stage.window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert (page.selected(), tile(page, "2.png").text()) == (("2.png",), "bright")
    page.filter.setFocus()
    one(Qt.Key.Key_Down)
    page.filter.activated.emit(page.filter.currentIndex())
    assert [page.tiles.item(row).toolTip() for row in range(page.tiles.count())] == [
        "3.png",
        "4.png",
        "5.png",
    ]
    page.tiles.setFocus()
    keys("221")
    assert page.empty.isVisible()
    activate()
    QTest.keyClick(stage.window, Qt.Key.Key_F5)
    view = stage.session.train
    qtbot.waitUntil(lambda: view.state in ("finished", "failed", "crashed"), timeout=WAIT_MS)
    assert view.state == "finished", view.last_problem
    assert sorted(view.classes) == ["bright", "dark"]
