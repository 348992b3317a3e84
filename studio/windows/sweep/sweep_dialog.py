"""A sweep over the settings shown: what varies, in the words of the command line, and how many trials."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from widgets import theme
from widgets.delayed import delayed
from widgets.labels import mute
from widgets.layouts import form, vertical

CHECK_MS = 300
MOST = 5000


class SweepDialog(QDialog):
    """``check`` says what the words ask for, or what is wrong with them: (how many trials, problem).

    ``accepted_words`` carries the words, one a line, and how many combinations to draw.
    """

    accepted_words = Signal(list, int)

    def __init__(self, parent: QWidget, check: Callable[[list[str], int], tuple[int, str]]) -> None:
        super().__init__(parent)
        self._check = check
        self.setWindowTitle(self.tr("Start a sweep"))
        self.words = QPlainTextEdit()
        self.words.setFont(theme.mono_font())
        self.words.setTabChangesFocus(True)
        self.words.setMaximumHeight(6 * self.words.fontMetrics().lineSpacing())
        self.words.setPlaceholderText("lr=0.1,0.01\nbatch=32,64\nlr=log:1e-4..1e-1")
        self.words.setAccessibleName(self.tr("Settings to vary"))
        self.draws = QSpinBox()
        self.draws.setRange(0, MOST)
        self.draws.setSpecialValueText(self.tr("all"))
        self.draws.setAccessibleName(self.tr("Trials"))
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        about = mute(
            self.tr(
                "Enter one parameter per line, as on the command line: a list of values, or a range "
                "to draw from. All "
                "other settings stay as shown. The trials are added to the queue."
            ),
            wrap=True,
        )
        buttons = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(buttons.Ok | buttons.Cancel)
        self.buttons.button(buttons.Ok).setText(self.tr("Add to queue"))
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)
        rows = form(None, 0)
        rows.addRow(self.tr("Settings to &vary"), self.words)
        rows.addRow(self.tr("&Trials"), self.draws)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        for part in (about, self.outcome, self.buttons):
            layout.addWidget(part)
        layout.insertLayout(1, rows)
        self._timer = delayed(self, CHECK_MS, self.look)
        self.words.textChanged.connect(self._timer.start)
        self.draws.valueChanged.connect(self._timer.start)
        self.resize(460, self.sizeHint().height())
        self.look()

    def lines(self) -> list[str]:
        """The parameters as they are typed."""
        return [line.strip() for line in self.words.toPlainText().splitlines() if line.strip()]

    def look(self) -> bool:
        """Say what the words ask for; whether it can be trained."""
        count, problem = self._check(self.lines(), self.draws.value()) if self.lines() else (0, "")
        self.outcome.setProperty("role", "bad" if problem else "mute")
        self.outcome.style().unpolish(self.outcome)
        self.outcome.style().polish(self.outcome)
        trials = self.tr("{0} trials").format(count) if count else self.tr("Enter at least one parameter.")
        self.outcome.setText(problem or trials)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(count))
        return bool(count)

    def _accept(self) -> None:
        self._timer.stop()
        if self.look():
            self.accepted_words.emit(self.lines(), self.draws.value())
            self.accept()
