"""FindBar: finds and replaces in a `CodeEditor`."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPushButton, QToolButton, QWidget

from widgets import theme
from widgets.cards import Chip
from widgets.code_view.editor import CodeEditor
from widgets.icons import icon, set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated


class FindBar(Retranslated, QWidget):
    """Hidden by default: `setFocus` (Ctrl+F) shows it, Escape hides it, Return finds the next hit."""

    def __init__(self, editor: CodeEditor, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editor = editor
        self.box, self.replacement = QLineEdit(), QLineEdit()
        for edit in (self.box, self.replacement):
            edit.setClearButtonEnabled(True)
        self._icon = self.box.addAction(icon("search", "mute"), QLineEdit.ActionPosition.LeadingPosition)
        self.count = mute()
        self.case = Chip(checkable=True)
        self.case.setChecked(False)
        self.previous_button, self.next_button, self.close_button = (
            QToolButton(),
            QToolButton(),
            QToolButton(),
        )
        self.replace_button, self.all_button = QPushButton(), QPushButton()
        set_icon(self.previous_button, "style-up")
        set_icon(self.next_button, "style-down")
        set_icon(self.close_button, "cancel", "mute")
        first, second = horizontal(None, 0, theme.SPACE_XS), horizontal(None, 0, theme.SPACE_XS)
        for widget in (self.case, self.count, self.previous_button, self.next_button, self.close_button):
            first.addWidget(widget)
        first.insertWidget(0, self.box, 1)
        second.addWidget(self.replacement, 1)
        second.addWidget(self.replace_button)
        second.addWidget(self.all_button)
        layout = vertical(self, 0, theme.SPACE_XS)
        for row in (first, second):
            layout.addLayout(row)
        self.box.textChanged.connect(lambda: self._search(stay=True))
        self.case.toggled.connect(lambda: self._search(stay=True))
        editor.textChanged.connect(self._text_changed)
        for button, action in (
            (self.next_button, self.find_next),
            (self.previous_button, self.find_previous),
            (self.replace_button, self.replace),
            (self.all_button, self.replace_all),
            (self.close_button, self.dismiss),
        ):
            button.clicked.connect(action)
        for keys, action in (("F3", self.find_next), ("Shift+F3", self.find_previous)):
            shortcut = QShortcut(QKeySequence(keys), editor, action)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
        theme.changed.connect(self._recolor)
        self.retranslate()
        self.hide()

    # finding

    def setFocus(self, *_: object) -> None:
        """Show the bar with the selected word in it, ready to type."""
        selected = self._editor.textCursor().selectedText()
        self.show()
        if selected and "\u2029" not in selected:
            self.box.setText(selected)
        self.box.selectAll()
        self.box.setFocus()
        self._search(stay=True)

    def dismiss(self) -> None:
        """Hide the bar; the caret stays at what was found."""
        self.hide()
        self._editor.set_found([])
        self._editor.setFocus()

    def matches(self) -> list[tuple[int, int]]:
        """Start and end of all places that match."""
        text = self.box.text()
        if not text:
            return []
        flags = re.NOFLAG if self.case.isChecked() else re.IGNORECASE
        return [found.span() for found in re.finditer(re.escape(text), self._editor.code(), flags)]

    def find_next(self) -> None:
        """Select the next match, from the top again after the last one."""
        self._search(stay=False)

    def find_previous(self) -> None:
        """Select the match before, from the end again before the first one."""
        found, here = self.matches(), self._editor.textCursor().selectionStart()
        before = [place for place in found if place[0] < here]
        self._select(found, (before or found)[-1] if found else None)

    def replace(self) -> None:
        """Replace the selected match and go to the next one."""
        cursor = self._editor.textCursor()
        if (cursor.selectionStart(), cursor.selectionEnd()) in self.matches():
            cursor.insertText(self.replacement.text())
        self.find_next()

    def replace_all(self) -> None:
        """Replace every match, as one step for undo."""
        cursor = QTextCursor(self._editor.document())
        cursor.beginEditBlock()
        for start, end in reversed(self.matches()):
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(self.replacement.text())
        cursor.endEditBlock()
        self._search(stay=True)

    def _search(self, stay: bool) -> None:
        found, cursor = self.matches(), self._editor.textCursor()
        here = cursor.selectionStart() if stay else cursor.selectionEnd()
        self._select(found, next((place for place in found if place[0] >= here), found[0] if found else None))

    def _select(self, found: list[tuple[int, int]], place: tuple[int, int] | None) -> None:
        self._editor.set_found(found)
        if place is not None:
            cursor = self._editor.textCursor()
            cursor.setPosition(place[0])
            cursor.setPosition(place[1], QTextCursor.MoveMode.KeepAnchor)
            self._editor.setTextCursor(cursor)
        self._show_count(found, place)

    def _show_count(self, found: list[tuple[int, int]], place: tuple[int, int] | None) -> None:
        words = ""
        if self.box.text():
            words = (
                self.tr("{0} of {1}").format(found.index(place) + 1, len(found)) if place else self.tr("none")
            )
        self.count.setText(words)
        for button in (self.next_button, self.previous_button, self.replace_button, self.all_button):
            button.setEnabled(bool(found))

    def _text_changed(self) -> None:
        if self.isVisible():
            found = self.matches()
            self._editor.set_found(found)
            cursor = self._editor.textCursor()
            here = (cursor.selectionStart(), cursor.selectionEnd())
            self._show_count(found, here if here in found else found[0] if found else None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.dismiss()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.replacement.hasFocus():
                self.replace()
            elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.find_previous()
            else:
                self.find_next()
        else:
            super().keyPressEvent(event)

    def _recolor(self) -> None:
        self._icon.setIcon(icon("search", "mute"))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.box.setPlaceholderText(tr("Find"))
        self.box.setAccessibleName(tr("Find in the source"))
        self.replacement.setPlaceholderText(tr("Replace with"))
        self.replacement.setAccessibleName(tr("Replace with"))
        self.case.setText("Aa")
        self.case.setToolTip(tr("Match capital and small letters"))
        self.case.setAccessibleName(tr("Match capital and small letters"))
        self.replace_button.setText(tr("Replace"))
        self.all_button.setText(tr("Replace all"))
        for button, words in (
            (self.next_button, tr("Next match (F3)")),
            (self.previous_button, tr("Match before (Shift+F3)")),
            (self.close_button, tr("Close the search (Esc)")),
        ):
            button.setToolTip(words)
            button.setAccessibleName(words)
