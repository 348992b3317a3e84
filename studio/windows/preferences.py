"""The dialog of settings that belong to the person: theme, messages, folders, agreements to run own files."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDialogButtonBox,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QWidget,
)

from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.param_form import Field, ParamForm


class PreferencesDialog(FittingDialog):
    """Changes hold at once; there is nothing to confirm."""

    theme_chosen = Signal(str)
    notify_toggled = Signal(bool)
    debug_memory_chosen = Signal(int)
    forget_requested = Signal()

    def __init__(
        self, parent: QWidget, mode: str, notify: bool, runs: str, agreed: int, debug_memory: int
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings"))
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        layout.addWidget(section(self.tr("Theme")))
        line, self._group = QHBoxLayout(), QButtonGroup(self)
        names = {"system": self.tr("Follow the system"), "light": self.tr("Light"), "dark": self.tr("Dark")}
        for value, words in names.items():
            button = QRadioButton(words)
            button.setChecked(value == mode)
            button.toggled.connect(lambda on, value=value: self.theme_chosen.emit(value) if on else None)
            self._group.addButton(button)
            line.addWidget(button)
        line.addStretch(1)
        layout.addLayout(line)
        layout.addWidget(section(self.tr("Notifications")))
        self.notify = QCheckBox(self.tr("Show a message of the system when a training of over a minute ends"))
        self.notify.setToolTip(self.tr("Only while the window is in the background"))
        self.notify.setChecked(notify)
        self.notify.toggled.connect(self.notify_toggled)
        layout.addWidget(self.notify)
        layout.addWidget(section(self.tr("Debug")))
        self.form = ParamForm([_memory_field(self.tr, debug_memory)])
        self.form.changed.connect(lambda _, value: self.debug_memory_chosen.emit(value))
        layout.addWidget(self.form)
        layout.addWidget(section(self.tr("Folder of the runs")))
        layout.addWidget(ValueLabel(runs))
        layout.addWidget(section(self.tr("Model files that may run")))
        line = QHBoxLayout()
        self._agreed = mute(self.tr("{0} files agreed to").format(agreed))
        self.forget = QPushButton(self.tr("Ask again for all of them"))
        self.forget.setEnabled(agreed > 0)
        self.forget.clicked.connect(self._forget)
        line.addWidget(self._agreed, 1)
        line.addWidget(self.forget)
        layout.addLayout(line)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout.addSpacing(theme.SPACE_M)
        layout.addWidget(buttons)
        self.setMinimumWidth(420)

    def _forget(self) -> None:
        self.forget_requested.emit()
        self.forget.setEnabled(False)
        self._agreed.setText(self.tr("{0} files agreed to").format(0))


def _memory_field(tr: Callable[[str], str], megabytes: int) -> Field:
    return Field(
        "debug_memory",
        tr("Memory for values"),
        "int",
        megabytes,
        minimum=1,
        maximum=1_000_000,
        unit="MB",
        help=tr("Values of the page Debug that are retained; older ones are computed again when you look"),
    )
