"""Dialogs are high enough for what they say."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from studio.windows.export.edit_model_dialog import EditModelDialog
from studio.windows.project.save_as_dialog import SaveAsDialog
from widgets import theme

pytestmark = pytest.mark.styled


def is_cut_off(dialog: QWidget) -> list[str]:
    """The fields of which a part is outside of what they are in."""
    QApplication.processEvents()
    lines = dialog.findChildren(QLineEdit)
    assert lines
    return [line.text() for line in lines if not line.parentWidget().rect().contains(line.geometry())]


@pytest.mark.parametrize("lines", [0, 2, 4])
def test_a_message_of_several_lines_cuts_no_field_off(qtbot: Any, qapp: QApplication, lines: int) -> None:
    theme.apply_theme(qapp, "light")
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = EditModelDialog(parent)
    dialog.resize(560, 362)
    dialog.show()
    dialog.show_state(False, "The model was written; its results are those of the edited one. " * lines)
    assert is_cut_off(dialog) == []


def test_a_long_path_cuts_no_field_off(qtbot: Any) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    dialog = SaveAsDialog(parent, "digits", "/home/someone", 3, True)
    dialog.show()
    dialog.name.setText("x" * 400)
    assert is_cut_off(dialog) == []
