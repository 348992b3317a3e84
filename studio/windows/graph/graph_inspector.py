"""The right dock next to Graph: all about the operator or variable that is chosen."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel, QWidget

from studio.windows.controls import Facts
from widgets import theme
from widgets.labels import mute, section
from widgets.layouts import vertical

Rows = list[tuple[str, str]]


class GraphInspector(QFrame):
    """Sections of facts, each with a small title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M))
        self._empty = mute(wrap=True)
        self._layout.addWidget(self._empty)
        self._sections: list[tuple[QLabel, Facts]] = []
        self._layout.addStretch(1)
        self.show_nothing("")

    def show_nothing(self, text: str) -> None:
        """Nothing is chosen: say what comes here."""
        self.set_sections([])
        self._empty.setText(text)
        self._empty.show()

    def set_sections(self, sections: list[tuple[str, Rows]]) -> None:
        """Show these sections, each a title (or none) and its rows; those without rows are left out."""
        self._empty.hide()
        shown = [(title, rows) for title, rows in sections if rows]
        while len(self._sections) < len(shown):
            label, facts = section(), Facts()
            if self._sections:
                label.setContentsMargins(0, theme.SPACE_S, 0, 0)
            for widget in (label, facts):
                self._layout.insertWidget(self._layout.count() - 1, widget)
            self._sections.append((label, facts))
        for index, (label, facts) in enumerate(self._sections):
            title, rows = shown[index] if index < len(shown) else ("", [])
            label.setText(title)
            label.setVisible(bool(title))
            facts.set_rows(rows)
            facts.setVisible(bool(rows))

    def rows(self) -> Rows:
        """All rows that are shown, one section after the other."""
        return [row for _, facts in self._sections for row in facts.rows()]
