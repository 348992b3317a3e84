"""The installed PySide6 keeps the references to None and True (6.12.0 on Python 3.11 does not)."""

from __future__ import annotations

import sys

import pytest


@pytest.mark.parametrize("constant", [None, True], ids=["None", "True"])
def test_void_calls_of_qt_leak_no_reference(qtbot, constant: bool | None) -> None:
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    qtbot.addWidget(widget)
    calls = 2000
    before = sys.getrefcount(constant)
    for _ in range(calls):
        widget.update()
        widget.setEnabled(True)
    lost = before - sys.getrefcount(constant)
    assert lost < calls // 10, f"{lost} references lost in {2 * calls} calls: see decision 0005"
