"""The dialog of settings that belong to the person: theme, language, folders, agreements to run own files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QHBoxLayout,
    QPushButton,
    QRadioButton,
    QWidget,
)

from resources.words import LANGUAGES
from studio.windows.controls import ValueLabel
from studio.windows.dialogs import FittingDialog
from widgets import theme
from widgets.labels import mute, section
from widgets.layouts import vertical
from widgets.param_form import Field, ParamForm
from widgets.retranslated import Retranslated

WIDTH = 390  # pixels of the contents at least


class PreferencesDialog(Retranslated, FittingDialog):
    """Changes hold at once; there is nothing to confirm."""

    theme_chosen = Signal(str)
    language_chosen = Signal(str)
    notify_toggled = Signal(bool)
    debug_memory_chosen = Signal(int)
    forget_requested = Signal()

    def __init__(
        self,
        parent: QWidget,
        mode: str,
        language: str,
        notify: bool,
        runs: str,
        agreed: int,
        debug_memory: int,
    ) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._count = agreed
        layout = vertical(self, theme.SPACE_L, theme.SPACE_S)
        self._sections = [section("") for _ in range(6)]
        of_theme, of_language, of_messages, of_debug, of_folder, of_files = self._sections
        layout.addWidget(of_theme)
        self._themes = _Choices(("system", "light", "dark"), mode)
        self._themes.chosen.connect(self.theme_chosen)
        layout.addWidget(self._themes)
        layout.addWidget(of_language)
        self.languages = _Choices(("system", *LANGUAGES), language)
        self.languages.chosen.connect(self.language_chosen)
        layout.addWidget(self.languages)
        layout.addWidget(of_messages)
        self.notify = QCheckBox()
        self.notify.setChecked(notify)
        self.notify.toggled.connect(self.notify_toggled)
        layout.addWidget(self.notify)
        layout.addWidget(of_debug)
        self.form = ParamForm([_memory_field(self.tr, debug_memory)])
        self.form.changed.connect(lambda _, value: self.debug_memory_chosen.emit(value))
        layout.addWidget(self.form)
        layout.addWidget(of_folder)
        layout.addWidget(ValueLabel(runs))
        layout.addWidget(of_files)
        line = QHBoxLayout()
        self._agreed = mute("")
        self.forget = QPushButton()
        self.forget.setEnabled(agreed > 0)
        self.forget.clicked.connect(self._forget)
        line.addWidget(self._agreed, 1)
        line.addWidget(self.forget)
        layout.addLayout(line)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout.addSpacing(theme.SPACE_M)
        layout.addWidget(buttons)
        layout.addStrut(WIDTH)  # a least width of the dialog would let longer texts be cut off
        self.retranslate()

    def retranslate(self) -> None:
        """Set all words anew, in the language that holds now."""
        tr = self.tr
        self.setWindowTitle(tr("Settings"))
        titles = (
            tr("Theme"),
            tr("Language"),
            tr("Notifications"),
            tr("Debug"),
            tr("Folder of the runs"),
            tr("Model files that may run"),
        )
        for label, title in zip(self._sections, titles, strict=True):
            label.setText(title)
        self._themes.set_names((tr("Follow the system"), tr("Light"), tr("Dark")))
        self.languages.set_names((tr("System language"), *LANGUAGES.values()))
        self.notify.setText(tr("Show a message of the system when a training of over a minute ends"))
        self.notify.setToolTip(tr("Only while the window is in the background"))
        field = _memory_field(tr, 1)
        self.form.set_text(field.key, field.label, field.help)
        self.forget.setText(tr("Ask again for all of them"))
        self._show_count()

    def _show_count(self) -> None:
        self._agreed.setText(self.tr("{0} files agreed to").format(self._count))

    def _forget(self) -> None:
        self.forget_requested.emit()
        self.forget.setEnabled(False)
        self._count = 0
        self._show_count()


class _Choices(QWidget):
    """Radio buttons in a line, one for each value."""

    chosen = Signal(str)

    def __init__(self, values: Sequence[str], value: str) -> None:
        super().__init__()
        line = QHBoxLayout(self)
        line.setContentsMargins(0, 0, 0, 0)
        self.buttons = {each: QRadioButton() for each in values}
        for each, button in self.buttons.items():
            button.setChecked(each == value)
            button.toggled.connect(lambda on, each=each: self.chosen.emit(each) if on else None)
            line.addWidget(button)
        line.addStretch(1)

    def set_names(self, names: Sequence[str]) -> None:
        """The words of the buttons, in their order."""
        for button, name in zip(self.buttons.values(), names, strict=True):
            button.setText(name)


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
