"""The right dock next to Graph: all about the operator or variable that is chosen."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QLabel, QWidget

from studio.windows.controls import Facts
from widgets import theme
from widgets.code_view import CodeView
from widgets.labels import mute, section
from widgets.layouts import vertical

Rows = list[tuple[str, str]]
MOST_LINES = 16  # of a text of code; longer ones scroll


class GraphInspector(QFrame):
    """Sections of facts, each with a small title."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self._layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M))
        self._empty = mute(wrap=True)
        self._layout.addWidget(self._empty)
        self._sections: list[tuple[QLabel, Facts]] = []
        self._codes: list[tuple[QLabel, CodeView]] = []
        self._layout.addStretch(1)
        self.show_nothing("")

    def show_nothing(self, text: str) -> None:
        """Nothing is chosen: say what comes here."""
        self.set_sections([])
        self.set_code([])
        self._empty.setText(text)
        self._empty.show()

    def set_head(self, head: QWidget) -> None:
        """A widget above the facts."""
        self._layout.insertWidget(0, head)

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

    def set_code(self, texts: list[tuple[str, str, str]]) -> None:
        """Show texts of code below the facts: title, where it is, and the text."""
        while len(self._codes) < len(texts):
            label, view = section(), CodeView()
            label.setContentsMargins(0, theme.SPACE_S, 0, 0)
            view.setLineWrapMode(CodeView.LineWrapMode.NoWrap)
            for widget in (label, view):
                self._layout.insertWidget(self._layout.count() - 1, widget)
            self._codes.append((label, view))
        for index, (label, view) in enumerate(self._codes):
            shown = index < len(texts)
            title, place, text = texts[index] if shown else ("", "", "")
            if shown:
                label.setText(title)
                label.setToolTip(place)
                view.setToolTip(place)
                view.setAccessibleName(f"{title}, {place}")
                view.set_code(text)
                lines = min(text.count("\n") + 2, MOST_LINES)
                view.setFixedHeight(lines * view.fontMetrics().lineSpacing() + theme.SPACE_M)
            label.setVisible(shown)
            view.setVisible(shown)

    def code(self) -> list[str]:
        """The texts of code that are shown."""
        return [view.toPlainText() for label, view in self._codes if not label.isHidden()]

    def rows(self) -> Rows:
        """All rows that are shown, one section after the other."""
        return [row for _, facts in self._sections for row in facts.rows()]
