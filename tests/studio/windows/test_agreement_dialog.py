"""The question whether code may run shows the code; Cancel is the default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from resources.local_code import LocalCode
from studio.windows.agreement_dialog import AgreementDialog, ask_agreement
from widgets import theme

pytestmark = pytest.mark.styled
NET = b'class Net:\n    """Adds."""\n\n    def forward(self, x):\n        return x + 1\n' * 40
ANSWERS: list[str] = []


@pytest.fixture
def window(qapp: QApplication, qtbot: Any) -> QWidget:
    theme.apply_theme(qapp, "light")
    ANSWERS.clear()
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.resize(1000, 650)
    parent.show()
    return parent


def asked(
    window: QWidget, sources: dict[str, bytes], new: list[str], folder: str = "/work"
) -> AgreementDialog:
    code = LocalCode(Path(folder), sources)
    dialog = ask_agreement(window, code, new, lambda: ANSWERS.append("yes"), lambda: ANSWERS.append("no"))
    QApplication.processEvents()
    return dialog


def test_the_code_is_highlighted_with_line_numbers_and_read_only(window: QWidget) -> None:
    dialog = asked(window, {"net.py": NET}, ["net.py"])
    assert dialog.code.isReadOnly()
    assert dialog.code.code() == NET.decode().removesuffix("\n")
    colors = {
        each.format.foreground().color().name() for each in dialog.code.document().begin().layout().formats()
    }
    assert len(colors) == 2, "the keyword and the name of the class"
    assert dialog.code.viewport().x() >= dialog.code.gutter_width() > 0
    assert not dialog.files.isVisible()
    QTest.keyClicks(dialog.code, "x")
    assert dialog.code.code() == NET.decode().removesuffix("\n")


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Escape])
def test_return_and_escape_cancel(window: QWidget, key: Qt.Key) -> None:
    dialog = asked(window, {"net.py": NET}, ["net.py"])
    assert (dialog.cancel.isDefault(), dialog.allow.isDefault()) == (True, False)
    QTest.keyClick(dialog.focusWidget(), key)
    assert (ANSWERS, dialog.isVisible()) == (["no"], False)


def test_allow_is_a_click(window: QWidget) -> None:
    dialog = asked(window, {"net.py": NET}, ["net.py"])
    QTest.mouseClick(dialog.findChild(QPushButton, "yes"), Qt.MouseButton.LeftButton)
    assert (ANSWERS, dialog.isVisible()) == (["yes"], False)


def test_each_file_is_shown_new_ones_first(window: QWidget) -> None:
    sources = {"net.py": NET, "parts/a.py": b"a = 1\n", "parts/b.py": b"b = 2\n"}
    dialog = asked(window, sources, ["parts/b.py"])
    assert [dialog.files.item(row).text() for row in range(3)] == ["parts/b.py (new)", "net.py", "parts/a.py"]
    assert dialog.windowTitle() == "Run the code in b.py?"
    assert dialog.code.code() == "b = 2"
    item = dialog.files.visualItemRect(dialog.files.item(2))
    QTest.mouseClick(dialog.files.viewport(), Qt.MouseButton.LeftButton, pos=item.center())
    assert dialog.code.code() == "a = 1"


@pytest.mark.parametrize("folder", ["/work", "/" + "/".join(["a-long-folder-name"] * 20)])
def test_it_is_usable_in_the_smallest_window(window: QWidget, folder: str) -> None:
    sources = {"net.py": NET, "parts/b.py": b"b = 2\n"}
    dialog = asked(window, sources, list(sources), folder)
    assert dialog.width() <= 1000
    assert 500 <= dialog.height() <= 650 - 60
    for part in (dialog.path, dialog.words, dialog.code, dialog.files, dialog.allow, dialog.cancel):
        place = part.rect().translated(part.mapTo(dialog, part.rect().topLeft()))
        assert dialog.rect().contains(place), part
    assert dialog.path.text() == f"{folder}/net.py"
    assert dialog.words.height() >= dialog.words.heightForWidth(dialog.words.width())
    assert dialog.code.viewport().height() >= 18 * dialog.code.fontMetrics().lineSpacing()
