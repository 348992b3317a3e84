"""Tokens, their contrast, the change at run time, and icons."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QDialogButtonBox, QPushButton, QRadioButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

import resources
from widgets import theme
from widgets.icons import icon_pixmap, set_icon
from widgets.style import style_sheet


def luminance(color: str) -> float:
    parts = [c / 255 for c in QColor(color).getRgb()[:3]]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("tokens", [theme.LIGHT, theme.DARK], ids=["light", "dark"])
def test_text_is_readable(tokens: theme.Tokens) -> None:
    grounds = (tokens.ground, tokens.panel, tokens.field, tokens.code)
    syntax = vars(tokens.syntax).values()
    for ground in grounds:
        for text in (tokens.text, tokens.mute, tokens.accent, *syntax):
            assert contrast(text, ground) >= 4.5, (text, ground)
    assert contrast(tokens.text, tokens.selection) >= 4.5
    assert contrast(tokens.on_accent, tokens.accent) >= 4.5
    for word in (tokens.ok, tokens.bad):
        assert contrast(word, tokens.panel) >= 4.5
    for run in (*tokens.runs, tokens.warn):
        assert contrast(run, tokens.panel) >= 3


def test_change_reaches_palette_and_listeners(qapp: QApplication, qtbot: QtBot) -> None:
    with qtbot.waitSignal(theme.changed):
        theme.apply_theme(qapp, "dark")
    assert theme.current() is theme.DARK
    assert qapp.palette().color(QPalette.ColorRole.Window).name().upper() == theme.DARK.ground
    assert theme.DARK.accent in qapp.styleSheet()
    assert theme.LIGHT.accent not in qapp.styleSheet()


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_radio_button_shows_whether_it_is_checked_also_with_the_focus(
    qapp: QApplication, qtbot: QtBot, mode: str
) -> None:
    theme.apply_theme(qapp, mode)  # type: ignore[arg-type]
    button = QRadioButton("Light")
    qtbot.addWidget(button)
    button.show()
    button.activateWindow()
    button.setFocus()
    qtbot.waitUntil(button.hasFocus)
    accents = []
    for checked in (False, True):
        button.setChecked(checked)
        image = button.grab().toImage().copy(3, 3, 12, 12)  # within the border
        colors = [image.pixelColor(x, y).name().upper() for x in range(12) for y in range(12)]
        accents.append(colors.count(theme.current().accent.upper()))
    assert accents[1] > accents[0] + 20


def test_a_spin_box_at_its_end_shows_both_arrows(qapp: QApplication, qtbot: QtBot) -> None:
    box = QSpinBox()
    qtbot.addWidget(box)
    theme.apply_theme(qapp, "light")
    box.setRange(0, 9)
    box.resize(90, 28)
    box.show()
    image = box.grab().toImage()
    ground = image.pixelColor(image.width() - 18, image.height() // 2)
    for half in (range(5, image.height() // 2 - 1), range(image.height() // 2 + 1, image.height() - 5)):
        columns = range(image.width() - 16, image.width() - 5)
        assert any(image.pixelColor(x, y) != ground for x in columns for y in half)


def test_buttons_of_dialogs_have_no_icons_of_the_system(qapp: QApplication, qtbot: QtBot) -> None:
    theme.apply_theme(qapp, "light")
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
    qtbot.addWidget(buttons)
    buttons.show()
    assert all(button.icon().isNull() for button in buttons.buttons())


def test_each_widget_changes_a_few_times_however_deep(qapp: QApplication, qtbot: QtBot) -> None:
    """Not once for each widget around it: the main window took 1.1 s for it."""
    theme.apply_theme(qapp, "light")
    inner = outer = QWidget()
    qtbot.addWidget(outer)
    for _ in range(12):
        inner = QWidget(inner)
    outer.show()
    seen: list[QEvent.Type] = []

    class Counter(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            own = watched is outer or (isinstance(watched, QWidget) and outer.isAncestorOf(watched))
            if own and event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
                seen.append(event.type())
            return False

    counter = Counter()
    qapp.installEventFilter(counter)
    theme.apply_theme(qapp, "dark")
    qapp.removeEventFilter(counter)
    assert 13 <= len(seen) <= 6 * 13


def test_unknown_mode_is_refused(qapp: QApplication) -> None:
    with pytest.raises(ValueError, match="unknown mode: 'blue'"):
        theme.apply_theme(qapp, "blue")  # type: ignore[arg-type]
    assert theme.mode() == "light"


def test_run_colors_follow_the_theme(qapp: QApplication) -> None:
    assert theme.run_color(1) == "#E85708"
    theme.apply_theme(qapp, "dark")
    assert theme.run_color(1) == theme.DARK.runs[1]
    assert theme.run_color("#E85708") == theme.DARK.runs[1]
    assert theme.run_color("#123456") == "#123456"
    assert theme.run_color(len(theme.DARK.runs)) == theme.DARK.runs[0]


def test_every_image_of_the_style_sheet_exists() -> None:
    folder = Path(resources.folder("icons"))
    for tokens in (theme.LIGHT, theme.DARK):
        names = set(re.findall(r"url\(icons:([^)]+)\)", style_sheet(tokens)))
        assert names
        assert [name for name in names if not (folder / name).is_file()] == []


def test_icons_are_tinted_and_follow(qapp: QApplication, qtbot: QtBot) -> None:
    def ink(button: QPushButton) -> str:
        image = button.icon().pixmap(16, 16).toImage()
        pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
        return max(pixels, key=QColor.alpha).name().upper()

    button = QPushButton()
    qtbot.addWidget(button)
    set_icon(button, "stop", "bad")
    assert ink(button) == theme.LIGHT.bad
    theme.apply_theme(qapp, "dark")
    assert ink(button) == theme.DARK.bad
    set_icon(button, "stop", "ok")
    assert ink(button) == theme.DARK.ok


def test_all_icons_draw_something() -> None:
    for path in Path(resources.folder("icons")).glob("*.svg"):
        image = icon_pixmap(path.stem, "#FF0000", 16, 2.0).toImage()
        assert any(image.pixelColor(x, y).alpha() for x in range(32) for y in range(32)), path.name


def test_unknown_icon_is_named() -> None:
    with pytest.raises(ValueError, match="no such icon: 'nothing'"):
        icon_pixmap("nothing", "#000000")
