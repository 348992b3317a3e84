"""What every widget owes: a demo, no engine, named controls, words that follow the language and fit."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTranslator
from PySide6.QtWidgets import QAbstractButton, QApplication, QComboBox, QLabel, QLineEdit, QSlider, QWidget
from pytestqt.qtbot import QtBot

import widgets
from widgets import theme

ROOT = Path(widgets.__file__).parent
DEMOS = sorted(path.parent.name for path in ROOT.glob("*/demo.py"))


class Longer(QTranslator):
    """Makes every text of the widgets half as long again, as German would."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, source: str, disambiguation: str | None = None, n: int = -1) -> str:
        return source + " " + "x" * (len(source) // 2)


def make(name: str, qtbot: QtBot) -> QWidget:
    widget = importlib.import_module(f"widgets.{name}.demo").make()
    qtbot.addWidget(widget)
    widget.resize(640, 560)
    widget.show()
    QApplication.processEvents()
    return widget


def test_every_widget_has_a_demo() -> None:
    folders = {path.name for path in ROOT.iterdir() if (path / "__init__.py").is_file()}
    assert folders == set(DEMOS)
    assert len(DEMOS) >= 8


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_widgets_know_neither_engine_nor_studio(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        assert not [name for name in names if name.split(".")[0] in ("engine", "studio")]


@pytest.mark.parametrize("name", DEMOS)
def test_controls_have_names(name: str, qtbot: QtBot) -> None:
    widget = make(name, qtbot)
    nameless = [
        control
        for kind in (QAbstractButton, QComboBox, QLineEdit, QSlider)
        for control in widget.findChildren(kind)
        if control.isVisible()
        and not control.accessibleName()
        # A push button is read by its words; parts of Qt's own compound widgets by those around them.
        and not (isinstance(control, QAbstractButton) and control.text())
        and not control.objectName().startswith("qt_")
        and not isinstance(control.parent(), QLineEdit)
    ]
    assert nameless == []


@pytest.mark.parametrize("name", DEMOS)
def test_words_follow_the_language_and_fit(name: str, qtbot: QtBot, qapp: QApplication) -> None:
    widget = make(name, qtbot)
    translator = Longer()
    QCoreApplication.installTranslator(translator)
    try:
        QApplication.sendPostedEvents(None, QEvent.Type.LanguageChange)
        QApplication.processEvents()
        for label in widget.findChildren(QLabel):
            if label.isVisible() and not label.wordWrap():
                assert label.width() >= label.sizeHint().width(), label.text()
        for button in widget.findChildren(QAbstractButton):
            if button.isVisible() and button.text():
                assert button.width() >= button.minimumSizeHint().width(), button.text()
    finally:
        QCoreApplication.removeTranslator(translator)
        QApplication.processEvents()


@pytest.mark.parametrize("name", DEMOS)
def test_the_theme_reaches_every_pixel(name: str, qtbot: QtBot, qapp: QApplication) -> None:
    """After a change at run time the image is the one of a widget that was made under the new theme."""
    changed = make(name, qtbot)
    theme.apply_theme(qapp, "dark")
    changed.repaint()
    image = changed.grab().toImage()
    light = {theme.LIGHT.panel, theme.LIGHT.ground, theme.LIGHT.field, theme.LIGHT.hover, theme.LIGHT.code}
    found = {
        image.pixelColor(x, y).name().upper()
        for x in range(0, image.width(), 3)
        for y in range(0, image.height(), 3)
    }
    # White is also ink on the accent; as a ground it would be everywhere.
    assert found & (light - {"#FFFFFF"}) == set()
    assert theme.DARK.panel in found


def test_a_demo_saves_its_image(tmp_path: Path) -> None:
    shot = tmp_path / "bars.png"
    command = [sys.executable, "-m", "widgets.bars.demo", "--theme", "dark", "--shot", str(shot)]
    subprocess.run(command, check=True, cwd=ROOT.parent, timeout=60, capture_output=True)
    assert shot.read_bytes()[:4] == b"\x89PNG"


def test_repaints_leak_no_references(qtbot: QtBot) -> None:
    """Some releases of PySide6 lose a reference to None with every call, until the process aborts."""
    widget = make("plot", qtbot)
    before = sys.getrefcount(None)
    for _ in range(60):
        widget.repaint()
    # Objects that are immortal (3.12 and later) report a constant.
    assert sys.getrefcount(None) > before - 500
