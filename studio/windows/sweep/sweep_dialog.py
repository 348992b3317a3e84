"""A sweep over the settings shown: what varies, in the words of the command line, and how many trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QSpinBox,
    QWidget,
)

from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.delayed import delayed
from widgets.labels import mute
from widgets.layouts import form, vertical

CHECK_MS = 300
# When the dialog shows that the check takes long: it reads files.
LATE_MS = 1000
MOST, USUAL = 5000, 24
MOST_SEED = 2**31 - 1


@dataclass(frozen=True)
class SweepChoices:
    """The parameters, one a line; how trials are chosen (grid, random, bayes), how many, and the seed."""

    words: tuple[str, ...]
    search: str
    trials: int
    seed: int


# Gets how many trials are asked for, what is wrong with all or with the first invalid one, and how many are
# invalid.
Answer: TypeAlias = Callable[[int, str, int], object]


class SweepDialog(FittingDialog):
    """``check`` finds how many trials the choices ask for, or what is wrong with them, and calls the answer.

    An answer about earlier choices is ignored. ``accepted_choices`` carries the choices. ``seed`` is that of
    the settings.
    """

    accepted_choices = Signal(object)

    def __init__(
        self, parent: QWidget, check: Callable[[SweepChoices, Answer], object], seed: int = 0
    ) -> None:
        super().__init__(parent)
        self._check = check
        self._asked: SweepChoices | None = None  # those whose answer is awaited
        self._accepting = False
        self.setWindowTitle(self.tr("Start a sweep"))
        self.words = QPlainTextEdit()
        self.words.setFont(theme.mono_font())
        self.words.setTabChangesFocus(True)
        self.words.setMaximumHeight(6 * self.words.fontMetrics().lineSpacing())
        self.words.setPlaceholderText("lr=0.1,0.01\nbatch=32,64\nlr=log:1e-4..1e-1")
        self.words.setAccessibleName(self.tr("Settings to vary"))
        self.search = QComboBox()
        for kind, title in (
            ("grid", self.tr("Every combination")),
            ("random", self.tr("Random draws")),
            ("bayes", self.tr("Chosen by earlier results (Bayesian)")),
        ):
            self.search.addItem(title, kind)
        self.search.setAccessibleName(self.tr("Choice of trials"))
        self.trials, self.seed = QSpinBox(), QSpinBox()
        self.trials.setRange(1, MOST)
        self.trials.setValue(USUAL)
        self.trials.setAccessibleName(self.tr("Trials"))
        self.seed.setRange(0, MOST_SEED)
        self.seed.setValue(seed)
        self.seed.setAccessibleName(self.tr("Seed"))
        self.seed.setToolTip(self.tr("Determine the choice of trials and each training"))
        self.outcome = QLabel()
        self.outcome.setWordWrap(True)
        about = mute(
            self.tr(
                "Enter one parameter per line, as on the command line: a list of values, or a range for "
                "random draws and chosen trials. All other settings stay as shown. The trials are added to "
                "the queue."
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
        rows.addRow(self.tr("&Choice of trials"), self.search)
        rows.addRow(self.tr("&Trials"), self.trials)
        rows.addRow(self.tr("S&eed"), self.seed)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        for part in (about, self.outcome, self.buttons):
            layout.addWidget(part)
        layout.insertLayout(1, rows)
        self._timer = delayed(self, CHECK_MS, self.look)
        self._late = delayed(self, LATE_MS, self._show_late)
        self.words.textChanged.connect(self._changed)
        self.search.currentIndexChanged.connect(self._changed)
        for field in (self.trials, self.seed):
            field.valueChanged.connect(self._changed)
        self.finished.connect(self._forget)
        self.resize(460, self.sizeHint().height())
        self.look()

    def choices(self) -> SweepChoices:
        """What is chosen; the parameters as they are typed."""
        lines = (line.strip() for line in self.words.toPlainText().splitlines())
        search = self.search.currentData()
        trials = 0 if search == "grid" else self.trials.value()
        return SweepChoices(tuple(filter(None, lines)), search, trials, self.seed.value())

    def look(self) -> None:
        """Show how many trials are asked for, or what is wrong, as soon as that is known."""
        choices = self.choices()
        self.trials.setEnabled(choices.search != "grid")
        self._asked = choices
        if not choices.words:
            self._take(choices, 0, "", 0)
            return
        self._late.start()
        self._check(choices, partial(self._take, choices))

    def _changed(self) -> None:
        self._forget()
        self._timer.start()

    def _forget(self) -> None:
        """Ignore the answer that is awaited."""
        self._asked, self._accepting = None, False
        self._late.stop()

    def _show_late(self) -> None:
        self._show(0, "", self.tr("Reading your model and data…"))

    def _take(self, choices: SweepChoices, count: int, problem: str, invalid: int) -> None:
        if choices != self._asked:
            return
        accepting = self._accepting and bool(count)
        self._forget()
        trials = self.tr("{0} trials").format(count) if count else self.tr("Enter at least one parameter.")
        if invalid:
            words = self.tr("{0} trials. {1} invalid combinations are omitted: {2}")
            trials, problem = words.format(count, invalid, problem), ""
        self._show(count, problem, trials)
        if accepting:
            self.accepted_choices.emit(choices)
            self.accept()

    def _show(self, count: int, problem: str, words: str) -> None:
        self.outcome.setProperty("role", "bad" if problem else "mute")
        self.outcome.style().unpolish(self.outcome)
        self.outcome.style().polish(self.outcome)
        self.outcome.setText(problem or words)
        self.buttons.button(QDialogButtonBox.StandardButton.Ok).setEnabled(bool(count))

    def _accept(self) -> None:
        self._timer.stop()
        self._accepting = True
        self.look()
