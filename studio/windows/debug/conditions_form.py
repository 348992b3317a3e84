"""ConditionsForm: at which results of any operator to stop."""

from __future__ import annotations

import math

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from studio.session.debug.breakpoints import Conditions
from widgets import theme
from widgets.labels import mute
from widgets.layouts import grid
from widgets.retranslated import Retranslated


class ConditionsForm(Retranslated, QWidget):
    """``changed`` carries the conditions after each change by the user. A field with an invalid text is
    marked with the reason, and its condition does not hold."""

    changed = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.not_finite, self.above, self.all_zero, self.shape_is = (QCheckBox() for _ in range(4))
        self.ignored, self.limit, self.shape = QLineEdit(), QLineEdit(), QLineEdit()
        self._ignored_label, self._problem = mute(), mute(wrap=True)
        self._ignored_label.setBuddy(self.ignored)
        layout = grid(self, 0)
        layout.setColumnStretch(1, 1)
        layout.setVerticalSpacing(theme.SPACE_XS)
        layout.addWidget(self.not_finite, 0, 0, 1, 2)
        layout.addWidget(self._ignored_label, 1, 0)
        layout.addWidget(self.ignored, 1, 1)
        layout.addWidget(self.above, 2, 0)
        layout.addWidget(self.limit, 2, 1)
        layout.addWidget(self.all_zero, 3, 0, 1, 2)
        layout.addWidget(self.shape_is, 4, 0)
        layout.addWidget(self.shape, 4, 1)
        layout.addWidget(self._problem, 5, 0, 1, 2)
        self._shown = Conditions()
        for box in (self.not_finite, self.above, self.all_zero, self.shape_is):
            box.toggled.connect(lambda _: self.commit())
        for field in (self.ignored, self.limit, self.shape):
            field.editingFinished.connect(self.commit)
        self.show_conditions(Conditions())
        self.retranslate()

    def show_conditions(self, conditions: Conditions) -> None:
        """Show these, without a signal."""
        self._shown = conditions
        boxes = (self.not_finite, self.above, self.all_zero, self.shape_is)
        on = (conditions.not_finite, conditions.above, conditions.all_zero, conditions.shape_is)
        for box, value in zip(boxes, on, strict=True):
            with QSignalBlocker(box):
                box.setChecked(value)
        self.ignored.setText(", ".join(conditions.ignored))
        self.limit.setText(f"{conditions.limit:g}")
        sizes = ("?" if size < 0 else str(size) for size in conditions.shape)
        self.shape.setText(", ".join(sizes))
        self._say("")

    def conditions(self) -> Conditions:
        """What is shown."""
        return self._shown

    def problem(self) -> str:
        """Why a field is invalid; empty where all are valid."""
        return "" if self._problem.isHidden() else self._problem.text()

    def commit(self) -> None:
        """Take over what is typed, also in the field that has the focus."""
        limit, shape, problem = self._shown.limit, self._shown.shape, ""
        try:
            limit = float(self.limit.text())
            if not 0 <= limit < math.inf:
                raise ValueError
        except ValueError:
            problem = self.tr("The limit must be a number from 0 on: got \u201c{0}\u201d").format(
                self.limit.text()
            )
            limit = self._shown.limit
        text = self.shape.text().strip().strip("[]()")
        try:
            shape = tuple(_size(part) for part in text.replace(",", " ").split())
        except ValueError:
            problem = self.tr("The shape must be sizes such as 32, 6, ?: got \u201c{0}\u201d").format(
                self.shape.text()
            )
        self._say(problem)
        names = self.ignored.text().replace(",", " ").split()
        conditions = Conditions(
            self.not_finite.isChecked(),
            tuple(names),
            self.above.isChecked(),
            limit,
            self.all_zero.isChecked(),
            self.shape_is.isChecked(),
            shape,
        )
        if conditions != self._shown:
            self._shown = conditions
            self.changed.emit(conditions)

    def _say(self, problem: str) -> None:
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.not_finite.setText(tr("NaN or infinite"))
        self.not_finite.setToolTip(tr("A result is not finite, and the inputs of its operator are"))
        self._ignored_label.setText(tr("Ignore"))
        self.ignored.setAccessibleName(tr("Operators that may give NaN or infinity"))
        self.ignored.setToolTip(
            tr("Types of operators or paths of layers, separated by commas; also for Until NaN")
        )
        self.ignored.setPlaceholderText(tr("log, attention.softmax"))
        self.above.setText(tr("|x| above"))
        self.above.setToolTip(tr("An absolute value is larger than this"))
        self.limit.setAccessibleName(tr("Limit"))
        self.all_zero.setText(tr("All zero"))
        self.all_zero.setToolTip(tr("Every element of a result is zero"))
        self.shape_is.setText(tr("Shape"))
        self.shape_is.setToolTip(tr("A result has this shape; ? fits any size"))
        self.shape.setAccessibleName(tr("Shape of a result"))
        self.shape.setPlaceholderText("32, 6, ?, ?")


def _size(text: str) -> int:
    if text in ("?", "-1", "None"):
        return -1
    size = int(text)
    if size < 0:
        raise ValueError(text)
    return size
