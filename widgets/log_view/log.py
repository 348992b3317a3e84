"""LogView: lines with their time and level, filtered by level, of bounded number."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from PySide6.QtGui import QColor, QFont, QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QPlainTextEdit,
    QToolButton,
    QWidget,
)

from widgets import theme
from widgets.delayed import delayed
from widgets.icons import set_icon
from widgets.labels import mute
from widgets.layouts import horizontal, vertical
from widgets.retranslated import Retranslated

LEVELS = ("debug", "info", "warning", "error")
TOKEN_OF_LEVEL = {"debug": "mute", "info": "mute", "warning": "warn", "error": "bad"}
FLUSH_MS = 50


class Line(NamedTuple):
    """One entry; time in seconds since 1970."""

    time: float
    level: str
    text: str


def clock_text(seconds: float) -> str:
    """Local time of day, to the second."""
    return clock.strftime("%H:%M:%S", clock.localtime(seconds))


class LogView(Retranslated, QWidget):
    """A log that keeps the last `limit` entries; new ones appear in batches, at most 20 a second.

    The view stays at its end until the user scrolls up.
    """

    def __init__(self, limit: int = 5000, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines: deque[Line] = deque(maxlen=limit)
        self._pending: deque[Line] = deque(maxlen=limit)
        self._level = 1
        self._filter, self._filter_label = QComboBox(), mute()
        self._filter_label.setBuddy(self._filter)
        self._filter.addItems([""] * len(LEVELS))
        self._filter.setCurrentIndex(self._level)
        self._filter.currentIndexChanged.connect(self._set_level_index)
        self._copy, self._clear = QToolButton(), QToolButton()
        set_icon(self._copy, "copy", "mute")
        set_icon(self._clear, "clear", "mute")
        self._copy.clicked.connect(self.copy)
        self._clear.clicked.connect(self.clear)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setUndoRedoEnabled(False)
        self._text.setMaximumBlockCount(limit)
        self._text.document().setDocumentMargin(theme.SPACE_S)
        header = horizontal(None, 0)
        for widget in (self._filter_label, self._filter):
            header.addWidget(widget)
        header.addStretch(1)
        header.addWidget(self._copy)
        header.addWidget(self._clear)
        layout = vertical(self, 0, theme.SPACE_S)
        layout.addLayout(header)
        layout.addWidget(self._text, 1)
        self._timer = delayed(self, FLUSH_MS, self.flush)
        theme.changed.connect(self._rebuild)
        self.retranslate()

    # entries

    def append(self, text: str, level: str = "info", time: float | None = None) -> None:
        """Add an entry; `level` is "debug", "info", "warning" or "error" (ValueError otherwise)."""
        if level not in LEVELS:
            raise ValueError(f"LogView.append: unknown level: {level!r}; there are {LEVELS}")
        line = Line(clock.time() if time is None else time, level, text)
        self._lines.append(line)
        if LEVELS.index(level) >= self._level:
            self._pending.append(line)
            if not self._timer.isActive():
                self._timer.start()

    def flush(self) -> None:
        """Show what has come since the last time, now."""
        self._timer.stop()
        if self._pending:
            self._write(self._pending)
            self._pending.clear()

    def clear(self) -> None:
        """Forget all entries."""
        self._lines.clear()
        self._rebuild()

    def lines(self) -> list[Line]:
        """All stored entries, including hidden ones."""
        return list(self._lines)

    def set_level(self, level: str) -> None:
        """Show entries of this level and above."""
        self._filter.setCurrentIndex(LEVELS.index(level))

    def text(self) -> str:
        """What is shown, as plain text."""
        return self._text.toPlainText()

    def copy(self) -> None:
        """Copy the selection, or all that is shown."""
        cursor = self._text.textCursor()
        chosen = cursor.selectedText().replace("\u2029", "\n") if cursor.hasSelection() else self.text()
        QGuiApplication.clipboard().setText(chosen)

    # looks

    def _set_level_index(self, index: int) -> None:
        self._level = index
        self._rebuild()

    def _rebuild(self) -> None:
        self._text.setFont(theme.mono_font())
        self._text.clear()
        self._pending.clear()
        self._write(line for line in self._lines if LEVELS.index(line.level) >= self._level)

    def _write(self, lines: Iterable[Line]) -> None:
        tokens = theme.current()
        bar = self._text.verticalScrollBar()
        follows = bar.value() >= bar.maximum() - 2
        plain, quiet, word = QTextCharFormat(), QTextCharFormat(), QTextCharFormat()
        plain.setForeground(QColor(tokens.text))
        quiet.setForeground(QColor(tokens.mute))
        words = self._level_words()
        cursor = QTextCursor(self._text.document())
        cursor.beginEditBlock()
        cursor.movePosition(QTextCursor.MoveOperation.End)
        for line in lines:
            if cursor.position():
                cursor.insertBlock()
            color = getattr(tokens, TOKEN_OF_LEVEL[line.level])
            # The colour of warnings is too light for words on a light ground.
            word.setForeground(
                theme.mix(color, tokens.text, 0.3) if line.level == "warning" else QColor(color)
            )
            loud = line.level in ("warning", "error")
            word.setFontWeight(QFont.Weight.DemiBold if loud else QFont.Weight.Normal)
            cursor.insertText(f"{clock_text(line.time)}  ", quiet)
            cursor.insertText(f"{words[line.level]:<8}", word)
            cursor.insertText(line.text.rstrip("\n"), plain)
        cursor.endEditBlock()
        if follows:
            bar.setValue(bar.maximum())

    def _level_words(self) -> dict[str, str]:
        return {
            "debug": self.tr("debug", "log"),
            "info": self.tr("info", "log"),
            "warning": self.tr("warning", "log"),
            "error": self.tr("error", "log"),
        }

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        names = (self.tr("Everything"), self.tr("Information"), self.tr("Warnings"), self.tr("Errors"))
        for index, name in enumerate(names):
            self._filter.setItemText(index, name)
        self._filter_label.setText(self.tr("Show"))
        self._filter.setAccessibleName(self.tr("Lowest level shown"))
        self._text.setAccessibleName(self.tr("Log"))
        self._rebuild()
        for button, name in ((self._copy, self.tr("Copy the log")), (self._clear, self.tr("Clear the log"))):
            button.setToolTip(name)
            button.setAccessibleName(name)
