"""The dialog of one breakpoint: from which hit it stops, and for which results."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QLabel, QSpinBox, QWidget

from studio.session.debug.breakpoints import Breakpoint, Conditions
from studio.windows.controls import ValueLabel
from studio.windows.debug.conditions_form import ConditionsForm
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute
from widgets.layouts import horizontal, vertical


class BreakpointDialog(FittingDialog):
    """``accepted_breakpoint`` carries the edited breakpoint. Of several conditions the first holds."""

    accepted_breakpoint = Signal(object)

    def __init__(self, parent: QWidget, edited: Breakpoint) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Breakpoint"))
        self._edited = edited
        self.hits, self.form = QSpinBox(), ConditionsForm()
        self.hits.setRange(1, 10**9)
        self.hits.setValue(edited.hits)
        self.hits.setAccessibleName(self.tr("Hit count"))
        label = QLabel(self.tr("Stop from hit"))
        label.setBuddy(self.hits)
        self.form.show_conditions(conditions_of(edited))
        line = horizontal(None, 0)
        line.addWidget(label)
        line.addWidget(self.hits)
        line.addStretch(1)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = vertical(self, theme.SPACE_L, theme.SPACE_M)
        layout.addWidget(ValueLabel(edited.name, mono=True))
        layout.addLayout(line)
        layout.addWidget(mute(self.tr("Only for a result that is:"), wrap=True))
        layout.addWidget(self.form)
        layout.addWidget(buttons)
        self.setMinimumWidth(360)

    def accept(self) -> None:
        """Hand the breakpoint on, unless a field is invalid."""
        self.form.commit()
        if self.form.problem():
            return
        conditions = self.form.conditions().plain()
        self.accepted_breakpoint.emit(
            replace(self._edited, hits=self.hits.value(), condition=conditions[0] if conditions else None)
        )
        super().accept()


def conditions_of(edited: Breakpoint) -> Conditions:
    """The condition of a breakpoint as the form shows it."""
    plain = edited.condition or {}
    kind = plain.get("kind")
    return Conditions(
        not_finite=kind == "not_finite",
        ignored=tuple(plain.get("ignore", ())),
        above=kind == "above",
        limit=float(plain.get("limit", 1e6)),
        all_zero=kind == "all_zero",
        shape_is=kind == "shape",
        shape=tuple(plain.get("shape", ())),
    )
