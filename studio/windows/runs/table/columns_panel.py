"""The right dock next to Runs: which columns the table has."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QWidget


class ColumnsPanel(QFrame):
    """Settings and results to choose from."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
