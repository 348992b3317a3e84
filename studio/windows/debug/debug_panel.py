"""The right dock next to Debug: which batch, when to stop, breakpoints, watches and changed values."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QWidget,
)

from resources.words import shown
from studio.session.debug.breakpoints import Breakpoint
from studio.windows.controls import ValueLabel
from studio.windows.debug.conditions_form import ConditionsForm
from widgets import theme
from widgets.flow import FlowLayout
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.param_form import Field, ParamForm
from widgets.retranslated import Retranslated

ROWS = 5  # of a list before it scrolls


class _Rows(QListWidget):
    """As high as its rows, up to ROWS; ``removed`` carries the row of the Delete key."""

    removed = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.fit()

    def fit(self) -> None:
        """Take the height of the rows."""
        high = self.sizeHintForRow(0) if self.count() else theme.CONTROL_HEIGHT
        self.setFixedHeight(max(1, min(self.count(), ROWS)) * high + 4)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.currentRow() >= 0:
            self.removed.emit(self.currentRow())
        else:
            super().keyPressEvent(event)


class DebugPanel(Retranslated, QFrame):
    """``breakpoint_switched`` and the others carry the row of a breakpoint, ``watch_removed`` and
    ``value_chosen`` the name of a value."""

    breakpoint_switched = Signal(int, bool)
    breakpoint_opened = Signal(int)
    breakpoint_removed = Signal(int)
    watch_removed = Signal(str)
    value_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "panel")
        self.subject = ValueLabel()
        self.form = ParamForm(
            [
                Field("checkpoint", "", "choice", None, choices=((None, "\u2013"),)),
                Field("batch", "", "int", None, minimum=1, maximum=10**12, optional=True),
                Field("batches", "", "int", 1, minimum=1, maximum=10**6, unit="batches"),
            ]
        )
        self.conditions = ConditionsForm()
        self.breakpoints, self.watches, self.changes = _Rows(), _Rows(), _Rows()
        self.edit, self.remove = QPushButton(), QPushButton()
        self._titles = [section() for _ in range(5)]
        self._no_breakpoints, self._no_watches, self._no_changes = (mute(wrap=True) for _ in range(3))
        self._why, self._steps = mute(wrap=True), list[int]()
        self._build()
        self.retranslate()
        self.set_breakpoints([])
        self.set_watches([])
        self.set_changes([])

    def _build(self) -> None:
        layout = vertical(self, (theme.SPACE_M, 0, theme.SPACE_M, theme.SPACE_M), theme.SPACE_XS)
        buttons = QWidget()
        flow = FlowLayout(buttons, theme.SPACE_XS)
        flow.addWidget(self.edit)
        flow.addWidget(self.remove)
        parts: tuple[tuple[QWidget, ...], ...] = (
            (self.subject, self.form),
            (self.conditions,),
            (self._no_breakpoints, self.breakpoints, self._why, buttons),
            (self._no_watches, self.watches),
            (self._no_changes, self.changes),
        )
        for place, (title, widgets) in enumerate(zip(self._titles, parts, strict=True)):
            title.setContentsMargins(0, theme.SPACE_S if place else 0, 0, 0)
            layout.addWidget(title)
            for widget in widgets:
                layout.addWidget(widget)
        layout.addStretch(1)
        self.breakpoints.itemChanged.connect(self._switch)
        self.breakpoints.itemActivated.connect(lambda item: self.breakpoint_opened.emit(self._row(item)))
        self.breakpoints.currentRowChanged.connect(lambda _: self._show_breakpoint())
        self.breakpoints.removed.connect(self.breakpoint_removed)
        self.edit.clicked.connect(lambda: self.breakpoint_opened.emit(self.breakpoints.currentRow()))
        self.remove.clicked.connect(lambda: self.breakpoint_removed.emit(self.breakpoints.currentRow()))
        for rows_of in (self.watches, self.changes):
            rows_of.itemClicked.connect(lambda item: self.value_chosen.emit(_name(item)))
            rows_of.itemActivated.connect(lambda item: self.value_chosen.emit(_name(item)))
        self.watches.removed.connect(lambda row: self.watch_removed.emit(_name(self.watches.item(row))))

    # ----- which batch -----

    def set_subject(self, title: str, checkpoints: Sequence[int], batch: bool) -> None:
        """What Start debugs: of a run with the steps of its ``checkpoints``; ``batch`` is whether one can be
        chosen."""
        self.subject.set_value(title)
        if list(checkpoints) != self._steps:
            self._steps = list(checkpoints)
            self.form.set_value("checkpoint", None)
        self._show_checkpoints()
        self.form.set_row_visible("checkpoint", bool(self._steps))
        self.form.set_row_visible("batch", batch)

    def _show_checkpoints(self) -> None:
        steps = tuple((step, self.tr("Step {0}").format(step)) for step in reversed(self._steps))
        self.form.set_choices("checkpoint", ((None, self.tr("automatic")), *steps))

    def chosen_batch(self) -> tuple[int, int]:
        """The step of the checkpoint and the number of the batch; -1 where it is left open."""
        step, number = (self.form.value(key) for key in ("checkpoint", "batch"))
        chosen = step if isinstance(step, int) and step in self._steps else -1
        return chosen, number if isinstance(number, int) else -1

    def batches(self) -> int:
        """How many batches Until NaN looks at."""
        return int(str(self.form.value("batches")))

    # ----- breakpoints -----

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Show these."""
        row = self.breakpoints.currentRow()
        with QSignalBlocker(self.breakpoints):
            self.breakpoints.clear()
            for each in breakpoints:
                item = QListWidgetItem(self._words(each))
                item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
                item.setCheckState(Qt.CheckState.Checked if each.enabled else Qt.CheckState.Unchecked)
                item.setToolTip(shown(each.refused) or each.name)
                item.setData(Qt.ItemDataRole.UserRole, shown(each.refused))
                self.breakpoints.addItem(item)
            self.breakpoints.setCurrentRow(min(row, len(breakpoints) - 1))
        self.breakpoints.fit()
        self.breakpoints.setVisible(bool(breakpoints))
        self._no_breakpoints.setVisible(not breakpoints)
        self._show_breakpoint()

    def _words(self, each: Breakpoint) -> str:
        words = [each.name]
        if each.hits > 1:
            words.append(self.tr("from hit {0}").format(each.hits))
        if each.condition is not None:
            words.append(self.tr("with a condition"))
        if each.hit:
            words.append(self.tr("hit {0}\u00d7").format(each.hit))
        if each.refused:
            words.append(self.tr("not here"))
        return " \u00b7 ".join(words)

    def _row(self, item: QListWidgetItem) -> int:
        return self.breakpoints.row(item)

    def _switch(self, item: QListWidgetItem) -> None:
        self.breakpoint_switched.emit(self._row(item), item.checkState() == Qt.CheckState.Checked)

    def _show_breakpoint(self) -> None:
        item = self.breakpoints.currentItem()
        refused = "" if item is None else str(item.data(Qt.ItemDataRole.UserRole))
        self._why.setText(refused)
        self._why.setVisible(bool(refused))
        for button in (self.edit, self.remove):
            button.setVisible(item is not None)

    # ----- watches and changes -----

    def set_watches(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names of values that are watched, each with its figures."""
        _fill(self.watches, rows)
        self._no_watches.setVisible(not rows)

    def set_changes(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names of values that were changed, each with how."""
        _fill(self.changes, rows)
        self._no_changes.setVisible(not rows)

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        words = (tr("Batch"), tr("Stop at a result"), tr("Breakpoints"), tr("Watches"), tr("Changed values"))
        for title, word in zip(self._titles, words, strict=True):
            title.setText(word)
        self.form.set_text(
            "checkpoint",
            tr("Checkpoint"),
            tr("Automatic: the last one, or the one before the step at which the run went wrong"),
        )
        self.form.set_text("batch", tr("Batch"), tr("Batches are counted as the training's steps, from 1"))
        self.form.set_placeholder("batch", tr("automatic"))
        self.form.set_unit("batches", tr("batches"))
        self.form.set_text(
            "batches", tr("Until NaN"), tr("How many batches Until NaN looks at while they are finite")
        )
        self._show_checkpoints()
        self._no_breakpoints.setText(
            tr("F9 adds one at the selected operator or line; a click on a line number does so, too.")
        )
        self._no_watches.setText(tr("A value's menu adds it: its figures are shown at each stop."))
        self._no_changes.setText(tr("Values that you change are listed here until Restart."))
        self.breakpoints.setAccessibleName(words[2])
        self.watches.setAccessibleName(words[3])
        self.changes.setAccessibleName(words[4])
        self.edit.setText(tr("Edit…"))
        self.edit.setToolTip(tr("Change the hit count and the condition"))
        self.remove.setText(tr("Remove"))


def _fill(rows_of: _Rows, rows: Sequence[tuple[str, str]]) -> None:
    with QSignalBlocker(rows_of):
        rows_of.clear()
        for name, words in rows:
            item = QListWidgetItem(f"{name}  {words}")
            item.setData(Qt.ItemDataRole.UserRole, name)
            item.setToolTip(f"{name}: {words}")
            rows_of.addItem(item)
    rows_of.fit()
    rows_of.setVisible(bool(rows))


def _name(item: QListWidgetItem) -> str:
    return str(item.data(Qt.ItemDataRole.UserRole))
